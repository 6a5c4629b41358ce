import { z } from 'zod';
import { EspalierError } from '../base/errors.ts';
import { deepestJson, jsonComplaint, jsonFault } from '../base/json.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { Failure } from '../contracts/failure.ts';
import type { Codec, JsonValue } from '../contracts/json.ts';
import type { Completion } from '../contracts/language-model.ts';
import type { NodeStatus } from '../contracts/node.ts';
import type { TreeNode } from './node.ts';
import { SearchTree } from './tree.ts';

/** The version of the serial form that this espalier writes, and the latest that it reads. */
export const treeVersion = 1;

/** A tree as JSON: the one serial form of a tree, and the most important file format of the project. */
export interface TreeJson {
  /** Tells a tree from other JSON. */
  readonly format: 'espalier-tree';
  /** The version of this form. */
  readonly version: number;
  /** The environment in which it grew. */
  readonly environment: string;
  /** The seed of its random numbers. */
  readonly seed: number | string;
  /** Marks that training data must carry. */
  readonly stamps: readonly string[];
  /** Simulations that were started on it, but for those that were handed back. */
  readonly simulations: number;
  /** Simulations that were handed back. @defaultValue 0 */
  readonly handedBack?: number | undefined;
  /** γ. @defaultValue 1 */
  readonly discount?: number | undefined;
  /** Where the real world stood. */
  readonly cursor: number;
  /** The node on which an unfinished search would bet. */
  readonly preferred?: number | undefined;
  /** What the algorithm concluded, where it did. */
  readonly conclusion?: TreeConclusionJson | undefined;
  /** In the order of their ids; the first is the root. */
  readonly nodes: readonly NodeJson[];
}

/** What an algorithm concluded, as JSON. */
export interface TreeConclusionJson {
  /** The node that it settled on. */
  readonly node: number;
  /** Whether nothing better exists among the actions that were proposed. */
  readonly optimal: boolean;
}

/** A node as JSON. What is left out has its default. */
export interface NodeJson {
  /** The id of the parent; none at the root. */
  readonly parent?: number | undefined;
  /** a; none at the root. */
  readonly action?: JsonValue | undefined;
  /** Present where the action has been taken. */
  readonly state?: JsonValue | undefined;
  /** P(s, a). @defaultValue 1 */
  readonly prior?: number | undefined;
  /** r(s, a). */
  readonly reward?: number | undefined;
  /** N. @defaultValue 0 */
  readonly visits?: number | undefined;
  /** Q. @defaultValue 0 */
  readonly value?: number | undefined;
  /** @defaultValue `'open'` */
  readonly status?: NodeStatus | undefined;
  /** Whether nothing can follow. */
  readonly terminal?: boolean | undefined;
  /** Whether it is a complete answer. */
  readonly answer?: boolean | undefined;
  /** Whether no further child will be added. */
  readonly complete?: boolean | undefined;
  /** Proposals asked for here. */
  readonly samples?: number | undefined;
  /** v(s) and what belongs to it. */
  readonly evaluation?: Evaluation | undefined;
  /** Why it failed. */
  readonly failure?: Failure | undefined;
  /** The model output behind the action. */
  readonly completion?: Completion | undefined;
  /** Notes of the algorithm. */
  readonly annotations?: Readonly<Record<string, JsonValue>> | undefined;
}

/** States and actions are the environment's: that they are JSON is all that is asked of them. */
const json: z.ZodType<JsonValue> = z.custom<JsonValue>(
  (value) => jsonFault(value) === undefined,
  `expected JSON, at most ${deepestJson} deep`,
);
const count = z.int().min(0);
const flag = z.boolean().optional();

const nodeSchema = z.strictObject({
  parent: count.optional(),
  action: json.optional(),
  state: json.optional(),
  prior: z.number().min(0).optional(),
  reward: z.number().optional(),
  visits: count.optional(),
  value: z.number().optional(),
  status: z.enum(['open', 'terminal', 'solved', 'failed', 'pruned']).optional(),
  terminal: flag,
  answer: flag,
  complete: flag,
  samples: count.optional(),
  // A plug-in may put more into these than we know; nothing of it is lost.
  evaluation: z.looseObject({ value: z.number() }).optional(),
  failure: z.looseObject({ kind: z.string(), message: z.string() }).optional(),
  completion: z.looseObject({ text: z.string() }).optional(),
  annotations: z.record(z.string(), json).optional(),
});

