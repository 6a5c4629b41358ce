import type { GenerateRequest } from '../../contracts/language-model.ts';

/**
 * Whether what has come of an answer holds all that will be left of it: a stop text stands in it, and none that begins
 * before that one can still come.
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
 * Says when an answer that is streamed is over although its server writes on: as soon as a stop text has come that the server
 * was not told of, or takes no notice of. `undefined` if it is to come whole: where tools may be called behind what it
 * says.
 *
 * @param told - The beginning of the answer that the model was told. It may repeat that, which is no part of the answer.
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
