import { type ReadRow, textOf } from './formats/reading.ts';
import { hashOf } from './hash-table.ts';
import { answerOf } from './known-rows.ts';
import { MinHash, minima } from './min-hash.ts';
import { type Shingled, ShingleReader } from './shingles.ts';

/** From this share of equal minima on, an estimate of Jaccard's similarity, texts are nearly the same. */
const leastAlike = 0.75;
/** How many of the last rows are compared: a power of two. */
const mostRows = 1 << 19;
/** How many rows, or shingles, are buffered at the start until it is known which shingles are common. */
const mostWaiting = { rows: 256, shingles: 1 << 21 };
/** Of each text the minima that make a band; rows that agree in one of the bands are compared. */
const bandSize = 3;
const bands = 10;
/** How many of the rows with the same band hash are compared: the last ones. */
const mostAtHash = 16;

const rowBytes = 2 * minima;

interface Waiting {
  readonly asked: Shingled;
  readonly said: Shingled;
  /** A hash of its labels, or of its right answer: rows that differ there are no duplicates. */
  readonly judged: number;
  readonly problem: number;
  readonly isSteps: boolean;
  readonly isExact: boolean;
  readonly settled: (isNear: boolean) => void;
}

/** What of a row is compared. */
export type ComparedRow = Pick<
  ReadRow,
  'chosen' | 'columns' | 'context' | 'kind' | 'labels' | 'prompt' | 'rejected' | 'steps'
>;

/**
 * Finds rows that are nearly the same as an earlier one that is not: the prompt and the completion agree in three of
 * four shingles of three words each, and in all numbers, labels and right answers. Texts with too few shingles for that
 * must be equal. Time is
 * linear in the text, and memory is bounded: the last half million rows are compared, of each of which 152 bytes are
 * kept.
 */
export class NearDuplicates {
  readonly #askedReader = new ShingleReader();
  readonly #saidReader = new ShingleReader();
  readonly #asked = new MinHash();
  readonly #said = new MinHash();
  #waiting: Waiting[] | undefined = [];
  #waitingShingles = 0;
  #capacity = 1024;
  #bytes = new Uint8Array(this.#capacity * rowBytes);
  /** A hash of the numbers of a row and of its labels, and its problem. */
  #names = new Uint32Array(this.#capacity * 2);
  /** The last row of each band and hash, counted from 1; and of each band and row the one before it with that hash. */
  #last = new Int32Array(this.#capacity * bands);
  #before = new Int32Array(this.#capacity * bands);
  #count = 0;

