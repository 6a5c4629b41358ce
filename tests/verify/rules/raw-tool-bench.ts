/** ToolBench files as plain objects. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blank, levels, type Raw, type RawTree, settle, type Turn, upFrom } from './raw.ts';

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
    .map((name) => toolBenchTree(name, readFileSync(join(folder, name), 'utf8')));
}

function toolBenchTree(name: string, text: string): RawTree {
  const { win, tree, answer_generation: recorded } = JSON.parse(text);
  const [system, user] = recorded.train_messages[0];
  const context: readonly Turn[] = [
    ['system', system.content, []],
    ['user', user.content, []],
  ];
  const words = { text: '', turn: ['assistant', '', []] as const, context, shown: '' };
  const root = blank({ ...words, parent: undefined }, undefined);
  const won = new Set<Raw>();
  grow(root, tree.tree, { win, won });
  const nodes = levels(root);
  settle(nodes, (node) => won.has(node));
  for (const leaf of nodes.filter(({ right }) => right === true)) {
    for (const at of upFrom(leaf.twinOf ?? leaf)) at.q += 1;
  }
  for (const node of nodes) if (node.n > 0) node.q /= node.n;
  // A reward model is shown the rules of the task with it.
  const question = `${system.content}\n\n${user.content}`;
  return { name, text, root, nodes, answer: '', parted: '\n', isWhole: true, question };
}

interface Outcome {
  readonly win: boolean;
  /** The nodes at or below which an answer was given. */
  readonly won: Set<Raw>;
}

function grow(parent: Raw, from: DfsNode, outcome: Outcome): void {
  for (const step of stepsBelow(from)) {
    const node = made(step, parent, outcome.win);
    parent.children.push(node);
    if (node.right === undefined) grow(node, step.last, outcome);
    const isAnswer = step.last.observation_code === 3;
    if (isAnswer || node.children.some((child) => outcome.won.has(child))) outcome.won.add(node);
  }
}

function made(step: DfsStep, parent: Raw, win: boolean): Raw {
  const { thought, name, input, last } = step;
  const { observation = '', observation_code: code = 0 } = last;
  const isCall = name !== undefined;
  const isEnd = name === 'Finish' && [3, 4].includes(code);
  const isGiven = JSON.stringify(input ?? '').includes('"return_type":"give_answer"') === true;
  const text = wordsOf(step);
  const turn: Turn = ['assistant', thought, isCall ? [[name, input]] : []];
  const answer: readonly Turn[] = isCall ? [['tool', observation, []]] : [];
  const shown = isCall && !isEnd ? `${text}\nObservation: ${observation}` : text;
  const context = [...parent.context, turn, ...answer];
  return blank({ text, turn, context, shown, parent }, isEnd ? win && isGiven : undefined);
}
