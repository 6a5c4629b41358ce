import { systemClock } from '../base/clock.ts';
import { EspalierError } from '../base/errors.ts';
import { expectVerdict } from '../base/expect-no-oracle.ts';
import { messageOf, sentenceOf } from '../base/failure.ts';
import { seededRandom } from '../base/random.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { withPlace } from '../base/user-module.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Failure } from '../contracts/failure.ts';
import type { MaybePromise } from '../contracts/json.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Oracle } from '../contracts/verifier.ts';
import type { ProblemOutcome } from '../runs/run-folder.ts';
import type { SearchResult } from '../search/contracts.ts';
import { plainContext } from '../testing/plain-context.ts';
import { isLost } from '../tree/best-end.ts';
import { pathTo } from '../tree/summary.ts';
import type { CallsMade } from './calls-made.ts';
import type { BenchCell } from './cell.ts';
import type { BenchInstance } from './task.ts';

/** Which search a cell is. */
export type CellName = Pick<BenchCell, 'attempt' | 'budget' | 'cluster' | 'instance' | 'method'>;

/** So many ends of a tree are scored: a table of values and outcomes needs no more, and an oracle may be slow. */
const mostEnds = 64;

/** What came of a search. */
export async function cellOf<State, Action>(
  name: CellName,
  result: SearchResult<State, Action>,
  {
    instance: { environment, oracle },
    signal,
    isPaced,
    calls,
    reused,
  }: {
    readonly instance: Pick<BenchInstance<State, Action>, 'environment' | 'oracle'>;
    /** Ends the waiting for an oracle. */
    readonly signal: AbortSignal;
    readonly isPaced: boolean;
    /** The calls that it made. Where none of them failed, what threw is code of somebody. */
    readonly calls: CallsMade;
    /** How many calls the recording answered. */
    readonly reused: number;
  },
): Promise<BenchCell> {
  const { tree, best, stopReason, failures, usage, unpriced, spend } = result;
  const nodes = [...tree.nodes()];
  const ends = nodes.filter(isEnd);
  const why = faultOf(result, nodes, calls);
  const scorer = oracle === undefined ? rewarded : scorerFor(name.instance, oracle, signal);
  const sum = (field: 'cachedTokens' | 'inputTokens' | 'outputTokens') =>
    usage.reduce((total, { [field]: tokens }) => total + tokens, 0);
  const parents = nodes.filter(({ children }) => children.length > 0);
  const answer = chosenIn(result, environment);
  return {
    ...name,
    ...(why === undefined
      ? await scoredBy(scorer, { best, ends, isFree: oracle === undefined, signal })
      : { status: 'failed', right: false, anyRight: false, ends: [], ...blameFor(why, calls) }),
    ...(answer !== undefined && { answer }),
    ...(why === undefined && !isEnd(best) && result.answer === undefined && { isUnfinished: true }),
    isGuided: tree.stamps.has('oracle-guided'),
    stopReason,
    ...(result.exceeded !== undefined && { exceeded: result.exceeded }),
    ...lostOn(failures, calls),
    ...(oracle === undefined &&
      nodes.every(({ reward }) => reward === undefined) && { isUnrewarded: true }),
    ...calls.charged,
    reused: reused + result.coverage.recorded,
    ...{ inputTokens: sum('inputTokens'), cachedTokens: sum('cachedTokens') },
    outputTokens: sum('outputTokens'),
    usd: unpriced.length > 0 ? null : calls.charged.usd,
    ms: isPaced ? spend.ms : null,
    tree: {
      nodes: nodes.length,
      depth: nodes.reduce((deepest, { depth }) => Math.max(deepest, depth), 0),
      width: parents.length === 0 ? 0 : (nodes.length - 1) / parents.length,
    },
  };
}

/**
 * Why a search has nothing that could be scored; nothing where it has. What a call that failed, or code that threw, would have
 * brought may have led to an end. A budget that holds no further call has made none that failed, and what it buys is what was asked for.
 */
function faultOf<State, Action>(
  { best, failure, failures }: SearchResult<State, Action>,
  nodes: readonly SearchNode<State, Action>[],
  calls: CallsMade,
): Failure | undefined {
  if (isEnd(best)) {
    // An answer that could not be continued is none the worse for it.
    return failure !== undefined && ofNoMethod.includes(failure.kind) ? failure : undefined;
  }
  const down = failures.first.find(({ kind }) => ofNoMethod.includes(kind)) ?? failedCallOf(calls);
  if (down !== undefined) return down;
  // A tree that never grew, or whose ends were all lost, such as to a judge that cannot be read, holds no wrong answer.
  const areLost =
    !nodes.some(isEnd) &&
    (nodes.length === 1 || nodes.some(({ terminal, answer }) => terminal || answer));
  return failure ?? (areLost ? failures.first[0] : undefined);
}

/** A batch of evaluations that the budget ends leaves no failure in the tree, whatever became of its calls. */
function failedCallOf({ failed, reason = '' }: CallsMade): Failure | undefined {
  return failed === 0 ? undefined : { kind: 'call', message: reason };
}