const treeSchema = z.strictObject({
  format: z.literal('espalier-tree'),
  version: count,
  environment: z.string(),
  seed: z.union([z.number(), z.string()]),
  stamps: z.array(z.string()),
  simulations: count,
  handedBack: count.optional(),
  discount: z.number().min(0).max(1).optional(),
  cursor: count,
  preferred: count.optional(),
  conclusion: z.strictObject({ node: count, optimal: z.boolean() }).optional(),
  nodes: z.array(nodeSchema).min(1),
});

/** How states are turned into JSON and back: an environment, or its codec alone. */
export type StateCodec<State> = Pick<Environment<State, never>, 'codec'>;

/**
 * A tree as JSON.
 *
 * @param environment - Brings the codec of its states. Left out: states must be JSON themselves.
 * @throws EspalierError `usage`, naming the path, for a state or an action that JSON cannot hold.
 */
export function treeToJson<State, Action>(
  tree: SearchTree<State, Action>,
  { codec }: StateCodec<State> = {},
): TreeJson {
  const { origin, stamps, simulations, handedBack, discount } = tree;
  const { cursor, preferred, conclusion, size } = tree;
  return {
    format: 'espalier-tree',
    version: treeVersion,
    environment: origin.environment,
    seed: origin.seed,
    stamps: [...stamps],
    simulations,
    ...(handedBack > 0 && { handedBack }),
    ...(discount !== 1 && { discount }),
    cursor: cursor.id,
    ...(preferred !== undefined && { preferred: preferred.id }),
    ...(conclusion !== undefined && {
      conclusion: { node: conclusion.node.id, optimal: conclusion.optimal },
    }),
    nodes: Array.from({ length: size }, (_, id) => nodeToJson(tree.mutable(id), codec)),
  };
}

function nodeToJson<State, Action>(
  node: TreeNode<State, Action>,
  codec: Codec<State> | undefined,
): NodeJson {
  const { id, parent, action, realised, prior, reward, visits, value, status } = node;
  return {
    ...(parent !== undefined && {
      parent: parent.id,
      action: asJson(`nodes.${id}.action`, action),
    }),
    ...(realised && { state: encodeState(node, codec) }),
    ...(prior !== 1 && { prior }),
    ...(reward !== undefined && { reward }),
    ...(visits > 0 && { visits }),
    ...(value !== 0 && { value }),
    ...(status !== 'open' && { status }),
    ...rareToJson(node),
  };
}

