import { wilsonInterval } from '../../base/stats/wilson-interval.ts';
import { distinctCounter } from '../distinct-count.ts';
import { type ReadRow, textOf } from '../formats/reading.ts';
import { hashesOf, KnownRows, type RowHashes } from '../known-rows.ts';
import { pairDepths } from '../pair-depths.ts';
import type { RowTokens } from './lengths.ts';
import type { AuditSet, RowFault } from './report.ts';
import { marginOf } from './row-checks.ts';
import { WholeSet } from './whole-set.ts';

/** Below this share, a kind of label is rare. */
const rareShare = 0.1;
/** Above this share, one side is longer too often. */
const biasShare = 0.6;
/** Below this mean of chosen to rejected length, it is no chance that right answers are shorter. */
const muchShorter = 0.5;

/** What all rows of a configuration and split have in common. Rows are kept as hashes only. */
export class SetTally {
  /** The forms of the rows. */
  readonly formats: Set<string> = new Set();
  /** The files that were read. */
  files = 0;
  /** The rows that were read. */
  rows = 0;
  readonly #known = new KnownRows();
  readonly #whole = new WholeSet();
  readonly #labels = { right: 0, wrong: 0 };
  readonly #pairs = { count: 0, longer: 0, shorter: 0, ratios: 0 };
  readonly #margins = new Numbers();
  readonly #depths = pairDepths();
  readonly #tokens = new Map<string, Numbers>();
  readonly #distinct = new Map<string, ReturnType<typeof distinctCounter>>();

  /** Counts a row, and reports at once what it repeats or contradicts. */
  add(row: ReadRow, tokens: RowTokens): readonly RowFault[] {
    this.rows += 1;
    this.#whole.add(row);
    this.#countLabels(row);
    const hashes = hashesOf(row);
    this.#countTexts(row, tokens, hashes);
    if (row.kind === 'preference') this.#countPair(row);
    const code = row.repeats === true ? undefined : this.#known.add(row, hashes);
    return code === undefined ? [] : [{ code, excerpt: textOf(row.chosen) || textOf(row.prompt) }];
  }

  /** What is wrong with all rows together. */
  faults(isTraining: boolean): readonly RowFault[] {
    const faults: RowFault[] = [...this.#whole.faults(isTraining)];
    const { right, wrong } = this.#labels;
    const labels = right + wrong;
    if (labels > 1 && Math.min(right, wrong) / labels < rareShare) {
      faults.push({ code: 'label-balance', excerpt: `${right} of ${labels} labels are positive` });
    }
    const bias = this.#lengthBias();
    if (bias !== undefined) faults.push({ code: 'length-bias', excerpt: bias });
    const { count: margins, least, most } = this.#margins;
    if (margins > 1 && least === 0 && most === 0) {
      faults.push({ code: 'zero-margin', excerpt: `${margins} margins` });
    }
    const idle = this.#depths.idle();
    if (idle !== undefined) {
      const { pairs, last, wrongWrong } = idle;
      const excerpt = `of ${pairs} pairs, ${last} are between last steps, and ${wrongWrong} others are wrong against wrong`;
      faults.push({ code: 'idle-pairs', excerpt });
    }
    return faults;
  }

  /** Chosen is longer too often; or rejected is, and much longer: right answers are often the shorter ones. */
  #lengthBias(): string | undefined {
    const { longer, shorter, count, ratios } = this.#pairs;
    const all = longer + shorter;
    const isRejected = shorter > longer && ratios / count < muchShorter;
    const more = isRejected ? shorter : longer;
    if (!(more / all > biasShare) || wilsonInterval(more, all).low <= 0.5) return undefined;
    const side = isRejected ? 'rejected' : 'chosen';
    return `${side} is longer in ${Math.round((more / all) * 100)} % of ${all} pairs of unequal length`;
  }

  /** The pairs by depth, where rows say at which they part. */
  depths(): AuditSet['depths'] {
    return this.#depths.report();
  }

