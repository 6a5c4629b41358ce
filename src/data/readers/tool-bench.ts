import { z } from 'zod';
import type { JsonValue } from '../../spec/json.ts';
import type { ToolDefinition } from '../../spec/language-model.ts';
import type { SearchNode } from '../../spec/node.ts';
import { SearchTree } from '../../tree/tree.ts';
import type { TreeRecord } from '../record.ts';
import { type Place, readDocument, unreadable } from './read-json.ts';
import {
  canonicalInput,
  stepKey,
  type ToolBenchAction,
  type ToolBenchState,
  toolBenchNotation,
} from './tool-bench-step.ts';
import { mergeTwins } from './twins.ts';

/** What is not said in the file. */
export interface ToolBenchOptions {
  /** Names the problem, such as the name of the file. */
  readonly problem: string;
}

interface DfsNode {
  readonly node_type: 'Action' | 'Action Input' | 'Thought';
  readonly description: string;
  readonly observation?: string | undefined;
  readonly observation_code?: number | undefined;
  readonly pruned?: boolean | undefined;
  readonly children: readonly DfsNode[];
}

const nodeSchema: z.ZodType<DfsNode> = z.object({
  node_type: z.enum(['Thought', 'Action', 'Action Input']),
  description: z.string(),
  observation: z.string().optional(),
  observation_code: z.int().optional(),
  pruned: z.boolean().optional(),
  get children(): z.ZodDefault<z.ZodArray<z.ZodType<DfsNode>>> {
    return z.array(nodeSchema).default([]);
  },
});

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

const systemSchema = z.object({ role: z.literal('system'), content: z.string() });

/**
 * The tree of a ToolBench file, as DFSDT writes it: nodes of type `Thought`, `Action` and `Action Input`.
 *
 * - One step of the agent is a thought, where there is one, a call and its arguments together. Its state is the
 *   conversation with what the tool answered. The messages that asked for something different from siblings are
 *   no part of a prompt: descendants never saw them.
 * - A call of `Finish` ends a path: with reward 1 where it gives an answer and the file says `win`, else 0. `win`
 *   says that an answer was given, and not that it is right.
 * - What DFSDT put aside is put aside. A call that the tool refused is a step as any other.
 * - Q is the share of the leaves below that won, N their number. Equal siblings are merged.
 *
 * @param text - One JSON document.
 * @throws EspalierError `usage`, naming the field, for anything else.
 * @see Qin et al., "ToolLLM: Facilitating Large Language Models to Master 16000+ Real-world APIs", 2023.
 */