function rareToJson<State, Action>(node: TreeNode<State, Action>): NodeJson {
  const { terminal, answer, complete, samples, evaluation, failure, completion, annotations } =
    node;
  return {
    ...(terminal && { terminal }),
    ...(answer && { answer }),
    ...(complete && { complete }),
    ...(samples > 0 && { samples }),
    ...(evaluation !== undefined && { evaluation }),
    ...(failure !== undefined && { failure }),
    ...(completion !== undefined && { completion }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
}

function encodeState<State, Action>(
  { id, state }: TreeNode<State, Action>,
  codec: Codec<State> | undefined,
): JsonValue {
  return asJson(
    `nodes.${id}.state`,
    codec === undefined ? state : encode(codec, state as State, id),
  );
}

function encode<State>(codec: Codec<State>, state: State, id: number): unknown {
  try {
    return codec.encode(state);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it threw';
    throw new EspalierError(
      'usage',
      `The codec could not encode the state of node ${id}: ${reason}`,
      { cause },
    );
  }
}

function asJson(name: string, value: unknown): JsonValue {
  const complaint = jsonComplaint(name, value);
  if (complaint === undefined) return value as JsonValue;
  throw new EspalierError('usage', `${complaint} Give the environment a codec.`);
}

/**
 * The tree that JSON, or its text, describes. `treeFromJson(treeToJson(t))` equals `t`.
 *
 * @param environment - Brings the codec of its states, the one that wrote them.
 * @throws EspalierError `invalid-tree`, naming the field.
 */
export function treeFromJson<State = unknown, Action = unknown>(
  source: unknown,
  { codec }: StateCodec<State> = {},
): SearchTree<State, Action> {
  const read = parse(typeof source === 'string' ? parseText(source) : source);
  const decode = (state: JsonValue, id: number): State => {
    if (codec === undefined) return state as State;
    try {
      return codec.decode(state);
    } catch (cause) {
      throw invalid(`nodes.${id}.state`, 'its codec could not decode it', cause);
    }
  };
  const [root] = read.nodes;
  if (root?.state === undefined) throw invalid('nodes.0.state', 'the root must have a state');
  const { environment, seed } = read;
  const tree = new SearchTree<State, Action>(decode(root.state, 0), { environment, seed });
  tree.simulations = read.simulations;
  tree.handedBack = read.handedBack ?? 0;
  tree.discount = read.discount ?? 1;
  for (const stamp of read.stamps) tree.stamps.add(stamp);
  for (const [id, node] of read.nodes.entries()) {
    if (id > 0) tree.append(parentOf(node, id), { action: node.action as Action, prior: 1 });
    const own = tree.mutable(id);
    fill(own, node);
    if (node.state !== undefined && id > 0) own.state = decode(node.state, id);
  }
  expectNode('cursor', read.cursor, read);
  if (read.preferred !== undefined) expectNode('preferred', read.preferred, read);
  if (read.conclusion !== undefined) expectNode('conclusion.node', read.conclusion.node, read);
  tree.restore(read);
  return tree;
}

function fill<State, Action>(own: TreeNode<State, Action>, node: NodeJson): void {
  own.realised = node.state !== undefined;
  own.prior = node.prior ?? 1;
  own.reward = node.reward;
  own.visits = node.visits ?? 0;
  own.value = node.value ?? 0;
  own.status = node.status ?? 'open';
  own.terminal = node.terminal ?? false;
  own.complete = node.complete ?? false;
  own.evaluation = node.evaluation;
  const { answer = false, samples = 0, failure, completion, annotations = {} } = node;
  const isRare = answer || samples > 0 || failure !== undefined || completion !== undefined;
  if (isRare || Object.keys(annotations).length > 0) {
    own.set({ answer, samples, failure, completion, annotations });
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EspalierError(
      'invalid-tree',
      'The tree cannot be read: it is not JSON. Was the file cut off?',
      { cause },
    );
  }
}

function parse(source: unknown): TreeJson {
  const version = (source as { version?: unknown } | null)?.version;
  if (typeof version === 'number' && version > treeVersion) {
    throw invalid('version', `it is ${version}, this espalier reads up to ${treeVersion}`);
  }
  const parsed = treeSchema.safeParse(source);
  // The schema keeps what it checked; the types say the same in the words of spec.
  if (parsed.success) return parsed.data as TreeJson;
  const [issue] = parsed.error.issues;
  throw invalid(issue?.path.join('.') ?? '', issue?.message ?? 'unreadable', parsed.error);
}

function parentOf({ parent, action }: NodeJson, id: number): number {
  if (parent === undefined || parent >= id) {
    throw invalid(`nodes.${id}.parent`, `expected an id from 0 to ${id - 1}, got ${parent}`);
  }
  if (action === undefined) throw invalid(`nodes.${id}.action`, 'expected an action, got none');
  return parent;
}

function expectNode(field: string, id: number, { nodes }: TreeJson): void {
  if (id >= nodes.length) {
    throw invalid(field, `expected an id from 0 to ${nodes.length - 1}, got ${id}`);
  }
}

function invalid(field: string, what: string, cause?: unknown): EspalierError {
  const message = `The tree cannot be read: field \`${field}\`: ${what}.`;
  return new EspalierError('invalid-tree', message, { cause });
}