/** What failed on the way of a search. */
function lostOn(
  { count, first }: SearchResult<unknown, unknown>['failures'],
  { failed, reason = '' }: CallsMade,
): Pick<BenchCell, 'lost'> {
  if (first.length === 0 && failed === 0) return {};
  return {
    lost: {
      count: Math.max(count, failed),
      ...(failed > 0 && { calls: failed }),
      reason: first[0]?.message ?? reason,
    },
  };
}

/** What plug-ins throw counts as a call that failed; what they return and must not is invalid. */
const ofNoMethod: readonly Failure['kind'][] = ['call', 'invalid'];

/** Why a search failed, and whose fault it is where it is none of its method. */
function blameFor(
  { kind, message, cause }: Failure,
  { reason }: Pick<CallsMade, 'reason'>,
): Pick<BenchCell, 'isBroken' | 'isOutage' | 'reason'> {
  if (!ofNoMethod.includes(kind)) return { reason: message };
  if (kind === 'call' && reason !== undefined) return { isOutage: true, reason: message };
  return { isBroken: true, reason: withPlace(message, cause) };
}

/** The most characters of what was chosen that a cell keeps. */
const longestAnswer = 2_000;

function chosenIn<State, Action>(
  { answer: given, actions }: SearchResult<State, Action>,
  { notation }: Environment<State, Action>,
): string | undefined {
  if (given === undefined && actions.length === 0) return undefined;
  const text =
    given === undefined
      ? actions.map((each) => notation?.format(each) ?? JSON.stringify(each)).join('\n')
      : typeof given === 'string'
        ? given
        : JSON.stringify(given);
  return text.slice(0, longestAnswer);
}

/** The cell of a search that could not even begin, as its run has written it down. */
export function failedCell(
  name: CellName,
  { reason, spend, unpriced = [] }: ProblemOutcome,
  made: Pick<CallsMade, 'reason'>,
): BenchCell {
  const { calls, tokens, usd } = spend;
  return {
    ...name,
    ...{ status: 'failed', reason, right: false, anyRight: false, ends: [] },
    ...(made.reason !== undefined ? { isOutage: true } : { isBroken: true }),
    ...{ isGuided: false, stopReason: 'failed' },
    ...{ calls, reused: 0, tokens, inputTokens: 0, cachedTokens: 0, outputTokens: 0 },
    usd: unpriced.length > 0 ? null : usd,
    ms: null,
    tree: { nodes: 0, depth: 0, width: 0 },
  };
}

/** Says whether what a node holds is right. */
type Scorer<State, Action> = (node: SearchNode<State, Action>) => MaybePromise<boolean>;

function isEnd(node: SearchNode): boolean {
  return (node.terminal || node.answer) && !isLost(node);
}

/** Whether the rewards on the way to an end add up to 1. What an evaluator thinks of it is no score. */
function rewarded(node: SearchNode): boolean {
  const sum = pathTo(node).reduce((total, { reward = 0 }) => total + reward, 0);
  return isEnd(node) && sum >= 1;
}

function scorerFor<State>(
  instance: string,
  oracle: Oracle<State>,
  signal: AbortSignal,
): Scorer<State, unknown> {
  const context = plainContext({ clock: systemClock, random: seededRandom(), signal });
  return async ({ state }) => {
    if (state === undefined) return false;
    try {
      const asking = Promise.resolve(oracle.label(state, context));
      return expectVerdict(await unlessAborted(asking, signal), 'oracle.label()').correct;
    } catch (cause) {
      signal.throwIfAborted();
      const message = `The oracle of \`${instance}\` failed: ${messageOf(cause)}`;
      throw new EspalierError('usage', message, { cause });
    }
  };
}

async function scoredBy<State, Action>(
  scorer: Scorer<State, Action>,
  {
    best,
    ends,
    isFree,
    signal,
  }: {
    readonly best: SearchNode<State, Action>;
    readonly ends: readonly SearchNode<State, Action>[];
    /** Whether scoring costs nothing, so that all ends are looked at. */
    readonly isFree: boolean;
    readonly signal: AbortSignal;
  },
): Promise<Pick<BenchCell, 'anyRight' | 'ends' | 'reason' | 'right' | 'status'>> {
  let right: boolean;
  try {
    right = await scorer(best);
  } catch (error) {
    signal.throwIfAborted();
    const reason = sentenceOf(messageOf(error));
    return { status: 'unscored', reason, right: false, anyRight: false, ends: [] };
  }
  const found: { value: number | null; right: boolean }[] = [];
  for (const node of spread(ends, mostEnds)) {
    const { rawValue: value = null, about } = node;
    try {
      const isRight = node === best ? right : await scorer(node);
      found.push({ value: about === 'action' ? null : value, right: isRight });
    } catch {
      signal.throwIfAborted();
      // That an end which was not chosen has no score says nothing about the one that was.
    }
  }
  const others = isFree ? ends.some((end) => scorer(end) === true) : false;
  return {
    ...{ status: 'scored', right, ends: found },
    anyRight: right || others || found.some((end) => end.right),
  };
}

/** So many items, evenly spread over all. */
function spread<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, place) => {
    return items[Math.floor((place * items.length) / most)] as Item;
  });
}
