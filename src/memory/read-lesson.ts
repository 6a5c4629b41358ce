import { isPlainObject } from '../base/json.ts';
import type { Completion } from '../contracts/language-model.ts';

/** The lesson in an answer; `undefined` where there is none, it is empty, or it was cut off. */
export function readLesson({ text, finishReason }: Completion): string | undefined {
  if (finishReason === 'length' || finishReason === 'refusal') return undefined;
  const lesson = fromJson(text) ?? fromLine(text);
  return lesson === undefined || !/[\p{L}\p{N}]/u.test(lesson) ? undefined : lesson.trim();
}

/** The whole answer as JSON, in a fence or not. */
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

/** What stands behind the last marker at the beginning of a line. */
function fromLine(text: string): string | undefined {
  const parts = text.split(/^[ \t>*_#]*lesson[ \t]{0,9}[*_]{0,9}[ \t]{0,9}:[ \t]*[*_]*/im);
  return parts.length < 2 ? undefined : parts.at(-1);
}
