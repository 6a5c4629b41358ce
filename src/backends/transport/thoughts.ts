import type { Completion, TokenLogprob } from '../../contracts/language-model.ts';

const [opening, closing] = ['<think>', '</think>'];

/**
 * An answer without the preceding thoughts between `<think>` and `</think>`. The first mark may be missing, if a chat
 * template has written it, and the second, if the answer was cut off: then everything is thought.
 */
export function withoutThoughts(
  written: Pick<Completion, 'logprobs' | 'text'>,
): Pick<Completion, 'logprobs' | 'reasoning' | 'text'> {
  const { text: whole } = written;
  const isOpened = whole.trimStart().startsWith(opening);
  const end = whole.indexOf(closing);
  const isClosed = end >= 0 && (isOpened || !whole.slice(0, end).includes(opening));
  if (!isOpened && !isClosed) return written;
  const begin = isOpened ? whole.indexOf(opening) + opening.length : 0;
  const reasoning = whole.slice(begin, isClosed ? end : undefined).trim();
  const text = isClosed ? whole.slice(end + closing.length).trimStart() : '';
  const logprobs = tokensOf(text, written.logprobs);
  return {
    text,
    ...(reasoning !== '' && { reasoning }),
    ...(logprobs !== undefined && { logprobs }),
  };
}

/** The last tokens that make up a text; `undefined` if it begins within one. */
function tokensOf(
  text: string,
  tokens: readonly TokenLogprob[] | undefined,
): readonly TokenLogprob[] | undefined {
  if (tokens === undefined) return undefined;
  let place = tokens.length;
  let end = '';
  while (end.length < text.length && place > 0) end = (tokens[--place]?.token ?? '') + end;
  return end === text ? tokens.slice(place) : undefined;
}