  /** The numbers worth knowing. */
  facts(): AuditSet['facts'] {
    const { right, wrong } = this.#labels;
    const { count, longer, shorter, ratios } = this.#pairs;
    const { low, high } = wilsonInterval(longer, longer + shorter);
    const facts: (readonly [string, number])[] = [];
    for (const [part, counter] of this.#distinct) facts.push([`distinct ${part}`, counter.count()]);
    for (const [part, { mean, most }] of this.#tokens) {
      facts.push([`mean ${part}, tokens`, mean], [`longest ${part}, tokens`, most]);
    }
    if (right + wrong > 0) facts.push(['positive labels, share', right / (right + wrong)]);
    if (count > 0) {
      facts.push(
        ['pairs of unequal length', longer + shorter],
        ['chosen longer, share', longer / Math.max(1, longer + shorter)],
        ['chosen longer, 95 % from', low],
        ['chosen longer, 95 % to', high],
        ['chosen / rejected length, mean', ratios / count],
      );
    }
    const { mean, least, count: margins } = this.#margins;
    if (margins > 0) facts.push(['mean margin', mean], ['least margin', least]);
    return facts.map(([name, value]) => ({ name, value }));
  }

  #countLabels({ labels = [], rated }: ReadRow): void {
    for (const label of labels) {
      if (label === true || (rated && label === 1)) this.#labels.right += 1;
      if (label === false || (rated && label === -1)) this.#labels.wrong += 1;
    }
  }

  #countTexts({ kind }: ReadRow, tokens: RowTokens, hashes: RowHashes): void {
    const said = hashes.steps === 0 ? 'completion' : 'solution';
    if (tokens.prompt !== undefined) this.#countText('prompt', hashes.prompt, tokens.prompt);
    if (kind === 'preference') {
      this.#countText('chosen', hashes.chosen, tokens.chosen);
      this.#countText('rejected', hashes.rejected, tokens.rejected);
    } else if (kind !== 'prompt') {
      this.#countText(said, hashes.chosen + hashes.steps, tokens.chosen);
    }
  }

  #countText(part: string, hash: number, tokens: number): void {
    const numbers = this.#tokens.get(part) ?? new Numbers();
    const distinct = this.#distinct.get(part) ?? distinctCounter();
    this.#tokens.set(part, numbers);
    this.#distinct.set(part, distinct);
    numbers.add(tokens);
    distinct.add(hash);
  }

  #countPair(row: ReadRow): void {
    const margin = marginOf(row);
    if (margin !== undefined) this.#margins.add(margin);
    this.#countDepth(row, margin);
    const [better, worse] = [row.chosen, row.rejected].map((side) => textOf(side).trim().length);
    if (better === undefined || worse === undefined || better === 0 || worse === 0) return;
    this.#pairs.count += 1;
    this.#pairs.ratios += better / worse;
    if (better > worse) this.#pairs.longer += 1;
    if (better < worse) this.#pairs.shorter += 1;
  }

  #countDepth({ columns }: ReadRow, margin: number | undefined): void {
    const { depth, chosen_ends: own, rejected_ends: other } = columns;
    if (typeof depth !== 'number' || !(depth >= 0)) return;
    if (!sideColumns.some((name) => name in columns)) return;
    const sideOf = (name: string) => booleanIn(columns[name]);
    this.#depths.add({
      depth,
      margin,
      isLast: own === true && other === true,
      chosenRight: sideOf('chosen_right') ?? sideOf('chosen_correct'),
      rejectedRight: sideOf('rejected_right') ?? sideOf('rejected_correct'),
    });
  }
}

const sideColumns = ['chosen_right', 'rejected_right', 'chosen_correct', 'rejected_correct'];

/** Numbers of which only this is kept. */
class Numbers {
  count = 0;
  least = Number.POSITIVE_INFINITY;
  most = Number.NEGATIVE_INFINITY;
  #sum = 0;

  get mean(): number {
    return this.#sum / this.count;
  }

  add(value: number): void {
    this.count += 1;
    this.#sum += value;
    this.least = Math.min(this.least, value);
    this.most = Math.max(this.most, value);
  }
}

function booleanIn(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}
