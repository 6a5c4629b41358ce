import type { z } from 'zod';
import { EspalierError } from '../base/errors.ts';
import { expectation, expectObject } from '../base/expect.ts';
import { isIntact, unsealed } from '../base/seal.ts';

/**
 * The content of a text that may be sealed.
 *
 * @param subject - The text, as the beginning of a sentence.
 * @throws EspalierError `storage` if it was changed, is not JSON, or has an invalid structure.
 */
export function parseSealed<Value>(
  bytes: Buffer,
  { subject, schema }: { readonly subject: string; readonly schema: z.ZodType<Value> },
): Value {
  const intact = isIntact(bytes);
  if (intact === false) throw damaged(subject, 'it is damaged');
  // Without a seal it may be a file of somebody else.
  const unfit = intact === true ? damaged : foreign;
  const text = intact === true ? unsealed(bytes) : bytes.toString();
  const parsed = schema.safeParse(
    parseJson(text, (cause) => unfit(subject, 'it is not JSON', cause)),
  );
  if (parsed.success) return parsed.data;
  throw unfit(subject, firstFault(parsed.error), parsed.error);
}

/** Throws unless a value has the fields of a schema: what is saved without them could not be read again. */
export function expectFields(name: string, value: unknown, schema: z.ZodType): void {
  expectObject(name, value);
  const told = Object.entries(value as object).filter(([, field]) => field !== undefined);
  const { error } = schema.safeParse(Object.fromEntries(told));
  if (error === undefined) return;
  throw expectation(name, `one that can be read again (${firstFault(error)})`, value);
}

function firstFault({ issues: [issue] }: z.ZodError): string {
  const { path = [], message = '' } = issue ?? {};
  const field = path.length === 0 ? '' : `field \`${path.map(String).join('.')}\`: `;
  return `${field}${message.replace(/^Invalid \w+: /, '').replace(', received ', ', got ')}`;
}

function parseJson(text: string, unfit: (cause: unknown) => EspalierError): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unfit(cause);
  }
}

/** The error for what no run has written. */
function foreign(subject: string, what: string, cause?: unknown): EspalierError {
  return new EspalierError(
    'storage',
    `${subject} is not what a run of espalier writes there: ${what}. Name the folder of a run, or restore the file from a copy.`,
    { cause },
  );
}

/** The error for a damaged part of a run folder. */
export function damaged(subject: string, what: string, cause?: unknown): EspalierError {
  return new EspalierError(
    'storage',
    `${subject} cannot be read: ${what}. Restore it from a copy, or delete it.`,
    { cause },
  );
}
