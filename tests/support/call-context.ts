import { seededRandom } from '../../src/base/random.ts';
import type { CallContext } from '../../src/contracts/context.ts';

/** A call context without a search around it: effects just run, and models are out of reach. */
export function callContext(changes: Partial<CallContext> = {}): CallContext {
  const signal = new AbortController().signal;
  const clock = { now: () => 0, sleep: () => Promise.resolve() };
  const unreachable = () => Promise.reject(new Error('There is no model in this test.'));
  return {
    signal,
    clock,
    random: seededRandom('tests'),
    generate: unreachable,
    score: unreachable,
    decide: unreachable,
    embed: unreachable,
    effect: (_effect, _input, run) => run({ signal, clock }),
    ...changes,
  };
}
