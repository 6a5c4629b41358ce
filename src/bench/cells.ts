import { systemClock } from '../base/clock.ts';
import { messageOf, sentenceOf } from '../base/failure.ts';
import { seededRandom } from '../base/random.ts';
import type { Environment } from '../contracts/environment.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Oracle } from '../contracts/verifier.ts';
import type { ProblemOutcome } from '../runs/run-folder.ts';
import type { SearchResult } from '../search/contracts.ts';
import { plainContext } from '../testing/plain-context.ts';
import type { BenchCell } from './cell.ts';

/** Which search a cell is. */
export type CellName = Pick<BenchCell, 'attempt' | 'budget' | 'cluster' | 'instance' | 'method'>;

/** An oracle that tells whether it was asked before its search was over. */
export class GuardedOracle<State> implements Oracle<State> {
  /** Whether the search is over: from then on it is asked for the score. */
  isOver = false;
  /** Whether it was asked before. */
  wasAsked = false;
  readonly #oracle: Oracle<State>;

  constructor(oracle: Oracle<State>) {
    this.#oracle = oracle;
  }

  label(...asked: Parameters<Oracle<State>['label']>): ReturnType<Oracle<State>['label']> {
    if (!this.isOver) this.wasAsked = true;
    return this.#oracle.label(...asked);
  }
}

/** So many ends of a tree are scored, the first ones: a table of values and outcomes needs no more. */
const mostEnds = 64;

/** What came of a search. */
export async function cellOf<State, Action>(
  name: CellName,
  result: SearchResult<State, Action>,
  {
    environment,
    guard,
    isPaced,
  }: {
    readonly environment: Environment<State, Action>;
    readonly guard: GuardedOracle<State> | undefined;
    readonly isPaced: boolean;
  },
): Promise<BenchCell> {
  if (guard !== undefined) guard.isOver = true;
  const { tree, best, stopReason, failure, usage, answered, unpriced, spend } = result;
  const nodes = [...tree.nodes()];
  const scorer = scorerFor(result, guard);
  const sum = (field: 'cachedTokens' | 'inputTokens' | 'outputTokens') =>
    usage.reduce((total, { [field]: tokens }) => total + tokens, 0);
  const parents = nodes.filter(({ children }) => children.length > 0);
  const answer = chosenIn(result, environment);
  return {
    ...name,
    ...(failure === undefined
      ? await scored(async () => ({
          right: await scorer(best),
          ends: await endsOf(nodes, scorer),
        }))
      : { status: 'failed', reason: failure.message, right: false, ends: [] }),
    ...(answer !== undefined && { answer }),
    isGuided: tree.stamps.has('oracle-guided') || guard?.wasAsked === true,
    stopReason,
    ...answered,
    ...{ inputTokens: sum('inputTokens'), cachedTokens: sum('cachedTokens') },
    outputTokens: sum('outputTokens'),
    usd: unpriced.length > 0 ? null : answered.usd,
    ms: isPaced ? spend.ms : null,
    tree: {
      nodes: nodes.length,
      depth: nodes.reduce((deepest, { depth }) => Math.max(deepest, depth), 0),
      width: parents.length === 0 ? 0 : (nodes.length - 1) / parents.length,
    },
  };
}

/** The most characters of what was chosen that a cell keeps. */
const longestAnswer = 2_000;

function chosenIn<State, Action>(
  { best: { state }, actions }: SearchResult<State, Action>,
  { answer, notation }: Environment<State, Action>,
): string | undefined {
  const given = state === undefined ? undefined : answer?.(state);
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
): BenchCell {
  const { calls, tokens, usd } = spend;
  return {
    ...name,
    ...{ status: 'failed', reason, right: false, isGuided: false, ends: [], stopReason: 'failed' },
    ...{ calls, tokens, inputTokens: 0, cachedTokens: 0, outputTokens: 0 },
    usd: unpriced.length > 0 ? null : usd,
    ms: null,
    tree: { nodes: 0, depth: 0, width: 0 },
  };
}

type Scorer<State, Action> = (node: SearchNode<State, Action>) => Promise<boolean>;

/** Says whether what a node holds is right: by the oracle, or where there is none by its rewards. */
function scorerFor<State, Action>(
  { tree }: SearchResult<State, Action>,
  guard: GuardedOracle<State> | undefined,
): Scorer<State, Action> {
  if (guard === undefined) return async (node) => (tree.score(node, 1) ?? 0) >= 1;
  const context = plainContext({ clock: systemClock, random: seededRandom() });
  return async ({ state }) => {
    if (state === undefined) return false;
    return (await guard.label(state, context)).correct === true;
  };
}

async function scored(
  score: () => Promise<Pick<BenchCell, 'ends' | 'right'>>,
): Promise<Pick<BenchCell, 'ends' | 'reason' | 'right' | 'status'>> {
  try {
    return { status: 'scored', ...(await score()) };
  } catch (error) {
    return { status: 'unscored', reason: sentenceOf(messageOf(error)), right: false, ends: [] };
  }
}

async function endsOf<State, Action>(
  nodes: readonly SearchNode<State, Action>[],
  scorer: Scorer<State, Action>,
): Promise<BenchCell['ends']> {
  const ends = nodes.filter(
    ({ terminal, answer, status }) => (terminal || answer) && status !== 'failed',
  );
  const found = [];
  for (const node of ends.slice(0, mostEnds)) {
    const { rawValue: value = null, about } = node;
    found.push({ value: about === 'action' ? null : value, right: await scorer(node) });
  }
  return found;
}