  /**
   * Looks at the next row.
   *
   * @param problem - A hash of its problem: solutions of one problem, step by step, share their beginnings.
   * @param isExact - Whether it repeats a row exactly, which is reported elsewhere.
   * @param settled - Called once, now or later, in the order of the rows: whether it is nearly the same as one before it.
   */
  look(
    row: ComparedRow,
    { problem, isExact, settled }: Pick<Waiting, 'isExact' | 'problem' | 'settled'>,
  ): void {
    const asked = this.#askedReader.read(askedIn(row));
    const said = this.#saidReader.read(saidIn(row));
    this.#asked.count(asked);
    this.#said.count(said);
    const isSteps = row.kind === 'stepwise';
    const next = { asked, said, judged: judgedIn(row), problem, isExact, settled, isSteps };
    if (this.#waiting === undefined) {
      this.#enter(next);
      return;
    }
    this.#waiting.push({ ...next, asked: copied(asked), said: copied(said) });
    this.#waitingShingles += asked.shingles.length + said.shingles.length;
    const { rows, shingles } = mostWaiting;
    if (this.#waiting.length >= rows || this.#waitingShingles > shingles) this.finish();
  }

  /** Looks at what still waits. */
  finish(): void {
    for (const next of this.#waiting ?? []) this.#enter(next);
    this.#waiting = undefined;
  }

  #enter({ asked, said, judged, problem, isSteps, isExact, settled }: Waiting): void {
    if (this.#count === this.#capacity && this.#capacity < mostRows) this.#grow();
    const slot = this.#count % this.#capacity;
    this.#bytes.set(this.#asked.signatureOf(asked), slot * rowBytes);
    this.#bytes.set(this.#said.signatureOf(said), slot * rowBytes + minima);
    this.#names[2 * slot] = Math.imul(asked.numbers, 31) ^ said.numbers ^ judged;
    this.#names[2 * slot + 1] = problem;
    const isNear = !isExact && this.#hasNear(slot, isSteps);
    // What repeats a row is not compared with later ones: whoever drops it has the same rows left to compare.
    if (!isNear && !isExact) {
      this.#count += 1;
      this.#putIntoBands(slot);
    }
    settled(isNear);
  }

  #hasNear(slot: number, isSteps: boolean): boolean {
    for (let band = 0; band < bands; band++) {
      let other = this.#last[this.#bandOf(slot, band)] ?? 0;
      for (let steps = 0; other > 0 && steps < mostAtHash; steps++) {
        if (other - 1 !== slot && this.#isNear(slot, other - 1, isSteps)) return true;
        other = this.#before[band * this.#capacity + other - 1] ?? 0;
      }
    }
    return false;
  }

  #isNear(slot: number, other: number, isSteps: boolean): boolean {
    const names = this.#names;
    if (names[2 * slot] !== names[2 * other]) return false;
    const isSameProblem = names[2 * slot + 1] === names[2 * other + 1];
    const least = isSteps && isSameProblem ? 1 : leastAlike;
    return [0, minima].every((from) => this.#alike(slot, other, from) >= least);
  }

  #alike(slot: number, other: number, from: number): number {
    const bytes = this.#bytes;
    let equal = 0;
    for (let place = from; place < from + minima; place++) {
      if (bytes[slot * rowBytes + place] === bytes[other * rowBytes + place]) equal += 1;
    }
    return equal / minima;
  }

  #putIntoBands(slot: number): void {
    for (let band = 0; band < bands; band++) {
      const place = this.#bandOf(slot, band);
      this.#before[band * this.#capacity + slot] = this.#last[place] ?? 0;
      this.#last[place] = slot + 1;
    }
  }

  #bandOf(slot: number, band: number): number {
    let key = this.#names[2 * slot] ?? 0;
    const start = slot * rowBytes + band * bandSize;
    for (let place = 0; place < bandSize; place++) {
      key = Math.imul(key ^ (this.#bytes[start + place] ?? 0), 0x01000193);
      key = Math.imul(key ^ (this.#bytes[start + minima + place] ?? 0), 0x01000193);
    }
    key ^= key >>> 15;
    return band * this.#capacity + (key & (this.#capacity - 1));
  }

  #grow(): void {
    const [bytes, names] = [this.#bytes, this.#names];
    this.#capacity *= 2;
    this.#bytes = new Uint8Array(this.#capacity * rowBytes);
    this.#bytes.set(bytes);
    this.#names = new Uint32Array(this.#capacity * 2);
    this.#names.set(names);
    this.#last = new Int32Array(this.#capacity * bands);
    this.#before = new Int32Array(this.#capacity * bands);
    for (let slot = 0; slot < this.#count; slot++) this.#putIntoBands(slot);
  }
}

function copied(read: Shingled): Shingled {
  return { ...read, shingles: read.shingles.slice() };
}

function judgedIn(row: ComparedRow): number {
  const judged = row.kind === 'prompt' ? answerOf(row) : row.labels;
  return judged === undefined ? 0 : hashOf(JSON.stringify(judged));
}

function askedIn({ prompt, context = '' }: ComparedRow): readonly string[] {
  return [textOf(prompt), typeof context === 'string' ? context : JSON.stringify(context)];
}

function saidIn({ chosen, rejected, steps = [] }: ComparedRow): readonly string[] {
  const said = steps.filter((step) => typeof step === 'string');
  return [textOf(chosen), textOf(rejected), said.join('\n')];
}
