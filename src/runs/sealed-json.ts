import type { z } from 'zod';
import { EspalierError } from '../base/errors.ts';
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

/** The error for a damaged part of a run folder. */
export function damaged(subject: string, what: string, cause?: unknown): EspalierError {
  return new EspalierError(
    'storage',
    `${subject} cannot be read: ${what}. Restore it from a copy, or delete it.`,
    { cause },
  );
}
