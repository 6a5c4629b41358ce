import type { z } from 'zod';
import { EspalierError } from '../base/errors.ts';
import { isIntact, unsealed } from '../base/seal.ts';

/**
 * What a text says that may be sealed.
 *
 * @param subject - The text as a sentence begins with it.
 * @throws EspalierError `storage` where it is not as it was written, no JSON, or of another shape.
 */
export function parseSealed<Value>(
  bytes: Buffer,
  { subject, schema }: { readonly subject: string; readonly schema: z.ZodType<Value> },
): Value {
  const intact = isIntact(bytes);
  if (intact === false) throw damaged(subject, 'it is not as it was written');
  const parsed = schema.safeParse(
    parseJson(intact === true ? unsealed(bytes) : bytes.toString(), subject),
  );
  if (parsed.success) return parsed.data;
  const [{ path = [], message = '' } = {}] = parsed.error.issues;
  const field = path.length === 0 ? '' : `field \`${path.map(String).join('.')}\`: `;
  throw damaged(subject, `${field}${message.replace(/^Invalid input: /, '')}`, parsed.error);
}

function parseJson(text: string, subject: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw damaged(subject, 'it is not JSON', cause);
  }
}

/** What is wrong with a part of a run folder. */
export function damaged(subject: string, what: string, cause?: unknown): EspalierError {
  return new EspalierError(
    'storage',
    `${subject} cannot be read: ${what}. Restore it from a copy, or delete it.`,
    { cause },
  );
}
