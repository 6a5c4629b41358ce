import { turn } from '#platform';
import { expectJson } from '../base/canonical-json.ts';
import { EspalierError } from '../base/errors.ts';
import { expectation, expectObject } from '../base/expect.ts';
import { provenanceOf } from '../base/provenance.ts';
import { seededRandom } from '../base/random.ts';
import { Calls } from '../calls/calls.ts';
import { beginJournal, noJournal } from '../calls/journal.ts';
import { Ledger } from '../calls/ledger.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Failure } from '../contracts/failure.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Provenance } from '../contracts/provenance.ts';
import type { Budget, Spend } from '../contracts/spend.ts';
import { actionsTo } from '../tree/summary.ts';
import { AlgorithmContext } from './context.ts';
import type { SearchOptions, SearchResult, StopReason } from './contracts.ts';
import { Crowd } from './crowd.ts';
import { asJsonToo } from './event-json.ts';
import type { SearchEvent } from './events.ts';
import { failuresOf, reopenFailed } from './failing.ts';
import { fromItsStart } from './from-its-start.ts';
import { type CheckedOptions, checkOptions } from './options.ts';
import { type Outside, openOutside } from './outside.ts';
import type { PluginRuntime } from './plugin-context.ts';
import { Scope } from './scope.ts';
import type { SearchSession } from './session.ts';
import { Simulations, type Stop } from './simulations.ts';
import { startAt, treeOf } from './start.ts';

/** What surrounds a search. */
export interface Surroundings<State, Action> {
  /** Called for every event. */
  readonly emit?: ((event: SearchEvent<State, Action>) => void) | undefined;
  /** Waited for before results take effect. */
  readonly ready?: () => Promise<void> | undefined;
  /** The search that this one continues. */
  readonly before?: Outside;
  /** The search that this one is nested in. */
  readonly within?: {
    readonly outside: Outside;
    readonly ledger: Ledger;
    readonly signal: AbortSignal;
  };
}

/** Runs one search to its end. */
export async function runSearch<State, Action>(
  given: Environment<State, Action>,
  options: SearchOptions<State, Action>,
  around: Surroundings<State, Action> = {},
): Promise<SearchResult<State, Action>> {
  const checked = checkOptions(given, options);
  checked.signal?.throwIfAborted();
  const surroundings = { ...around, emit: fromItsStart(around.emit) };
  const { emit, within } = surroundings;
  const { clock, budget, pool, environment, policy, evaluator } = checked;
  const outside = within?.outside ?? open(checked, surroundings);
  const ledger = new Ledger({ budget, clock, parent: within?.ledger ?? pool?.ledger });
  if (within === undefined) {
    outside.gate.ledger = ledger;
    // If a pool accounts for what was spent, a killed process must not make the tree smaller.
    outside.gate.makesUpForLosses = pool !== undefined;
    // Must happen before another search of the pool can spend what this search's journal has already paid.
    const before = outside.gate.search > 0 ? surroundings.before?.gate.ledger : undefined;
    if (before === undefined) {
      ledger.prepay(outside.gate.owed, pool?.takePrepaid(outside.journal));
    } else ledger.takeOver(before);
    ledger.isRepeating = !outside.gate.isLive;
  }
  using scope = new Scope(within?.signal ?? outside.controller.signal);
  const runtime: PluginRuntime = {
    calls: new Calls(outside.gate, { prices: checked.prices, ledger }),
    get signal(): AbortSignal {
      return scope.signal;
    },
    clock,
    random: outside.random,
  };
  const tree = await treeOf(checked, runtime);
  for (const stamp of provenanceFor(checked).stamps ?? []) {
    if (typeof stamp !== 'string') throw expectation('stamps', 'texts', stamp);
    tree.stamps.add(stamp);
  }
  tree.discount = checked.discount;
  if (within === undefined) startAt(tree, checked, outside);

  const session: SearchSession<State, Action> = {
    environment,
    policy,
    evaluator,
    tree,
    ledger,
    runtime,
    crowd: new Crowd(checked.concurrency.simulations),
    emit,
    nested: async (place, nested) => {
      const part = await runNested(place, nested, { outside, ledger, signal: runtime.signal });
      for (const stamp of part.tree.stamps) tree.stamps.add(stamp);
      return part;
    },
  };
  emit?.({ type: 'search-start', tree });
  // A nested search lets its calls in flight end by themselves: others may share them, and the surrounding search gives
  // them up.
  const giveUp = (): void => {
    scope.renew(searchIsOver);
    if (within !== undefined) return;
    ledger.close();
    outside.gate.giveUp(searchIsOver);
  };
  const stop = await grow(session, { checked, outside, isPart: within !== undefined, giveUp });
  const end = report(session, {
    ...{ checked, outside, stop },
    resume: async (changes = {}) => {
      expectObject('options', changes);
      const { retryFailed = false } = changes;
      reopenFailed(tree, retryFailed);
      const next = { ...options, ...changes, retryFailed, tree };
      return runSearch(given, next, { before: outside });
    },
  });
  const result = asJsonToo(end, environment.codec);
  emit?.({ type: 'search-end', result });
  return result;
}

