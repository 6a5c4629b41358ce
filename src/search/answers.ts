import { EspalierError } from '../base/errors.ts';
import { describeValue, expectOneOf, gotten } from '../base/expect.ts';

/** For callers without types: an unintended return value must not end a search. */
export function expectAnswer({ name }: { readonly name: string }, answer: unknown): void {
  if (typeof answer === 'boolean' || answer === 'solved') return;
  // Conditions often come from our own factories, whose functions have no name once bundled.
  // A function written into the options has the name of the option.
  const isUnnamed = name === '' || name === 'stopWhen' || typeof answer === 'function';
  const which = isUnnamed ? 'a condition' : `the condition \`${name}\``;
  const got = gotten(answer, undefined, 'stopWhen');
  const message = `Expected ${which} of \`stopWhen\` to return true, false or 'solved', ${got}`;
  throw new EspalierError('usage', message);
}

const units = ['calls', 'ms', 'nodes', 'simulations', 'tokens', 'usd'] as const;
const outcomes: readonly unknown[] = ['continue', 'waiting', 'exhausted', 'solved'];

/** For callers without types: with a misspelt outcome, a search that should end would continue. */
export function expectOutcome(outcome: unknown): void {
  if (outcomes.includes(outcome)) return;
  const { reserved } = Object(outcome) as { readonly reserved?: unknown };
  if (reserved !== undefined) {
    expectOneOf('reserved', reserved, units);
    return;
  }
  const got = describeValue(outcome);
  const message = `Expected a simulation to return 'continue', 'waiting', 'exhausted', 'solved' or { reserved }, got ${got}.`;
  throw new EspalierError('usage', message);
}