export function readToolBench(
  text: string,
  { problem }: ToolBenchOptions,
): TreeRecord<ToolBenchState, ToolBenchAction> {
  const place: Place = { name: `ToolBench file ${problem}` };
  const file = readDocument(text, fileSchema, place);
  const { query, function: functions, train_messages: messages } = file.answer_generation;
  const system = systemSchema.safeParse(messages[0]?.[0]);
  const start = { system: system.data?.content ?? '', query, steps: [] };
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

type ToolTree = SearchTree<ToolBenchState, ToolBenchAction>;
type Grown = SearchNode<ToolBenchState, ToolBenchAction>;

interface Source {
  /** Whether the file says that an answer was given. */
  readonly win: boolean;
  readonly place: Place;
}

/** A step of the agent, before it stands in the tree. */
interface ReadStep {
  readonly action: ToolBenchAction;
  readonly observation: string | undefined;
  readonly code: number | undefined;
  readonly pruned: boolean;
  /** The node of the file that the next steps stand below. */
  readonly last: DfsNode;
  readonly path: readonly PropertyKey[];
}

interface Open {
  readonly at: Grown;
  readonly from: DfsNode;
  readonly path: readonly PropertyKey[];
}

function grow(start: ToolBenchState, root: DfsNode, source: Source): ToolTree {
  const tree: ToolTree = new SearchTree(start, { environment: 'toolbench', seed: 'unknown' });
  // Parents first.
  const open: Open[] = [{ at: tree.root, from: root, path: ['tree', 'tree'] }];
  const leaves: Grown[] = [];
  for (const { at, from, path } of open) {
    const steps = stepsBelow({ from, path, depth: at.depth, source });
    const prior = 1 / steps.length;
    const added = tree.add(
      at,
      steps.map(({ action }) => ({ action, prior })),
    );
    for (const [place, node] of added.entries()) {
      const step = steps[place];
      if (step === undefined) continue;
      take(tree, node, { step, win: source.win });
      if (step.last.children.length === 0 || isFinish(step)) leaves.push(node);
      else open.push({ at: node, from: step.last, path: step.path });
    }
    // Of equal siblings the one that led to an answer is kept: the path to it stays whole.
    const keyed = added.map((node, place) => ({ node, won: holdsAnswer(steps[place]?.last) }));
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

interface Below {
  readonly from: DfsNode;
  readonly path: readonly PropertyKey[];
  readonly depth: number;
  readonly source: Source;
}

/** The steps that the agent tried at a node: thoughts are joined to the call that follows them. */
function stepsBelow({ from, path, depth, source }: Below): readonly ReadStep[] {
  return from.children.flatMap((node, index) =>
    stepsFrom(node, { thoughts: [], pruned: false, path: [...path, 'children', index] }),
  );

  function stepsFrom(node: DfsNode, so: Begun): readonly ReadStep[] {
    const pruned = so.pruned || node.pruned === true;
    if (node.node_type === 'Thought') {
      const thoughts = [...so.thoughts, node.description];
      if (node.children.length === 0) return [thoughtAlone({ ...so, thoughts, pruned }, node)];
      return node.children.flatMap((child, index) =>
        stepsFrom(child, { thoughts, pruned, path: [...so.path, 'children', index] }),
      );
    }
    if (node.node_type === 'Action Input') {
      throw unreadable(source.place, so.path, 'expected a `Thought` or an `Action`');
    }
    if (node.children.length === 0) {
      throw unreadable(source.place, so.path, 'expected an `Action` to have an `Action Input`');
    }
    return node.children.map((input, index) =>
      called({ ...so, pruned, path: [...so.path, 'children', index] }, node.description, input),
    );
  }

  function called(so: Begun, name: string, input: DfsNode): ReadStep {
    if (input.node_type !== 'Action Input') {
      throw unreadable(source.place, so.path, 'expected an `Action Input`');
    }
    const call = { id: `call_${depth + 1}`, name, input: canonicalInput(input.description) };
    return {
      action: { thought: so.thoughts.join('\n\n'), call },
      observation: input.observation ?? '',
      code: input.observation_code,
      pruned: so.pruned || input.pruned === true,
      last: input,
      path: so.path,
    };
  }
}

/** What was read of a step so far. */
interface Begun {
  readonly thoughts: readonly string[];
  readonly pruned: boolean;
  readonly path: readonly PropertyKey[];
}

function thoughtAlone({ thoughts, pruned, path }: Begun, last: DfsNode): ReadStep {
  const action = { thought: thoughts.join('\n\n') };
  return { action, observation: undefined, code: undefined, pruned, last, path };
}

function take(
  tree: ToolTree,
  node: Grown,
  { step, win }: { readonly step: ReadStep; readonly win: boolean },
): void {
  const { action, observation, pruned } = step;
  // Parents come first, and every node is realised.
  const before = (node.parent as Grown).state as ToolBenchState;
  const taken = { action, ...(observation !== undefined && { observation }) };
  const terminal = isFinish(step);
  tree.realise(node, {
    state: { ...before, steps: [...before.steps, taken] },
    terminal,
    ...(terminal && { reward: win && returnType(step) === 'give_answer' ? 1 : 0 }),
  });
  if (pruned) tree.prune(node);
}

function holdsAnswer(from: DfsNode | undefined): boolean {
  const open = from === undefined ? [] : [from];
  for (const node of open) {
    if (node.observation_code === 3) return true;
    for (const child of node.children) open.push(child);
  }
  return false;
}

/** Whether a step ended the path, which a call of `Finish` that the environment refused did not. */
function isFinish(step: ReadStep): boolean {
  const { action, code, last } = step;
  if (action.call?.name !== 'Finish' || last.children.length > 0) return false;
  return code === undefined ? returnType(step) !== undefined : code === 3 || code === 4;
}

function returnType({ action: { call } }: ReadStep): 'give_answer' | 'give_up' | undefined {
  const input = call?.input;
  const type =
    typeof input === 'object' && input !== null && 'return_type' in input
      ? input['return_type']
      : undefined;
  if (type === 'give_answer') return 'give_answer';
  return type === 'give_up_and_restart' ? 'give_up' : undefined;
}
