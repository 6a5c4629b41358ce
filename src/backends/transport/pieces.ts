import type { Message } from '../../contracts/language-model.ts';

/** The content of a message, in pieces. */
export interface Pieces {
  /** Together they are the text. None is blank. */
  readonly texts: readonly string[];
  /** The number of pieces at the end that only this request contains: 0 or 1. */
  readonly tail: number;
}

/** The content of a message in pieces that recur in other requests, and one that does not. */
export function piecesOf({
  content,
  prefixEnds = [],
}: Pick<Message, 'content' | 'prefixEnds'>): Pieces {
  const texts: string[] = [];
  let start = 0;
  for (const end of [...prefixEnds, content.length]) {
    const text = content.slice(start, end);
    // A blank piece is joined to the next one, because some servers refuse blank texts.
    if (text.trim() === '') continue;
    texts.push(text);
    start = end;
  }
  const last = texts.pop();
  if (last === undefined) return { texts, tail: 0 };
  const rest = content.slice(prefixEnds.at(-1) ?? content.length);
  return { texts: [...texts, last + content.slice(start)], tail: rest.trim() === '' ? 0 : 1 };
}
