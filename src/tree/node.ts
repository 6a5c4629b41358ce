import { EspalierError } from '../base/errors.ts';
import { jsonComplaint, jsonFault } from '../base/json.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { CountedFailure, Failure } from '../contracts/failure.ts';
import type { Codec, JsonValue } from '../contracts/json.ts';
import type { Completion } from '../contracts/language-model.ts';
import type { NodeId, NodeStatus, PruneReason, SearchNode } from '../contracts/node.ts';
import type { NodeJson } from './tree-json.ts';

const none: readonly never[] = Object.freeze([]);
const nothing: Readonly<Record<string, never>> = Object.freeze({});

/** An action to add to the tree. */
export interface NewChild<Action> {
  /** a. */
  readonly action: Action;
  /** P(s, a). */
  readonly prior: number;
  /** The model output from which it was read. */
  readonly completion?: Completion;
}

/**
 * The only mutable form of a node. All other code sees it as a `SearchNode`, which is read-only.
 *
 * All nodes without children share one empty list.
 */
export class TreeNode<State, Action> {
  readonly id: NodeId;
  readonly depth: number;
  readonly parent: TreeNode<State, Action> | undefined;
  readonly action: Action | undefined;
  state: State | undefined = undefined;
  children: readonly TreeNode<State, Action>[] = none;

  prior: number;
  reward: number | undefined = undefined;
  visits = 0;
  value = 0;
  inFlight = 0;

  status: NodeStatus = 'open';
  exact = false;
  /** Whether `state` is set: a state may itself be `undefined`. */
  realised = false;
  terminal = false;
  complete = false;

  /** A single evaluation is stored without a list: most nodes have no second one. */
  #evaluated: Evaluation | readonly Evaluation[] | undefined = undefined;
  #rare: Rare = nothingRare;

  constructor(
    id: NodeId,
    parent: TreeNode<State, Action> | undefined,
    { action, prior }: { readonly action: Action | undefined; readonly prior: number },
  ) {
    this.id = id;
    this.parent = parent;
    this.action = action;
    this.prior = prior;
    this.depth = parent === undefined ? 0 : parent.depth + 1;
  }

  get kind(): 'root' | 'proposed' | 'realised' {
    if (this.parent === undefined) return 'root';
    return this.realised ? 'realised' : 'proposed';
  }

  get evaluations(): readonly Evaluation[] {
    const evaluated = this.#evaluated;
    if (evaluated === undefined) return none;
    return isOne(evaluated) ? [evaluated] : evaluated;
  }

  /** Adds a further sample. */
  addEvaluation(evaluation: Evaluation): void {
    const evaluated = this.#evaluated;
    this.#evaluated = evaluated === undefined ? evaluation : [...this.evaluations, evaluation];
  }

  get rawValue(): number | undefined {
    const evaluated = this.#evaluated;
    if (evaluated === undefined || isOne(evaluated)) return evaluated?.value;
    return evaluated.reduce((sum, { value }) => sum + value, 0) / evaluated.length;
  }

  get about(): 'action' | 'state' {
    const evaluated = this.#evaluated;
    const first = evaluated === undefined || isOne(evaluated) ? evaluated : evaluated[0];
    return first?.about ?? 'state';
  }

  get answer(): boolean {
    return this.#rare.answer;
  }

  get cost(): number | undefined {
    return this.#rare.cost;
  }

  get samples(): number {
    return this.#rare.samples;
  }

  get failure(): Failure | undefined {
    return this.#rare.failure;
  }

  get failedProposals(): readonly CountedFailure[] {
    return this.#rare.failedProposals ?? none;
  }

  get failedEvaluations(): readonly CountedFailure[] {
    return this.#rare.failedEvaluations ?? none;
  }

  get pruned(): PruneReason | undefined {
    return this.#rare.pruned;
  }

  get duplicateOf(): NodeId | undefined {
    return this.#rare.duplicateOf;
  }

  get outcome(): Evaluation | undefined {
    return this.#rare.outcome;
  }

  get completion(): Completion | undefined {
    return this.#rare.completion;
  }

  get notes(): Readonly<Record<string, JsonValue>> {
    return this.#rare.notes ?? nothing;
  }

  get annotations(): Readonly<Record<string, JsonValue>> {
    return this.#rare.annotations ?? nothing;
  }

  /** Sets fields that most nodes lack. */
  set(change: Partial<Rare>): void {
    this.#rare = { ...this.#rare, ...change };
  }

