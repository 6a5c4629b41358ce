import { hash } from 'node:crypto';
import { wilsonInterval } from '../../base/stats/wilson-interval.ts';
import { identityOf, type ReadRow, type RowContent, textOf } from '../formats/reading.ts';
import type { AuditSet, RowFault } from './report.ts';
import { marginOf, tokensOf } from './row-checks.ts';

/** Fewer labels than this say nothing of their balance. */
const leastLabels = 20;
/** Below this share, a kind of label is rare. */
const rareShare = 0.1;
/** Above this share, the chosen side is longer too often. */
const biasShare = 0.6;

/** What all rows of a configuration and split have in common. Rows are kept as hashes only. */
export class SetTally {
  /** The forms of the rows. */
  readonly formats: Set<string> = new Set();
  /** The files that were read. */
  files = 0;
  /** The rows that were read. */
  rows = 0;
  readonly #seen = new Set<number>();
  readonly #labels = { right: 0, wrong: 0 };
  readonly #pairs = { count: 0, longer: 0, shorter: 0, ratios: 0 };
  readonly #margins = { count: 0, sum: 0, least: Number.POSITIVE_INFINITY };
  readonly #prompts = { count: 0, sum: 0, most: 0 };

  /** Counts a row. What it repeats or contradicts is told at once. */
  add(row: ReadRow): readonly RowFault[] {
    this.rows += 1;
    this.#countLabels(row);
    this.#countLengths(row);
    const margin = row.kind === 'preference' ? marginOf(row) : undefined;
    if (margin !== undefined) {
      this.#margins.count += 1;
      this.#margins.sum += margin;
      this.#margins.least = Math.min(this.#margins.least, margin);
    }
    return this.#repeated(row);
  }

  /** What is wrong with all rows together. */
  faults(): readonly RowFault[] {
    const faults: RowFault[] = [];
    const { right, wrong } = this.#labels;
    const labels = right + wrong;
    if (labels >= leastLabels && Math.min(right, wrong) / labels < rareShare) {
      faults.push({ code: 'label-balance', excerpt: `${right} of ${labels} labels are positive` });
    }
    const { longer, shorter } = this.#pairs;
    const share = longer / (longer + shorter);
    if (share > biasShare && wilsonInterval(longer, longer + shorter).low > 0.5) {
      const percent = Math.round(share * 100);
      const excerpt = `longer in ${percent} % of ${longer + shorter} pairs`;
      faults.push({ code: 'length-bias', excerpt });
    }
    return faults;
  }

  /** The numbers worth knowing. */
  facts(): AuditSet['facts'] {
    const { right, wrong } = this.#labels;
    const { count, longer, shorter, ratios } = this.#pairs;
    const { low, high } = wilsonInterval(longer, longer + shorter);
    const facts = {
      ...(this.#prompts.count > 0 && {
        'mean prompt, tokens': this.#prompts.sum / this.#prompts.count,
        'longest prompt, tokens': this.#prompts.most,
      }),
      ...(right + wrong > 0 && { 'positive labels, share': right / (right + wrong) }),
      ...(count > 0 && {
        'chosen longer, share': longer / Math.max(1, longer + shorter),
        'chosen longer, low': low,
        'chosen longer, high': high,
        'chosen / rejected length, mean': ratios / count,
      }),
      ...(this.#margins.count > 0 && {
        'mean margin': this.#margins.sum / this.#margins.count,
        'least margin': this.#margins.least,
      }),
    };
    return Object.entries(facts).map(([name, value]) => ({ name, value }));
  }

  #countLabels({ labels = [], rated }: ReadRow): void {
    for (const label of labels) {
      if (label === true || (rated && label === 1)) this.#labels.right += 1;
      if (label === false || (rated && label === -1)) this.#labels.wrong += 1;
    }
  }

  #countLengths({ kind, prompt, chosen, rejected }: ReadRow): void {
    if (prompt !== undefined) {
      const tokens = tokensOf(prompt);
      this.#prompts.count += 1;
      this.#prompts.sum += tokens;
      this.#prompts.most = Math.max(this.#prompts.most, tokens);
    }
    if (kind !== 'preference') return;
    const [better, worse] = [chosen, rejected].map((side) => textOf(side).trim().length);
    if (better === undefined || worse === undefined || better === 0 || worse === 0) return;
    this.#pairs.count += 1;
    this.#pairs.ratios += better / worse;
    if (better > worse) this.#pairs.longer += 1;
    if (better < worse) this.#pairs.shorter += 1;
  }

  #repeated(row: ReadRow): readonly RowFault[] {
    const { prompt, chosen, rejected, steps, labels } = row;
    const context = [identityOf(prompt), steps ?? null, row.context ?? null];
    const excerpt = textOf(chosen) || textOf(prompt);
    const [own, reversed] =
      row.kind === 'preference'
        ? [sides(chosen, rejected), sides(rejected, chosen)]
        : [
            [identityOf(chosen), labels],
            [identityOf(chosen), labels?.map((label) => label !== true)],
          ];
    const key = hashOf([context, own]);
    const opposite = hashOf([context, reversed]);
    const contradicts = this.#seen.has(opposite) && row.kind !== 'stepwise';
    const repeats = this.#seen.has(key);
    this.#seen.add(key);
    if (repeats) return [{ code: 'duplicate', excerpt }];
    return contradicts ? [{ code: 'contradiction', excerpt }] : [];
  }
}

function sides(first: RowContent | undefined, second: RowContent | undefined): unknown {
  return [identityOf(first), identityOf(second)];
}

/** 52 bits of a hash: among a million rows two fall together once in ten thousand datasets. */
export function hashOf(value: unknown): number {
  return Number.parseInt(hash('sha256', JSON.stringify(value)).slice(0, 13), 16);
}
