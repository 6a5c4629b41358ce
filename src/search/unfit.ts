import { describeValue } from '../base/expect.ts';
import { hintFor, unknownIn } from '../base/expect-options.ts';
import { jsonComplaint } from '../base/json.ts';
import type { Failure } from '../contracts/failure.ts';

/** Why a value that a plug-in returned cannot be kept: a tree must be savable, and JSON cannot hold everything. */
export function unfit(name: string, told: unknown): Failure | undefined {
  const message = jsonComplaint(name, told);
  return message === undefined ? undefined : { kind: 'invalid', message };
}

/** The sentence about a field that an object from a plug-in should not have: a misspelt one would be ignored in silence. */
export function unknownFieldOf(
  what: string,
  told: object,
  fields: readonly string[],
): string | undefined {
  const unknown = unknownIn(told, fields);
  if (unknown === undefined) return undefined;
  return `${what} has an unknown \`${unknown}\`. ${hintFor(unknown, fields)}`;
}

/** The failure that a plug-in returned, or another one if it is not a valid failure. */
export function failureToldAs(name: string, told: unknown): Failure {
  const fault = unfit(name, told);
  if (fault !== undefined) return fault;
  const { kind, message } = (told ?? {}) as Partial<Failure>;
  if (typeof kind === 'string' && typeof message === 'string') return told as Failure;
  const expected = `Expected \`${name}\` to have a kind and a message`;
  return { kind: 'invalid', message: `${expected}, got ${describeValue(told)}.` };
}
