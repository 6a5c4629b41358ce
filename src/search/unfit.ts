import { describeValue } from '../base/expect.ts';
import { jsonFault } from '../base/json.ts';
import type { Failure } from '../contracts/failure.ts';

/** Why what a plug-in returned cannot be kept: a tree is to be saved, and JSON cannot hold everything. */
export function unfit(name: string, told: unknown): Failure | undefined {
  const fault = jsonFault(told);
  if (fault === undefined) return undefined;
  const path = [name, ...fault.path].join('.');
  const message = `Expected \`${name}\` to be JSON, got ${fault.what} at \`${path}\`.`;
  return { kind: 'invalid', message };
}

/** The failure that a plug-in told; another one where what it told is none. */
export function failureToldAs(name: string, told: unknown): Failure {
  const fault = unfit(name, told);
  if (fault !== undefined) return fault;
  const { kind, message } = (told ?? {}) as Partial<Failure>;
  if (typeof kind === 'string' && typeof message === 'string') return told as Failure;
  const expected = `Expected \`${name}\` to have a kind and a message`;
  return { kind: 'invalid', message: `${expected}, got ${describeValue(told)}.` };
}
