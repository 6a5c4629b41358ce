import { mixed, type Shingled } from './shingles.ts';

/** The minima that a signature holds, eight bits of each. */
export const minima = 32;
/** The number of buckets for counting how common shingles are: a power of two. */
const countedApart = 1 << 18;
/** The number of texts, from the first one on, that determine which shingles are common. */
const mostCounted = 1 << 16;
/** What occurs in more than this share of the texts, and in at least this number of them, is the form of a question and not its matter. */
const commonShare = 0.2;
const leastCommon = 16;
/** Of fewer shingles than these, one that differs leaves less than three quarters alike: such texts must be equal. */
const fewestCompared = 7;

/**
 * Makes signatures of texts: MinHash by one permutation whose values are parted into bins. Shingles that are common to
 * many of the first texts, such as instructions, are passed over.
 *
 * @see Broder, "On the resemblance and containment of documents", 1997; Li, Owen and Zhang, "One permutation hashing",
 * 2012; Shrivastava and Li, "Densifying one permutation hashing via rotation for fast near neighbor search", 2014.
 */
export class MinHash {
  readonly #counts = new Uint32Array(countedApart);
  readonly #bins = new Uint32Array(minima);
  #texts = 0;

  /** Counts the shingles of a text. */
  count({ shingles }: Shingled): void {
    if (this.#texts === mostCounted) return;
    this.#texts += 1;
    for (const shingle of shingles) {
      const place = shingle & (countedApart - 1);
      this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    }
  }

  /** The signature of a text: equal texts have equal ones. */
  signatureOf({ shingles, text }: Shingled): Uint8Array {
    let compared = 0;
    const bins = this.#bins.fill(empty);
    const most = Math.max(leastCommon, this.#texts * commonShare);
    for (const shingle of shingles) {
      if ((this.#counts[shingle & (countedApart - 1)] ?? 0) > most) continue;
      compared += 1;
      const value = mixed(shingle ^ 0x5bd1e995);
      const bin = shingle >>> 27;
      if (value < (bins[bin] ?? 0)) bins[bin] = value;
    }
    return compared < fewestCompared ? spread(text) : densified(bins);
  }
}

const empty = 0xffffffff;

/** The signature of a text that only an equal one is like. */
function spread(text: number): Uint8Array {
  return Uint8Array.from({ length: minima }, (_, bin) => mixed(text + bin));
}

/** An empty bin takes the value of the next one that is not, changed by how far that is. */
function densified(bins: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(minima);
  for (let bin = 0; bin < minima; bin++) {
    let steps = 0;
    while (bins[(bin + steps) % minima] === empty) steps += 1;
    const value = bins[(bin + steps) % minima] ?? 0;
    bytes[bin] = steps === 0 ? value : mixed(value + steps);
  }
  return bytes;
}
