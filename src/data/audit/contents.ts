import { isPlainObject } from '../../base/json.ts';
import type { RowContent, RowTurn } from '../formats/reading.ts';

/** The turns of a conversation; none of a text. */
export function turnsOf(content: RowContent | undefined): readonly RowTurn[] {
  return content === undefined || typeof content === 'string' ? [] : content;
}

/** The texts that a turn says: its content, or those of its parts. */
export function textsIn({ content }: RowTurn): readonly string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown): readonly string[] => {
    if (typeof part === 'string') return [part];
    const text = isPlainObject(part) ? part['text'] : undefined;
    return typeof text === 'string' ? [text] : [];
  });
}

/** Whether a text has only white space and invisible characters. */
export function isBlank(text: string): boolean {
  return /^[\s\p{Cf}\u2800\u3164]*$/u.test(text);
}
