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

/** Reads an option, and knows the words that shells offer for it. */
export type WordParser<Parse> = Parse & { readonly words: readonly string[] };

/** A parser that knows its words. */
export function withWords<Parse extends (...given: never) => unknown>(
  parse: Parse,
  words: readonly string[],
): WordParser<Parse> {
  return Object.assign(parse, { words });
}

/** Reads one of a few words, or says which. */
export function wordOption<Word extends string>(
  name: string,
  words: readonly Word[],
): WordParser<(text: string) => Word> {
  return withWords((text: string) => {
    expectWord(`--${name}`, text, words);
    return text as Word;
  }, words);
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

/** The number in a text; the text itself if it is not a finite number. */
function numberIn(text: string): number | string {
  const value = Number(text);
  return text.trim() === '' || !Number.isFinite(value) ? text : value;
}
