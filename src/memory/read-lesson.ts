import { isPlainObject } from '../base/json.ts';
import type { Completion } from '../contracts/language-model.ts';

/** The lesson in an answer; `undefined` if it is missing, empty or cut off. */
export function readLesson({ text, finishReason }: Completion): string | undefined {
  if (finishReason === 'length' || finishReason === 'refusal') return undefined;
  const lesson = fromJson(text) ?? fromLine(text);
  return lesson === undefined || !/[\p{L}\p{N}]/u.test(lesson) ? undefined : lesson.trim();
}

/** Reads the entire answer as JSON, in a code fence or not. */
function fromJson(text: string): string | undefined {
  const body = text.trim().replace(/^```(?:json)?([\s\S]*)```$/, '$1');
  try {
    const value: unknown = JSON.parse(body);
    const lesson = isPlainObject(value) ? value['lesson'] : undefined;
    return typeof lesson === 'string' ? lesson : undefined;
  } catch {
    return undefined;
  }
}

/** The text after the last marker at the beginning of a line. */
function fromLine(text: string): string | undefined {
  const parts = text.split(/^[ \t>*_#]*lesson[ \t]{0,9}[*_]{0,9}[ \t]{0,9}:[ \t]*[*_]*/im);
  return parts.length < 2 ? undefined : parts.at(-1);
}
