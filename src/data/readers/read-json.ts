import type { z } from 'zod';
import { EspalierError } from '../../spec/errors.ts';

/** Where a document stands. */
export interface Place {
  /** The file or the format, as it is called in a sentence. */
  readonly name: string;
  /** The line, from 1; left out where the document is a whole file. */
  readonly line?: number;
}

/** A line of a file that is not empty. */
export interface Line {
  /** Its number, from 1. */
  readonly line: number;
  /** What it holds. */
  readonly text: string;
}

/** The lines of a text that are not empty. */
export function linesOf(text: string): readonly Line[] {
  return text.split('\n').flatMap((each, index): readonly Line[] => {
    const trimmed = each.trim();
    return trimmed === '' ? [] : [{ line: index + 1, text: trimmed }];
  });
}

/**
 * A JSON document that must have a shape.
 *
 * @throws EspalierError `usage`, naming the line and the field.
 */
export function readDocument<Shape>(text: string, schema: z.ZodType<Shape>, place: Place): Shape {
  const parsed = schema.safeParse(parseJson(text, place));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw unreadable(place, issue?.path ?? [], issue?.message ?? 'it has another shape');
}

/** What is wrong with a document, in one sentence. */
export function unreadable(
  { name, line }: Place,
  path: readonly PropertyKey[],
  what: string,
): EspalierError {
  const where = line === undefined ? '' : `line ${line}, `;
  const field = path.length === 0 ? 'the whole' : `field \`${path.map(String).join('.')}\``;
  return new EspalierError('usage', `The ${name} cannot be read: ${where}${field}: ${what}.`);
}

function parseJson(text: string, place: Place): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { name, line } = place;
    const where = line === undefined ? 'it' : `line ${line}`;
    const message = `The ${name} cannot be read: ${where} is not JSON. Was the file cut off?`;
    throw new EspalierError('usage', message, { cause });
  }
}
