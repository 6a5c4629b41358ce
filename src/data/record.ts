import { canonicalJson } from '../base/canonical-json.ts';
import type { Notation } from '../contracts/environment.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { Message, ToolDefinition } from '../contracts/language-model.ts';
import type { ChildNode, NodeStatistics, SearchNode } from '../contracts/node.ts';
import { knownValue } from '../tree/selection.ts';
import { pathTo } from '../tree/summary.ts';
import type { SearchTree } from '../tree/tree.ts';

/** A finished tree, with the information for its rows. */
export interface TreeRecord<State = unknown, Action = unknown> {
  /** The id of the tree's problem: datasets are split by problem, never by row. */
  readonly problem: string;
  /** The id of the tree within a dataset. @defaultValue `problem` */
  readonly id?: string;
  /** The tree. Rows only read it. */
  readonly tree: SearchTree<State, Action>;
  /** Its notation, as shown to the policy. */
  readonly notation: Pick<
    Notation<State, Action>,
    'delimiter' | 'format' | 'prompt' | 'tools' | 'turn'
  >;
  /** The score from which an end counts as right, on the scale of the rewards. @defaultValue 1 */
  readonly correctFrom?: number;
  /**
   * Which of the drawn ends the tree has. If it has only the right ones, the share of right ends is meaningless: rules
   * then use the evaluations of steps, and refuse to count.
   *
   * @defaultValue 'all'
   */
  readonly ends?: 'all' | 'right';
  /** The right answer, if known: for reward functions and tables only, never in a prompt. */
  readonly answer?: string;
  /** The tools that the model was offered. @defaultValue those of the notation */
  readonly tools?: readonly ToolDefinition[];
  /** The name of the method that grew it. */
  readonly method?: string;
  /** The models used, as `provider:modelId`, the policy's first. */
  readonly models?: readonly string[];
  /** Its file, named in the card of a dataset. @defaultValue none */
  readonly file?: {
    /** Its name. */
    readonly name: string;
    /** The SHA-256 of its bytes, in hexadecimal digits. */
    readonly sha256: string;
    /** Whether the hash is that of the sorted hashes of its lines, one per line. @defaultValue false */
    readonly isByLine?: boolean;
    /** What made it: the program with its version, the method, the model. */
    readonly madeBy: string;
  };
}

export type RowNotation<State, Action> = TreeRecord<State, Action>['notation'];

/** Whether a path may end at a node: nothing follows, or it is a complete answer. What has failed is no end. */
export function isEnd({
  terminal,
  answer,
  status,
}: Pick<NodeStatistics, 'answer' | 'status' | 'terminal'>): boolean {
  return (terminal || answer) && status !== 'failed';
}

/**
 * Whether an end is right: its score reaches `correctFrom`. `undefined` for a node that is not an end, and for an end
 * without a score.
 */
export function isRight<State, Action>(
  { tree, correctFrom = 1 }: Pick<TreeRecord<State, Action>, 'correctFrom' | 'tree'>,
  node: SearchNode<State, Action>,
): boolean | undefined {
  if (!isEnd(node)) return undefined;
  // How late an end is reached makes it no less right.
  const score = tree.score(node, 1);
  return score === undefined ? undefined : score >= correctFrom;
}

/**
 * The worth of a node: the score of an end, otherwise the node's evaluation, otherwise its value.
 *
 * @param discount - γ: with 1, answers are compared that were reached sooner and later. Default that of the tree.
 */
export function worthOf<State, Action>(
  { tree }: Pick<TreeRecord<State, Action>, 'tree'>,
  node: SearchNode<State, Action>,
  discount: number = tree.discount,
): number {
  const score = isEnd(node) ? tree.score(node, discount) : undefined;
  return score ?? node.rawValue ?? knownValue(node, { discount });
}

/**
 * The critique that speaks for a node: of the samples that judged its state, the last one with words that is on the
 * same side of 0.5 as their mean.
 */
export function critiqueOf({
  rawValue = 0,
  evaluations,
}: Pick<SearchNode, 'evaluations' | 'rawValue'>): Evaluation | undefined {
  return evaluations.findLast(
    ({ about, value, rationale = '' }) =>
      about !== 'action' && value > 0.5 === rawValue > 0.5 && rationale.trim() !== '',
  );
}

/** Whether rows may be made of a node: it has not failed and is no duplicate of a sibling. */
export function isPart({ status, duplicateOf }: SearchNode): boolean {
  return status !== 'failed' && duplicateOf === undefined;
}

/** The nodes from below the root down to a node. */
export function stepsTo<State, Action>(
  end: SearchNode<State, Action>,
): readonly ChildNode<State, Action>[] {
  return pathTo<State, Action>(end).flatMap((node) => (node.kind === 'root' ? [] : [node]));
}

/** The conversation in which the children of a node were proposed. */
export function promptAt<State, Action>(
  { notation }: Pick<TreeRecord<State, Action>, 'notation'>,
  node: SearchNode<State, Action>,
): readonly Message[] {
  // Only a state that was reached has children.
  return notation.prompt(node.state as State).map(asLearnt);
}

/** A turn without the fields that only its provider and its cache read: they are not learnt. */
function asLearnt(message: Message): Message {
  if (message.original === undefined && message.prefixEnds === undefined) return message;
  const { original: _, prefixEnds: __, ...said } = message;
  return said;
}

/** Whether two turns say, show, call and answer the same. */
export function isSameTurn(one: Message, other: Message | undefined): boolean {
  return (
    one === other ||
    (one.role === other?.role &&
      one.content === other.content &&
      one.toolCallId === other.toolCallId &&
      isSameJson(one.toolCalls, other.toolCalls) &&
      isSameJson(one.images, other.images))
  );
}

function isSameJson(one: unknown = [], other: unknown = []): boolean {
  return one === other || canonicalJson('turn', one) === canonicalJson('turn', other);
}

/** The action of a node as the turn of a model. */
export function turnOf<State, Action>(
  { notation }: Pick<TreeRecord<State, Action>, 'notation'>,
  { action, completion }: ChildNode<State, Action>,
): Message {
  const turn = notation.turn?.(action, completion);
  return turn === undefined
    ? { role: 'assistant', content: notation.format(action) }
    : asLearnt(turn);
}