function open<State, Action>(
  checked: CheckedOptions<State, Action>,
  { emit, ready = () => undefined, before }: Surroundings<State, Action>,
): Outside {
  const journal = checked.journal ?? before?.journal ?? noJournal;
  // A journal that the caller did not pass is never read.
  if (checked.journal !== undefined && before === undefined) {
    const { models, prompts } = provenanceFor(checked);
    beginJournal(journal, {
      environment: checked.environment.name,
      algorithm: checked.algorithm.name,
      seed: checked.seed,
      order: checked.order,
      ...(models !== undefined && { models: models }),
      ...(prompts !== undefined && { prompts }),
      ...(checked.batches !== undefined && { batches: true }),
    });
  }
  return openOutside({
    journal,
    order: checked.order,
    clock: checked.clock,
    calls: checked.concurrency.calls,
    random: seededRandom(checked.seed),
    ms: checked.budget.ms,
    before,
    retryFailed: checked.retryFailed,
    batches: checked.batches,
    ready,
    onCall: (call) => emit?.({ type: 'call-end', call }),
    onWarning: (warning) => emit?.({ type: 'warning', warning }),
  });
}

/** The provenance that the parts of a search declare. */
function provenanceFor<State, Action>({
  environment,
  policy,
  evaluator,
}: CheckedOptions<State, Action>): Provenance {
  return provenanceOf(environment, policy, evaluator);
}

interface Growth<State, Action> {
  readonly checked: CheckedOptions<State, Action>;
  readonly outside: Outside;
  /** Whether the search is nested in another, which handles deadlines and aborts. */
  readonly isPart: boolean;
  /** Aborts work in flight; work that starts later may continue. */
  readonly giveUp: () => void;
}

