import type { Message } from '../../contracts/language-model.ts';

/** What a message says, in pieces. */
export interface Pieces {
  /** Together they are the text. None is blank. */
  readonly texts: readonly string[];
  /** How many of them, at the end, are for one request alone: 0 or 1. */
  readonly tail: number;
}

/** What a message says, in pieces that come back in other requests, and one that does not. */
export function piecesOf({
  content,
  prefixEnds = [],
}: Pick<Message, 'content' | 'prefixEnds'>): Pieces {
  const texts: string[] = [];
  let start = 0;
  for (const end of [...prefixEnds, content.length]) {
    const text = content.slice(start, end);
    // A blank one is the beginning of what follows: some servers refuse blank texts.
    if (text.trim() === '') continue;
    texts.push(text);
    start = end;
  }
  const last = texts.pop();
  if (last === undefined) return { texts, tail: 0 };
  const rest = content.slice(prefixEnds.at(-1) ?? content.length);
  return { texts: [...texts, last + content.slice(start)], tail: rest.trim() === '' ? 0 : 1 };
}
