import type { GenerateRequest } from '../../contracts/language-model.ts';

/**
 * Whether the part of an answer that has arrived contains everything that will be kept: it contains a stop text, and no
 * earlier one can still arrive.
 */
export function endsAtStop(text: string, stop: readonly string[]): boolean {
  const stops = stop.filter((end) => end !== '');
  const places = stops.map((end) => text.indexOf(end)).filter((place) => place >= 0);
  if (places.length === 0) return false;
  const first = Math.min(...places);
  const isHalf = (end: string) => {
    const from = Math.max(0, text.length - end.length + 1);
    for (let place = from; place < first; place++) {
      if (end.startsWith(text.slice(place))) return true;
    }
    return false;
  };
  return !stops.some(isHalf);
}

/**
 * Decides when a streamed answer is over although its server is still writing: as soon as a stop text has arrived that
 * the server did not get, or ignores. `undefined` if the answer must be complete, because tool calls may follow its
 * text.
 *
 * @param told - The partial answer that the model got in the question. It may repeat that, which is not part of the
 * answer.
 */
export function overAtStop(
  { stop = [], tools = [] }: Pick<GenerateRequest, 'stop' | 'tools'>,
  told: string = '',
): ((text: string) => boolean) | undefined {
  if (tools.length > 0 || stop.length === 0) return undefined;
  return (text) => {
    if (told.startsWith(text)) return false;
    return endsAtStop(text.startsWith(told) ? text.slice(told.length) : text, stop);
  };
}