/** Runs the algorithm and says why it stopped. */
async function grow<State, Action>(
  session: SearchSession<State, Action>,
  { checked, outside, isPart, giveUp }: Growth<State, Action>,
): Promise<Stop> {
  const { tree, ledger } = session;
  const { algorithm, concurrency, stopWhen, signal } = checked;
  const { gate, sequencer, deadline, controller } = outside;
  const begin = () =>
    new Simulations(session, {
      concurrency: concurrency.simulations,
      stopWhen,
      gate,
      sequencer,
      deadline,
      giveUp,
    });
  let simulations = begin();
  const unwatch = isPart
    ? () => {}
    : deadline.watch((exceeded) => simulations.end({ reason: 'budget', exceeded }));
  const context = new AlgorithmContext(session, () => simulations, checked.fill);
  const run = async (): Promise<void> => {
    try {
      do {
        await algorithm.run(tree, context);
        await simulations.rest();
        context.failUnlessAwaited(algorithm.name);
      } while (await mayGoOn());
    } catch (error) {
      simulations.settle(error);
    }
    if (!isPart) await awaitLeftCalls(endOf(), session, outside);
  };
  const endOf = () => failedIf(context.unusable, simulations.stop ?? exhausted, ledger);
  let simulated: number | undefined;
  let fillsInVain = 0;
  const mayGoOn = async (): Promise<boolean> => {
    const { reason } = simulations.stop ?? exhausted;
    const hasFailed = context.unusable !== undefined;
    if (!mayAskAgain(reason, hasFailed) || ledger.exhausted !== undefined) return false;
    // Calls that failed in an earlier run are repeated once this one has caught up with it, within its budget.
    const again = isPart ? undefined : await gate.retry();
    // An algorithm that ignores new nodes would get them forever if they cost nothing.
    fillsInVain = tree.simulations === simulated ? fillsInVain + 1 : 0;
    if (again === undefined && (hasFailed || fillsInVain > mostFillsInVain)) return false;
    simulated = tree.simulations;
    const isOver = simulations.stop !== undefined;
    simulations.abandon();
    simulations = begin();
    if (again === undefined) return context.fill(isOver);
    context.tryAgain();
    reopenFailed(tree, again === 'all');
    return true;
  };
  const abort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort);
  const abandoned = rejectionBy(controller.signal);
  // A listener of `search-start` may have aborted the search.
  if (signal?.aborted === true) abort();
  try {
    // A plug-in that ignores the signal must not keep an aborted search from ending.
    await Promise.race([run(), abandoned.promise]);
  } catch (error) {
    signal?.throwIfAborted();
    simulations.settle(error);
  } finally {
    signal?.removeEventListener('abort', abort);
    abandoned.forget();
    simulations.abandon();
    context.end();
    unwatch();
    if (!isPart) close(outside, ledger);
  }
  return endOf();
}

/** A search of which no answer could be used has failed, unless it can continue with a larger pool. */
function failedIf(unusable: Failure | undefined, stop: Stop, ledger: Ledger): Stop {
  const { exceeded, reason } = stop;
  const goesOn = exceeded !== undefined && ledger.isBoundByParent(exceeded);
  if (unusable === undefined || goesOn || reason === 'solved') return stop;
  return { ...stop, reason: 'failed', failure: unusable };
}

const exhausted: Stop = { reason: 'exhausted' };

/**
 * Waits for calls that nobody awaits any more when the budget or a failed call ends a search: a plug-in that makes several
 * calls at once leaves the others in flight. What they cost is known only when they have ended.
 */
async function awaitLeftCalls<State, Action>(
  { reason, exceeded }: Stop,
  { ledger, runtime }: SearchSession<State, Action>,
  { gate }: Outside,
): Promise<void> {
  if ((reason !== 'budget' && reason !== 'failed') || exceeded === 'ms') return;
  ledger.end();
  const over = new AbortController();
  const tooLong = runtime.clock.sleep(longestRestMs, over.signal).catch(() => {});
  await Promise.race([gate.rest(searchIsOver), tooLong]);
  over.abort();
  runtime.signal.throwIfAborted();
}

/** Ten minutes, which is also what clients of hosted models wait for an answer: not every call need ever end. */
const longestRestMs = 600_000;

const mostFillsInVain = 100;

/**
 * Whether failed calls may be repeated. If no answer could be used, the reason may be calls that failed in an earlier
 * run and were not repeated.
 */
function mayAskAgain(reason: StopReason, hasFailed: boolean): boolean {
  return reason === 'exhausted' || (reason === 'failed' && hasFailed);
}

/** Rejects one turn after the abort, so that code that handles the signal can clean up. */
function rejectionBy(signal: AbortSignal): { promise: Promise<never>; forget: () => void } {
  let onAbort = (): void => {};
  const promise = new Promise<never>((_, reject) => {
    onAbort = () => void turn().then(() => reject(signal.reason));
  });
  signal.addEventListener('abort', onAbort);
  return { promise, forget: () => signal.removeEventListener('abort', onAbort) };
}

