/** Converts text to tokens and tokens to text. */
export interface Tokenizer {
  /** The tokens with a name: control tokens, those a model's author added, and the unknown token. */
  readonly specials: readonly string[];
  /** The text of the start token; empty if there is none. */
  readonly bos: string;
  /** The text of the end token; empty if there is none. */
  readonly eos: string;
  /**
   * The tokens of a text, with special tokens for their names. A `guard` is a character that prevents the text around
   * it from being such a name, and is then removed.
   */
  encode(text: string, guard?: string): readonly number[];
  /** Whether a text ends before this token, because it is a control token. */
  isEnd(token: number): boolean;
  /**
   * The name of a token in log-probabilities: its text; the name of a special token; and `<0xNN>` for a byte that is
   * not a character by itself, or that has a separate token.
   */
  nameOf(token: number): string;
  /** Assembles the text after a prompt, token by token. */
  writer(prompt: readonly number[]): TextWriter;
}

/** Assembles a text, token by token. */
export interface TextWriter {
  /** The text that a token adds. The bytes of an incomplete character are held back. */
  write(token: number): string;
}

/** Finds the names of special tokens, the longest first. */
export function patternOf(specials: ReadonlyMap<string, number>): RegExp {
  const names = [...specials.keys()].toSorted((a, b) => b.length - a.length);
  const escaped = names.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return new RegExp(names.length === 0 ? '$^' : escaped.join('|'), 'gu');
}

/** Splits a text into special tokens and the non-empty texts between them. A `guard` prevents a name from counting. */
export function* cutAtSpecials(
  text: string,
  {
    specials,
    specialNames,
    guard,
  }: {
    readonly specials: ReadonlyMap<string, number>;
    readonly specialNames: RegExp;
    readonly guard: string | undefined;
  },
): Generator<number | string> {
  const plain = (piece: string) => (guard === undefined ? piece : piece.replaceAll(guard, ''));
  let end = 0;
  for (const { 0: name, index } of text.matchAll(specialNames)) {
    const between = plain(text.slice(end, index));
    if (between !== '') yield between;
    yield specials.get(name) ?? 0;
    end = index + name.length;
  }
  const rest = plain(text.slice(end));
  if (rest !== '') yield rest;
}
