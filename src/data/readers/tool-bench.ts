import { z } from 'zod';
import type { EspalierError } from '../../base/errors.ts';
import { expectText } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ToolDefinition } from '../../contracts/language-model.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { SearchTree } from '../../tree/tree.ts';
import {
  listOf,
  nestedNodes,
  type Place,
  pathOf,
  readDocument,
  stateAfter,
  type Trail,
  unreadable,
} from '../read-document.ts';
import type { TreeRecord } from '../record.ts';
import {
  canonicalInput,
  stepKey,
  type ToolBenchAction,
  type ToolBenchState,
  type ToolBenchStep,
  toolBenchNotation,
} from './tool-bench-step.ts';
import { mergeTwins } from './twins.ts';

interface DfsNode {
  readonly node_type: 'Action' | 'Action Input' | 'Thought';
  readonly description: string;
  readonly observation?: string | undefined;
  readonly observation_code?: number | undefined;
  readonly pruned?: boolean | undefined;
  readonly children: readonly DfsNode[];
}

const nodeSchema: z.ZodType<DfsNode> = nestedNodes(
  z.object({
    node_type: z.enum(['Thought', 'Action', 'Action Input']),
    description: z.string(),
    observation: z.string().optional(),
    observation_code: z.int().optional(),
    pruned: z.boolean().optional(),
    children: z.array(z.unknown()).default([]),
  }),
);

const json: z.ZodType<JsonValue> = z.custom<JsonValue>((value) => value !== undefined);

const fileSchema = z.object({
  win: z.boolean(),
  tree: z.object({ tree: nodeSchema }),
  answer_generation: z.object({
    query: z.string().min(1),
    function: z
      .array(
        z.object({
          name: z.string(),
          description: z.string().optional(),
          parameters: json.optional(),
        }),
      )
      .default([]),
    train_messages: z.array(z.array(z.unknown())).default([]),
  }),
});

const turnSchema = z.object({ role: z.string(), content: z.string() });

/**
 * Reads the tree of a ToolBench file, as DFSDT writes it: nodes of type `Thought`, `Action` and `Action Input`.
 *
 * - Instructions and user messages are the recorded ones, or the query alone if there are none.
 * - One step of the agent is a thought, if any, with a call and its arguments. Its state is the conversation with the
 *   tool's result. Messages asking for something different from siblings are not part of prompts: descendants never saw
 *   them.
 * - A call of `Finish` ends a path: with reward 1 if it gives an answer and the file says `win`, else 0. `win` means
 *   that an answer was given, not that it is right.
 * - Nodes pruned by DFSDT are pruned. A call that the tool refused is an ordinary step.
 * - Q is the share of the leaves below that won, N their number. Equal siblings are merged.
 *
 * @param text - One JSON document.
 * @throws EspalierError `usage`, naming the field, for anything else.
 * @see Qin et al., "ToolLLM: Facilitating Large Language Models to Master 16000+ Real-world APIs", 2023.
 */
export function readToolBench(
  text: string,
  options: Readonly<Record<'problem', string>>,
): TreeRecord<ToolBenchState, ToolBenchAction> {
  expectOptions('readToolBench', options, 'problem');
  const { problem } = options;
  expectText('problem', problem);
  const place: Place = { name: `ToolBench file ${problem}` };
  const file = readDocument(text, fileSchema, place);
  const { query, function: functions, train_messages: messages } = file.answer_generation;
  // The policy was shown the query between other words.
  const turns = recordedTurns(messages[0]);
  const asked = turns.find(({ role, content }) => role === 'user' && content.includes(query));
  const system = turns.find(({ role }) => role === 'system')?.content ?? '';
  const start = { system, query: asked?.content ?? query, steps: [] };
  return {
    problem,
    tree: grow(start, file.tree.tree, { win: file.win, place }),
    notation: toolBenchNotation,
    tools: functions.map(
      ({ name, description, parameters }): ToolDefinition => ({
        name,
        ...(description !== undefined && { description }),
        input: parameters ?? { type: 'object', properties: {} },
      }),
    ),
    method: 'dfsdt',
  };
}

/** The turns of a recorded conversation that are words. */
function recordedTurns(messages: readonly unknown[] = []): readonly z.infer<typeof turnSchema>[] {
  return messages.flatMap((message) => turnSchema.safeParse(message).data ?? []);
}

type ToolTree = SearchTree<ToolBenchState, ToolBenchAction>;
type Grown = SearchNode<ToolBenchState, ToolBenchAction>;

/** A step of the agent, before it is in the tree. */
interface ReadStep {
  readonly action: ToolBenchAction;
  readonly observation: string | undefined;
  readonly code: number | undefined;
  readonly pruned: boolean;
  /** The node of the file that the next steps stand below. */
  readonly last: DfsNode;
  readonly place: Trail<number>;
}

interface Open {
  readonly at: Grown;
  readonly from: DfsNode;
  readonly place: Trail<number>;
  readonly steps: Trail<ToolBenchStep> | undefined;
}