/** Created once: capturing a stack is expensive, and this error is not about a place in the code. */
const searchIsOver = new EspalierError('budget', 'The search is over.');

/** Cleans up: no call stays in flight, and nothing waits for the budget. */
function close({ controller, gate, sequencer }: Outside, ledger: Ledger): void {
  ledger.close();
  gate.end();
  controller.abort(searchIsOver);
  sequencer.clear();
}

function runNested<State, Action>(
  environment: Environment<State, Action>,
  options: SearchOptions<State, Action> & { readonly share: number },
  within: NonNullable<Surroundings<State, Action>['within']>,
): Promise<SearchResult<State, Action>> {
  expectObject('options', options);
  const { share, ...rest } = options;
  if (!(share > 0 && share <= 1)) {
    throw expectation('share', 'a number above 0 and up to 1', share);
  }
  if (rest.budget?.ms !== undefined) {
    throw expectation('budget.ms', 'left to the surrounding search', rest.budget.ms);
  }
  const budget = shareOf(within.ledger.shareable, share, rest.budget ?? {});
  return runSearch(environment, { ...rest, budget }, { within });
}

/** A share of the remaining budget, limited by the requested budget. Time is not divided. */
function shareOf(remaining: Spend, share: number, asked: Budget): Budget {
  const units = ['simulations', 'nodes', 'calls', 'tokens', 'usd'] as const;
  const limits = units.flatMap((unit) => {
    // An overdrawn budget has nothing to share.
    const left = Math.max(0, remaining[unit]) * share;
    const part = unit === 'usd' ? left : Math.floor(left);
    const limit = Math.min(part, asked[unit] ?? Number.POSITIVE_INFINITY);
    return limit === Number.POSITIVE_INFINITY ? [] : [[unit, limit] as const];
  });
  return Object.fromEntries(limits);
}

/** The answer of a node. An environment that throws here must not cost the caller the paid results. */
function answerAt<State, Action>(
  { state }: SearchNode<State, Action>,
  environment: Environment<State, Action>,
): JsonValue | undefined {
  try {
    const answer: unknown = state === undefined ? undefined : environment.answer?.(state);
    return answer === undefined ? undefined : expectJson('answer', answer);
  } catch {
    return undefined;
  }
}

function report<State, Action>(
  { tree, ledger }: SearchSession<State, Action>,
  end: {
    readonly checked: CheckedOptions<State, Action>;
    readonly outside: Outside;
    readonly stop: Stop;
    readonly resume: SearchResult<State, Action>['resume'];
  },
): SearchResult<State, Action> {
  const { checked, outside, stop, resume } = end;
  const { best, cursor, conclusion } = tree;
  const failure: Failure | undefined = stop.failure ?? cursor.failure;
  const deadEnd = stop.reason === 'exhausted' && cursor.status === 'failed';
  return {
    method: checked.method,
    tree,
    best,
    actions: actionsTo(best),
    answer: answerAt(best, checked.environment),
    solved: (best.terminal || best.answer) && (tree.score(best, 1) ?? 0) >= 1,
    optimal: conclusion?.optimal ?? false,
    stopReason: deadEnd ? 'failed' : stop.reason,
    exceeded: stop.exceeded,
    poolExhausted:
      checked.pool !== undefined &&
      stop.exceeded !== undefined &&
      ledger.isBoundByParent(stop.exceeded),
    // If a search ran out of budget before anything grew, the caller gets the reason.
    failure: deadEnd || stop.reason === 'failed' || tree.size === 1 ? failure : undefined,
    failures: failuresOf(tree),
    spend: ledger.spend,
    overdraft: ledger.overdraft,
    answered: ledger.answered,
    unpriced: [...outside.gate.unpriced],
    usage: outside.gate.usage.all,
    coverage: outside.gate.coverage,
    resume,
  };
}
