import type { Random } from '../contracts/context.ts';

/**
 * A source of random numbers that depends only on its seed, on every platform.
 *
 * The generator is sfc32 (Chris Doty-Humphrey's Small Fast Counter, 2010); its 128-bit start is mixed from the seed and
 * the labels of every `split`, so that streams do not depend on the order of use.
 */
export function seededRandom(seed: number | string = 0): Random {
  return new Sfc32([0x9e3779b9, 0x243f6a88, 0xb7e15162, 0x85ebca6b], []).split(seed);
}

/** The 128 bits that identify a stream. */
type Key = readonly [number, number, number, number];

/** A stream that is initialised on first use, because most streams are never used. */
class Sfc32 implements Random {
  readonly #origin: Key | Sfc32;
  readonly #labels: readonly (string | number)[];
  #key: Key | undefined;
  #state: Int32Array | undefined;

  constructor(origin: Key | Sfc32, labels: readonly (string | number)[]) {
    this.#origin = origin;
    this.#labels = labels;
  }

  next(): number {
    const high = this.#bits() >>> 5;
    const low = this.#bits() >>> 6;
    return (high * 0x4000000 + low) / 0x20000000000000;
  }

  integer(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  split(...labels: readonly (string | number)[]): Random {
    return new Sfc32(this, labels);
  }

  #bits(): number {
    this.#state ??= start(this.#name());
    return step(this.#state);
  }

  /** It does not change as numbers are drawn, so a split gives the same stream at any time. */
  #name(): Key {
    if (this.#key === undefined) {
      const origin = this.#origin instanceof Sfc32 ? this.#origin.#name() : this.#origin;
      this.#key = mix(origin, this.#labels);
    }
    return this.#key;
  }
}

function mix(origin: Key, labels: readonly (string | number)[]): Key {
  let [a, b, c, d] = origin;
  const absorb = (word: number) => {
    a = Math.imul(a ^ word, 0x9e3779b1);
    b = Math.imul(b ^ rotate(a, 15), 0x85ebca77);
    c = Math.imul(c ^ rotate(b, 13), 0xc2b2ae3d);
    d = Math.imul(d ^ rotate(c, 17), 0x27d4eb2f);
    a ^= rotate(d, 11);
  };
  for (const label of labels) absorbLabel(label, absorb);
  return [a, b, c, d];
}

function start(key: Key): Int32Array {
  const state = Int32Array.from(key);
  for (let round = 0; round < 12; round++) step(state);
  return state;
}

function step(state: Int32Array): number {
  const [a = 0, b = 0, c = 0, counter = 0] = state;
  const output = (a + b + counter) | 0;
  state[0] = b ^ (b >>> 9);
  state[1] = (c + (c << 3)) | 0;
  state[2] = (rotate(c, 21) + output) | 0;
  state[3] = (counter + 1) | 0;
  return output;
}

const endOfNumber = 2;
/** Beyond all character codes, so no text can contain it. */
const endOfText = 0x10003;

/** Feeds a label word by word, ended by its kind, so that 1 and '1', or 'ab','c' and 'a','bc', differ. */
function absorbLabel(label: string | number, absorb: (word: number) => void): void {
  if (typeof label === 'number' && Number.isSafeInteger(label)) {
    absorb(label | 0);
    absorb(Math.floor(label / 0x100000000) | 0);
    absorb(1);
    return;
  }
  const text = String(label);
  for (let index = 0; index < text.length; index++) absorb(text.charCodeAt(index));
  absorb(typeof label === 'number' ? endOfNumber : endOfText);
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