  /**
   * Reopens a node that failed or was pruned. Without children, it is as if it had never been expanded, except that
   * samples that were drawn but unusable stay counted.
   */
  reopen(): void {
    const isBare = this.children.length === 0;
    this.status = this.terminal ? 'terminal' : 'open';
    if (isBare) this.complete = false;
    this.set({
      pruned: undefined,
      duplicateOf: undefined,
      ...(isBare && { failedProposals: undefined }),
      ...(isBare && this.failure?.transient === true && { samples: 0 }),
      failure: undefined,
    });
  }

  /** Copies everything that may change, for a copy of the tree. */
  copyFrom(other: TreeNode<State, Action>): void {
    this.state = other.state;
    this.realised = other.realised;
    this.prior = other.prior;
    this.reward = other.reward;
    this.visits = other.visits;
    this.value = other.value;
    this.status = other.status;
    this.exact = other.exact;
    this.terminal = other.terminal;
    this.complete = other.complete;
    this.#evaluated = other.#evaluated;
    this.#rare = other.#rare;
  }

  /** For `JSON.stringify`: without its parent and children, whose cycles JSON cannot hold. */
  toJSON(): ReturnType<typeof placedNode> {
    return placedNode(this, undefined);
  }
}

/** Fields that most nodes lack. They are kept in a separate object, so that nodes stay small. */
interface Rare {
  readonly answer: boolean;
  readonly cost?: number | undefined;
  /** The number of proposals requested from the policy here. */
  readonly samples: number;
  readonly failure: Failure | undefined;
  readonly completion: Completion | undefined;
  readonly failedProposals?: readonly CountedFailure[] | undefined;
  readonly failedEvaluations?: readonly CountedFailure[] | undefined;
  readonly pruned?: PruneReason | undefined;
  readonly duplicateOf?: NodeId | undefined;
  readonly outcome?: Evaluation | undefined;
  readonly notes?: Readonly<Record<string, JsonValue>> | undefined;
  readonly annotations?: Readonly<Record<string, JsonValue>> | undefined;
}

const nothingRare: Rare = Object.freeze({
  answer: false,
  samples: 0,
  failure: undefined,
  completion: undefined,
});

function isOne(evaluated: Evaluation | readonly Evaluation[]): evaluated is Evaluation {
  return !Array.isArray(evaluated);
}

/** A node as its read-only type. The only cast between the two. */
export function view<State, Action>(node: TreeNode<State, Action>): SearchNode<State, Action> {
  return node as unknown as SearchNode<State, Action>;
}

/** A node as in a saved tree, with its position. */
export function placedNode<State, Action>(
  node: TreeNode<State, Action>,
  codec: Codec<State> | undefined,
): NodeJson & Pick<SearchNode, 'depth' | 'id'> {
  return { id: node.id, depth: node.depth, ...nodeToJson(node, codec) };
}

/** A node as in a saved tree. */
export function nodeToJson<State, Action>(
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
  const { cost, terminal, answer, complete, samples, evaluations, outcome, completion } = node;
  const { exact, failure, failedProposals, failedEvaluations, pruned, duplicateOf } = node;
  const { notes, annotations } = node;
  const lists = Object.entries({ evaluations, failedProposals, failedEvaluations });
  return {
    ...(exact && { exact }),
    ...(pruned !== undefined && { pruned }),
    ...(duplicateOf !== undefined && { duplicateOf }),
    ...(cost !== undefined && { cost }),
    ...(terminal && { terminal }),
    ...(answer && { answer }),
    ...(complete && { complete }),
    ...(samples > 0 && { samples }),
    ...(outcome !== undefined && { outcome }),
    ...(failure !== undefined && { failure }),
    ...Object.fromEntries(lists.filter(([, list]) => list.length > 0)),
    ...(completion !== undefined && { completion }),
    ...(Object.keys(notes).length > 0 && { notes }),
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
  const advice =
    'Give the environment a codec, which `treeToJson(tree, environment)` and `events.json()` use.';
  throw new EspalierError('usage', `${complaint} ${advice}`);
}

/** Notes at a node are saved with the tree, so they must be JSON. */
export function expectNotes({ id }: SearchNode, notes: JsonValue): void {
  const fault = jsonFault(notes);
  if (fault === undefined) return;
  const where = `${fault.what} at \`${fault.path.join('.')}\``;
  throw new EspalierError('usage', `Expected the notes at node ${id} to be JSON, got ${where}.`);
}
