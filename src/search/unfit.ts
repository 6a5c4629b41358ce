import { describeValue } from '../base/expect.ts';
import { jsonComplaint } from '../base/json.ts';
import type { Failure } from '../contracts/failure.ts';

/** Why what a plug-in returned cannot be kept: a tree is to be saved, and JSON cannot hold everything. */
export function unfit(name: string, told: unknown): Failure | undefined {
  const message = jsonComplaint(name, told);
  return message === undefined ? undefined : { kind: 'invalid', message };
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
