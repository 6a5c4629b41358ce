import { EspalierError } from '../base/errors.ts';
import { describeValue, expectInteger, expectNumber, expectOneOf } from '../base/expect.ts';
import { nearestName } from '../base/nearest-name.ts';

/** Reads a whole number from `min` up, or says what was expected of the option. */
export function integerOption(name: string, min = 1): (text: string) => number {
  return (text) => {
    const value = numberIn(text);
    expectInteger(`--${name}`, value, { min });
    return value as number;
  };
}

/** Reads a number from 0 up, or says what was expected of the option. */
export function numberOption(name: string): (text: string) => number {
  return (text) => {
    const value = numberIn(text);
    expectNumber(`--${name}`, value, { min: 0 });
    return value as number;
  };
}

/** Reads one of a few words, or says which. */
export function wordOption<Word extends string>(
  name: string,
  words: readonly Word[],
): (text: string) => Word {
  return (text) => {
    expectWord(`--${name}`, text, words);
    return text as Word;
  };
}

/** Throws unless a text is one of a few words, and names the one that was most likely meant. */
export function expectWord(name: string, text: string, words: readonly string[]): void {
  const meant = words.includes(text) ? undefined : nearestName(text, words);
  if (meant === undefined) {
    expectOneOf(name, text, words);
    return;
  }
  throw new EspalierError(
    'usage',
    `Unknown value ${describeValue(text)} of \`${name}\`. Did you mean \`${meant}\`?`,
  );
}

/** Reads a seed, which may be a number or any other text. */
export function seedOption(text: string): number | string {
  const value = numberIn(text);
  return typeof value === 'number' && Number.isFinite(value) ? value : text;
}

/** The number that a text is; the text itself where it is none. */
function numberIn(text: string): number | string {
  const value = Number(text);
  return text.trim() === '' || Number.isNaN(value) ? text : value;
}
