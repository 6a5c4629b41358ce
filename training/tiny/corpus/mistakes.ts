import type { Failure, Random } from 'espalier';
import { type Position, pick } from './example.ts';

/** A step that is wrong, and what the notation says of it. */
export interface Mistake {
  readonly wrong: string;
  readonly failure: Failure;
}

/** A legal step with one number or name changed, so that the notation refuses it. */
export function mistake<State, Action>(
  random: Random,
  { notation, state, outlook }: Position<State, Action>,
): Mistake | undefined {
  for (let attempt = 0; attempt < 20; attempt++) {
    const wrong = spoil(random, pick(random, outlook.legal));
    const outcome = notation.parse(wrong, state);
    if ('failure' in outcome) return { wrong, failure: outcome.failure };
  }
  return undefined;
}

function spoil(random: Random, step: string): string {
  const words = step.split(/(\d+|\b[a-z]\b)/);
  const places = words.flatMap((_word, place) => (place % 2 === 1 ? [place] : []));
  const place = pick(random, places);
  const word = words[place] ?? '';
  const number = Number(word);
  words[place] = Number.isNaN(number)
    ? pick(random, ['a', 'b', 'c', 'd', 'e'])
    : String(Math.max(0, number + pick(random, [-10, -2, -1, 1, 2, 10])));
  return words.join('');
}
