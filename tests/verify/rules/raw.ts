/** Published trees as plain objects, read with `JSON.parse` and loops: none of our code has a part in it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Turn = readonly [role: string, content: string, calls: readonly unknown[]];

/** A node of a tree: what was said at it, and what came of it. */
export interface Raw {
  /** The step in words; empty at the root. */
  readonly text: string;
  /** The step as a turn of a conversation. */
  readonly turn: Turn;
  /** What the policy saw behind it. */
  readonly context: readonly Turn[];
  /** The step as a reward model is shown it. */
  readonly shown: string;
  readonly parent: Raw | undefined;
  readonly children: Raw[];
  /** What was estimated at it; `undefined` where nothing was. */
  readonly estimate: number | undefined;
  /** Whether nothing can follow, and then whether it is right. */
  readonly right: boolean | undefined;
  /** The share of won leaves, or the estimate. */
  q: number;
  /** How many leaves count for it. */
  n: number;
  prior: number;
  /** The sibling that says the same and came first. */
  twinOf: Raw | undefined;
}

/** A tree with all its nodes, level by level. */
export interface RawTree {
  readonly name: string;
  readonly text: string;
  readonly root: Raw;
  readonly nodes: readonly Raw[];
  readonly answer: string;
  readonly parted: string;
  /** Whether wrong ends are listed. */
  readonly isWhole: boolean;
  readonly question: string;
}

/** What was made once of an object is not made again. */
export function once<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const made = new WeakMap<Of, Made>();
  return (of) => {
    if (!made.has(of)) made.set(of, make(of));
    return made.get(of) as Made;
  };
}

/** The same for nodes before which the policy saw the same. */
export const placeKey = once((node: Raw): string => JSON.stringify(node.parent?.context));

/** The same for equal steps behind which the way parts. */
export const stepKey = once((node: Raw): string =>
  JSON.stringify([placeKey(node), node.text.trim()]),
);

/** The nodes below the root down to one. */
export const wayTo: (node: Raw) => readonly Raw[] = once((node) =>
  node.parent === undefined ? [] : [...wayTo(node.parent), node],
);

function levels(root: Raw): readonly Raw[] {
  const nodes = [root];
  for (const node of nodes) nodes.push(...node.children);
  return nodes;
}

/** Of equal siblings the preferred one stands for the others, whose leaves count for it. */
function settle(nodes: readonly Raw[], prefers: (node: Raw) => boolean): void {
  for (const { children } of nodes) {
    const ranked = [...children.filter(prefers), ...children.filter((node) => !prefers(node))];
    for (const node of ranked) {
      node.prior = 1 / children.length;
      node.twinOf = ranked.find((other) => other.text === node.text);
      if (node.twinOf === node) node.twinOf = undefined;
    }
    for (const { twinOf, prior } of children) if (twinOf !== undefined) twinOf.prior += prior;
    for (const node of children) if (node.twinOf !== undefined) node.prior = 0;
  }
  for (const leaf of nodes.filter(({ children }) => children.length === 0)) {
    for (let at: Raw | undefined = leaf.twinOf ?? leaf; at !== undefined; at = at.parent) at.n += 1;
  }
}

interface OmegaNode {
  readonly text: string;
  readonly mc_value: number;
  readonly children: readonly OmegaNode[];
}

