import { Heap } from '../../base/heap.ts';

/** The tokens that text can be merged into. */
export interface Merges {
  /** The token of each piece of text that is one. */
  readonly tokens: ReadonlyMap<string, number>;
  /** The score of a token; higher ones are merged first. */
  readonly scoreOf: (token: number) => number;
}

/**
 * Cuts a text into pieces as SentencePiece's byte-pair encoding does: it starts with the characters and repeatedly
 * joins the two neighbours whose union is the token with the highest score, ties going to the leftmost. A piece that is
 * not a token is a single character.
 *
 * @see Kudo and Richardson, "SentencePiece: A simple and language independent subword tokenizer and detokenizer for
 * Neural Text Processing", 2018.
 */
export function mergedPieces(text: string, merges: Merges): readonly string[] {
  const symbols = new Symbols(text);
  const queue = new Heap<Merge>(isBefore);
  const offer = (left: number): void => {
    const right = symbols.next(left);
    if (right === undefined) return;
    const piece = symbols.join(left, right);
    const token = merges.tokens.get(piece);
    if (token === undefined) return;
    queue.push({ score: merges.scoreOf(token), left, right, length: piece.length });
  };
  for (let symbol = 0; symbol < symbols.count; symbol++) offer(symbol);
  for (let merge = queue.pop(); merge !== undefined; merge = queue.pop()) {
    const { left, right, length } = merge;
    // One of the two may have become part of another symbol in the meantime.
    if (symbols.next(left) !== right || symbols.join(left, right).length !== length) continue;
    symbols.merge(left, right);
    const before = symbols.previous(left);
    if (before !== undefined) offer(before);
    offer(left);
  }
  return symbols.pieces();
}

/** The characters of a text, as a linked list in which neighbours can be joined. */
class Symbols {
  readonly count: number;
  readonly #text: string;
  readonly #start: Int32Array;
  /** 0 if a symbol has become part of the one before it. */
  readonly #length: Int32Array;
  readonly #next: Int32Array;
  readonly #previous: Int32Array;

  constructor(text: string) {
    const characters = Array.from(text);
    this.count = characters.length;
    this.#text = text;
    this.#start = new Int32Array(this.count);
    this.#length = Int32Array.from(characters, (character) => character.length);
    this.#next = Int32Array.from(characters, (_, place) => place + 1);
    this.#previous = Int32Array.from(characters, (_, place) => place - 1);
    let start = 0;
    for (let symbol = 0; symbol < this.count; symbol++) {
      this.#start[symbol] = start;
      start += this.#lengthOf(symbol);
    }
  }

  next(symbol: number): number | undefined {
    const next = this.#next[symbol] ?? this.count;
    return this.#lengthOf(symbol) === 0 || next === this.count ? undefined : next;
  }

  previous(symbol: number): number | undefined {
    const previous = this.#previous[symbol] ?? -1;
    return previous < 0 ? undefined : previous;
  }

  /** The text of two neighbours. */
  join(left: number, right: number): string {
    const start = this.#start[left] ?? 0;
    return this.#text.slice(start, start + this.#lengthOf(left) + this.#lengthOf(right));
  }

  merge(left: number, right: number): void {
    const after = this.#next[right] ?? this.count;
    this.#length[left] = this.#lengthOf(left) + this.#lengthOf(right);
    this.#length[right] = 0;
    this.#next[left] = after;
    if (after < this.count) this.#previous[after] = left;
  }

  pieces(): readonly string[] {
    const pieces: string[] = [];
    for (let symbol = 0; symbol < this.count; symbol = this.#next[symbol] ?? this.count) {
      const start = this.#start[symbol] ?? 0;
      pieces.push(this.#text.slice(start, start + this.#lengthOf(symbol)));
    }
    return pieces;
  }

  #lengthOf(symbol: number): number {
    return this.#length[symbol] ?? 0;
  }
}

interface Merge {
  readonly score: number;
  readonly left: number;
  readonly right: number;
  /** The length of the union, by which an outdated merge is recognised. */
  readonly length: number;
}

/** Highest score first, ties going to the leftmost. */
function isBefore(one: Merge, other: Merge): boolean {
  return one.score > other.score || (one.score === other.score && one.left < other.left);
}