function grow(
  start: ToolBenchState,
  root: DfsNode,
  { win, place: source }: { readonly win: boolean; readonly place: Place },
): ToolTree {
  const tree: ToolTree = new SearchTree(start, { environment: 'toolbench', seed: 'unknown' });
  const answered = answeredIn(root);
  // Parents first, and no recursion: a conversation may be long.
  const top = { before: undefined, last: 0 };
  const open: Open[] = [{ at: tree.root, from: root, place: top, steps: undefined }];
  const leaves: Grown[] = [];
  for (const one of open) {
    const steps = stepsBelow(one, source);
    const prior = 1 / steps.length;
    const added = tree.add(
      one.at,
      steps.map(({ action }) => ({ action, prior })),
    );
    for (const [index, node] of added.entries()) {
      const step = steps[index];
      if (step === undefined) continue;
      const taken = { before: one.steps, last: takenIn(step) };
      const end = endOf(step, win);
      tree.realise(node, { state: stateAfter(start, taken), ...end });
      if (step.pruned) tree.prune(node);
      if (step.last.children.length === 0 || end.terminal) leaves.push(node);
      else open.push({ at: node, from: step.last, place: step.place, steps: taken });
    }
    // Of equal siblings the one that led to an answer is kept: the path to it stays whole.
    const keyed = added.map((node, index) => ({
      node,
      won: answered.has(steps[index]?.last ?? root),
    }));
    mergeTwins(
      tree,
      keyed
        .toSorted((a, b) => Number(b.won) - Number(a.won))
        .map(({ node }) => [stepKey(node.action), node]),
    );
  }
  // A path that came to nothing counts as lost.
  for (const leaf of leaves) tree.backup(tree.original(leaf), { outcome: 0 });
  return tree;
}

/** A step of which nodes were read so far. */
interface Begun {
  readonly node: DfsNode;
  readonly place: Trail<number>;
  readonly thoughts: Trail<string> | undefined;
  readonly pruned: boolean;
}

/** The steps that the agent tried at a node, in order: thoughts are joined to the call that follows them. */
function stepsBelow({ at, from, place }: Open, source: Place): readonly ReadStep[] {
  const steps: ReadStep[] = [];
  // The last is the next.
  const open = begunAt(from, { place, thoughts: undefined, pruned: false });
  for (let so = open.pop(); so !== undefined; so = open.pop()) {
    const { node } = so;
    if (node.node_type !== 'Thought') {
      for (const step of callsOf(so, at.depth, source)) steps.push(step);
      continue;
    }
    const thoughts = { before: so.thoughts, last: node.description };
    if (node.children.length === 0) steps.push(thoughtAlone({ ...so, thoughts }));
    else for (const next of begunAt(node, { ...so, thoughts })) open.push(next);
  }
  return steps;
}

/** What the children of a node begin, the last one first. */
function begunAt({ children }: DfsNode, { place, thoughts, pruned }: Omit<Begun, 'node'>): Begun[] {
  return children
    .map((node, index) => ({
      node,
      place: { before: place, last: index },
      thoughts,
      pruned: pruned || node.pruned === true,
    }))
    .reverse();
}

/** A call was made with each of its inputs. */
function callsOf(so: Begun, depth: number, source: Place): readonly ReadStep[] {
  const { node, place, thoughts } = so;
  if (node.node_type === 'Action Input') {
    throw misplaced(source, place, 'expected a `Thought` or an `Action`');
  }
  if (node.children.length === 0) {
    throw misplaced(source, place, 'expected an `Action` to have an `Action Input`');
  }
  return begunAt(node, so)
    .reverse()
    .map(({ node: input, place: at, pruned }) => {
      if (input.node_type !== 'Action Input') {
        throw misplaced(source, at, 'expected an `Action Input`');
      }
      const call = {
        id: `call_${depth + 1}`,
        name: node.description,
        input: canonicalInput(input.description),
      };
      return {
        action: { thought: listOf(thoughts).join('\n\n'), call },
        observation: input.observation ?? '',
        code: input.observation_code,
        pruned,
        last: input,
        place: at,
      };
    });
}

function misplaced(source: Place, place: Trail<number>, what: string): EspalierError {
  return unreadable(source, ['tree', 'tree', ...pathOf(place)], what);
}

function thoughtAlone({ node, place, thoughts, pruned }: Begun): ReadStep {
  const action = { thought: listOf(thoughts).join('\n\n') };
  return { action, observation: undefined, code: undefined, pruned, last: node, place };
}

function takenIn({ action, observation }: ReadStep): ToolBenchStep {
  return { action, ...(observation !== undefined && { observation }) };
}

/** The nodes at or below which an answer was given. */
function answeredIn(root: DfsNode): ReadonlySet<DfsNode> {
  const nodes = [root];
  for (const node of nodes) for (const child of node.children) nodes.push(child);
  const answered = new Set<DfsNode>();
  // Children first.
  for (const node of nodes.reverse()) {
    const isAnswer = node.observation_code === 3;
    if (isAnswer || node.children.some((child) => answered.has(child))) answered.add(node);
  }
  return answered;
}

function endOf(step: ReadStep, win: boolean) {
  const terminal = isFinish(step);
  const isAnswer = win && returnType(step) === 'give_answer';
  return { terminal, ...(terminal && { reward: isAnswer ? 1 : 0 }) };
}

/** Whether a step ended the path, which a call of `Finish` that the environment refused did not. */
function isFinish(step: ReadStep): boolean {
  const { action, code, last } = step;
  if (action.call?.name !== 'Finish' || last.children.length > 0) return false;
  if (code !== undefined) return code === 3 || code === 4;
  return ['give_answer', 'give_up_and_restart'].includes(String(returnType(step)));
}

function returnType({ action: { call } }: ReadStep): unknown {
  return isPlainObject(call?.input) ? call.input['return_type'] : undefined;
}
