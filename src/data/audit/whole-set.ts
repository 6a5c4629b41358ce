import { problemOf } from '../formats/problem-of-row.ts';
import { type ReadRow, type RowContent, textOf } from '../formats/reading.ts';
import { endsWithToken } from './end-tokens.ts';
import { isHosted } from './hosted-checks.ts';
import type { RowFault } from './report.ts';

/** Hosted fine-tuning takes no fewer rows. */
const fewest = 10;
/** From this number of problems on, one answer to all of them is no coincidence. */
const many = 8;
/** A text of so many characters is in a prompt for its own sake, and not by chance. */
const longText = 40;

/** What only all rows of a configuration and split together can have wrong, of which little has to be kept. */
export class WholeSet {
  #rows = 0;
  #hosted = 0;
  readonly #told = { pairs: 0, leaked: 0 };
  readonly #texts = { all: 0, ended: 0 };
  /** The problems, as many as have to be known. */
  readonly #problems = new Set<string>();
  /** What all rows so far have said on each side; `undefined` once they differ. */
  readonly #said: Record<'chosen' | 'rejected', string | undefined> = { chosen: '', rejected: '' };

  add(row: ReadRow): void {
    const { chosen, rejected, implicit } = row;
    if (isHosted(row)) this.#hosted += 1;
    this.#countLeak(row);
    this.#look('chosen', chosen);
    this.#look('rejected', rejected);
    this.#rows += 1;
    const { chosen: one, rejected: other } = this.#said;
    const isOpen = one !== undefined || other !== undefined;
    if (isOpen && this.#problems.size < many) this.#problems.add(problemOf(row));
    if (implicit !== true || typeof chosen !== 'string' || rejected !== undefined) return;
    if (chosen.trim() === '') return;
    this.#texts.all += 1;
    if (endsWithToken(chosen)) this.#texts.ended += 1;
  }

  /** @param isTraining - Whether it is the split that is trained on. */
  faults(isTraining: boolean): readonly RowFault[] {
    const faults: RowFault[] = [];
    const { all, ended } = this.#texts;
    if (ended > 0 && ended < all) {
      faults.push({ code: 'eos-partly', excerpt: `${ended} of ${all} texts` });
    }
    const { pairs, leaked } = this.#told;
    if (leaked > pairs / 2) {
      faults.push({
        code: 'leaked-answer',
        excerpt: `the chosen side of ${leaked} of ${pairs} pairs`,
      });
    }
    const same = this.#said.chosen || this.#said.rejected;
    if (this.#problems.size >= many && same) faults.push({ code: 'one-answer', excerpt: same });
    if (isTraining && this.#hosted > 0 && this.#rows < fewest) {
      faults.push({ code: 'few-rows', excerpt: `${this.#rows} rows` });
    }
    return faults;
  }

  /** Where a prompt holds the other side as well, the answer is to be chosen from it. */
  #countLeak({ prompt, chosen, rejected }: ReadRow): void {
    if (chosen === undefined || rejected === undefined) return;
    this.#told.pairs += 1;
    const [own, other] = [lastOf(chosen).trim(), lastOf(rejected).trim()];
    if (own.length < longText) return;
    const asked = askedIn(prompt ?? (typeof chosen === 'string' ? '' : chosen.slice(0, -1)));
    if (asked.includes(own) && !asked.includes(other)) this.#told.leaked += 1;
  }

  #look(side: 'chosen' | 'rejected', content: RowContent | undefined): void {
    const known = this.#said[side];
    if (known === undefined) return;
    if (content === undefined) {
      this.#said[side] = undefined;
      return;
    }
    const text = lastOf(content);
    this.#said[side] = this.#rows === 0 || known === text ? text : undefined;
  }
}

/** What a model is told before it answers, but for what it has said itself and what tools have answered. */
function askedIn(prompt: RowContent): string {
  if (typeof prompt === 'string') return prompt;
  const isAsked = ({ role = '' }) => ['system', 'user', 'human'].includes(role);
  return textOf(prompt.filter(isAsked));
}

/** A conversation asks and answers with its last turn. */
function lastOf(content: RowContent): string {
  return typeof content === 'string' ? content : textOf(content.slice(-1));
}