/** OmegaPRM: nested prefixes with their Monte-Carlo values. */
export function omegaTrees(data: string): readonly RawTree[] {
  const lines = readFileSync(join(data, 'omegaprm-trees-2.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line, place) => {
    const file = JSON.parse(line);
    const { question } = file;
    const make = (from: OmegaNode, parent: Raw | undefined): Raw => {
      const steps =
        parent === undefined ? [] : [...wayTo(parent).map(({ text }) => text), from.text];
      const said = steps.map((step) => `${step}\n\n`).join('');
      const asked: Turn = ['user', question, []];
      const isAnswer = /\\boxed\s*\{|####|\bthe answer is\b/i.test(from.text);
      const isEnd = from.children.length === 0 && (from.mc_value === 1 || isAnswer);
      const node: Raw = {
        text: parent === undefined ? '' : from.text,
        turn: ['assistant', from.text, []],
        context: steps.length === 0 ? [asked] : [asked, ['assistant', said, []]],
        shown: from.text,
        parent,
        children: [],
        estimate: from.mc_value,
        right: isEnd ? from.mc_value === 1 : undefined,
        q: from.mc_value,
        n: 0,
        prior: 1,
        twinOf: undefined,
      };
      for (const child of from.children) node.children.push(make(child, node));
      return node;
    };
    const root = make(file.reasoning_steps, undefined);
    const nodes = levels(root);
    settle(nodes, () => true);
    const name = `omegaprm ${place + 1}`;
    const answer = String(file.final_answer);
    return { name, text: line, root, nodes, answer, parted: '\n\n', isWhole: false, question };
  });
}

interface DfsNode {
  readonly node_type: 'Action' | 'Action Input' | 'Thought';
  readonly description: string;
  readonly observation?: string;
  readonly observation_code?: number;
  readonly children: readonly DfsNode[];
}

interface DfsStep {
  readonly thought: string;
  readonly name: string | undefined;
  readonly input: unknown;
  readonly last: DfsNode;
}

/** The steps below a node: thoughts and the call with its arguments behind them are one. */
function stepsBelow(
  node: DfsNode,
  thoughts: readonly string[] = [],
  name?: string,
): readonly DfsStep[] {
  return node.children.flatMap((child): readonly DfsStep[] => {
    if (child.node_type === 'Action') return stepsBelow(child, thoughts, child.description);
    if (child.node_type === 'Action Input') {
      const input = sorted(child.description);
      return [{ thought: thoughts.join('\n\n'), name, input, last: child }];
    }
    const all = [...thoughts, child.description];
    if (child.children.length > 0) return stepsBelow(child, all);
    return [{ thought: all.join('\n\n'), name: undefined, input: undefined, last: child }];
  });
}

function sorted(text: string): unknown {
  try {
    return JSON.parse(text, (_key, part: unknown) =>
      typeof part === 'object' && part !== null && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
        : part,
    );
  } catch {
    return text;
  }
}

function wordsOf({ thought, name, input }: DfsStep): string {
  const given = typeof input === 'string' ? input : JSON.stringify(input);
  const call = name === undefined ? [] : [`Action: ${name}`, `Action Input: ${given}`];
  return [...(thought === '' ? [] : [`Thought: ${thought}`]), ...call].join('\n');
}

/** DFSDT: the conversations of an agent with its tools. */
export function toolBenchTrees(data: string): readonly RawTree[] {
  const folder = join(data, 'toolbench');
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      const file = JSON.parse(text);
      const [system, user] = file.answer_generation.train_messages[0];
      const start: readonly Turn[] = [
        ['system', system.content, []],
        ['user', user.content, []],
      ];
      const won = new Set<Raw>();
      const make = (step: DfsStep | undefined, from: DfsNode, parent: Raw | undefined): Raw => {
        const { thought = '', name: tool, input } = step ?? {};
        const turn: Turn = ['assistant', thought, tool === undefined ? [] : [[tool, input]]];
        const answer: readonly Turn[] =
          tool === undefined ? [] : [['tool', from.observation ?? '', []]];
        const isEnd = tool === 'Finish' && [3, 4].includes(from.observation_code ?? 0);
        const isGiven = JSON.stringify(input)?.includes('"return_type":"give_answer"') === true;
        const text = step === undefined ? '' : wordsOf(step);
        const result =
          tool === undefined || isEnd ? [] : [`Observation: ${from.observation ?? ''}`];
        const node: Raw = {
          text,
          turn,
          context: parent === undefined ? start : [...parent.context, turn, ...answer],
          shown: [text, ...result].join('\n'),
          parent,
          children: [],
          estimate: undefined,
          right: isEnd ? file.win && isGiven : undefined,
          q: 0,
          n: 0,
          prior: 1,
          twinOf: undefined,
        };
        if (!isEnd) {
          for (const next of stepsBelow(from)) node.children.push(make(next, next.last, node));
        }
        if (from.observation_code === 3 || node.children.some((child) => won.has(child)))
          won.add(node);
        return node;
      };
      const root = make(undefined, file.tree.tree, undefined);
      const nodes = levels(root);
      settle(nodes, (node) => won.has(node));
      for (const leaf of nodes.filter(({ children }) => children.length === 0)) {
        if (leaf.right !== true) continue;
        for (let at: Raw | undefined = leaf.twinOf ?? leaf; at; at = at.parent) at.q += 1;
      }
      for (const node of nodes) if (node.n > 0) node.q /= node.n;
      const question = user.content;
      return { name, text, root, nodes, answer: '', parted: '\n', isWhole: true, question };
    });
}
