import { expectJson } from '../base/canonical-json.ts';
import { EspalierError } from '../base/errors.ts';
import { expectation } from '../base/expect.ts';
import { messageOf } from '../base/failure.ts';
import { addressOfStart, startJournal } from '../calls/journal.ts';
import type { Environment } from '../contracts/environment.ts';
import type { JsonValue } from '../contracts/json.ts';
import { SearchTree } from '../tree/tree.ts';
import type { CheckedOptions } from './options.ts';
import type { Outside } from './outside.ts';
import { PluginContext, type PluginRuntime } from './plugin-context.ts';
import { faultOfTransition } from './realisations.ts';

/** The tree that a search grows: the one it was given, or a new one from the start of its environment. */
export async function treeOf<State, Action>(
  checked: CheckedOptions<State, Action>,
  runtime: PluginRuntime,
): Promise<SearchTree<State, Action>> {
  const tree = checked.tree ?? (await inTime(plant(checked, runtime), checked));
  expectSameEnvironment(tree, checked.environment);
  return tree;
}

/** A new tree, with the environment's start as its root. */
async function plant<State, Action>(
  { environment, seed }: CheckedOptions<State, Action>,
  runtime: PluginRuntime,
): Promise<SearchTree<State, Action>> {
  try {
    const start = await environment.reset(new PluginContext(runtime, 'reset'));
    const fault = faultOfTransition('reset', start);
    if (fault !== undefined) throw new EspalierError('usage', fault);
    const tree = new SearchTree<State, Action>(start.state, {
      environment: environment.name,
      seed,
    });
    tree.realise(tree.root, start);
    return tree;
  } catch (cause) {
    runtime.signal.throwIfAborted();
    const reason = messageOf(cause);
    throw new EspalierError(
      EspalierError.isInstance(cause) ? cause.code : 'usage',
      `The environment \`${environment.name}\` has no start: ${reason}`,
      { cause },
    );
  }
}

/** Waits for a start, but not beyond the end of the search. */
async function inTime<Value, State, Action>(
  starting: Promise<Value>,
  { signal, environment, clock, budget: { ms } }: CheckedOptions<State, Action>,
): Promise<Value> {
  if (signal === undefined && ms === undefined) return starting;
  const over = new AbortController();
  const either = AbortSignal.any(signal === undefined ? [over.signal] : [over.signal, signal]);
  const aborted = new Promise<never>((_, reject) => {
    either.addEventListener('abort', () => reject(either.reason), { once: true });
  });
  const late = clock.sleep(ms ?? 0, either).then(() => {
    if (ms === undefined) return aborted;
    throw new EspalierError(
      'usage',
      `The environment ${environment.name} had no start within the ${ms} ms of the budget.`,
    );
  });
  for (const promise of [starting, aborted, late]) promise.catch(() => {});
  try {
    return await Promise.race([starting, late]);
  } finally {
    over.abort();
  }
}

/** Throws if a tree belongs to another environment: statistics of one problem mean nothing for another. */
function expectSameEnvironment<State, Action>(
  tree: SearchTree<State, Action>,
  environment: Environment<State, Action>,
): void {
  if (tree.origin.environment !== environment.name) {
    throw expectation(
      'tree',
      `a tree of the environment '${environment.name}'`,
      tree.origin.environment,
    );
  }
}

/** Identifies a run by the start of its search, and binds its journal to it if the start can be written as JSON. */
export function startAt<State, Action>(
  tree: SearchTree<State, Action>,
  { environment, journal }: CheckedOptions<State, Action>,
  { gate }: Outside,
): void {
  let state: JsonValue;
  try {
    state = expectJson('state', environment.codec?.encode(tree.root.state) ?? tree.root.state);
  } catch {
    return;
  }
  const isFirst = gate.run === undefined;
  gate.run ??= addressOfStart(state);
  if (isFirst && journal !== undefined) startJournal(journal, gate.run);
}
