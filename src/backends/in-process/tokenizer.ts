/** Turns text into tokens and tokens into text. */
export interface Tokenizer {
  /** The tokens with a name: control tokens, those a model's author added, and the unknown token. */
  readonly specials: readonly string[];
  /** The text of the token that starts a text; empty if there is none. */
  readonly bos: string;
  /** The text of the token that ends one; empty if there is none. */
  readonly eos: string;
  /**
   * The tokens of a text, with special tokens where their names stand in it. A `guard` is a character
   * that keeps what it stands in from being such a name, and is then left out.
   */
  encode(text: string, guard?: string): readonly number[];
  /** Whether a text ends before this token: it is a control token. */
  isEnd(token: number): boolean;
  /**
   * A token as a log-probability names it: its text; the name of a special token; and `<0xNN>` for a byte
   * that is no character of its own, or one that has a token beside.
   */
  nameOf(token: number): string;
  /** Puts the text behind a prompt together, token by token. */
  writer(prompt: readonly number[]): TextWriter;
}

/** Puts a text together, token by token. */
export interface TextWriter {
  /** What a token adds. The bytes of an unfinished character are held back. */
  write(token: number): string;
}

/** Finds the names of special tokens, the longest first. */
export function patternOf(specials: ReadonlyMap<string, number>): RegExp {
  const names = [...specials.keys()].toSorted((a, b) => b.length - a.length);
  const escaped = names.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return new RegExp(names.length === 0 ? '$^' : escaped.join('|'), 'gu');
}

/** A text as special tokens, and what stands between them, which is never empty. A `guard` keeps a name from being one. */
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
