import { isPlainObject } from '../../base/json.ts';
import { type ReadRow, type RowContent, textOf } from '../formats/reading.ts';
import { hashOf } from './set-tally.ts';

/** Watches in which split each problem stands. */
export class Leakage {
  readonly #splits = new Map<number, string>();

  /** The other split in which the problem of a row was first seen. */
  look(row: ReadRow, split: string): string | undefined {
    const problem = problemOf(row);
    if (problem === '') return undefined;
    const key = hashOf(problem);
    const first = this.#splits.get(key);
    if (first === undefined) this.#splits.set(key, split);
    return first === undefined || first === split ? undefined : first;
  }
}

/** What tells a problem from others: its name where the row has one, else its question. */
export function problemOf({
  columns,
  prompt,
  chosen,
  rejected,
  implicit = false,
}: ReadRow): string {
  const { extra_info: info } = columns;
  const places = isPlainObject(info) ? [columns, info] : [columns];
  for (const place of places) {
    for (const name of ['problem_id', 'root_id']) {
      const id = place[name];
      if (typeof id === 'string' || typeof id === 'number') return `${name} ${id}`;
    }
  }
  const question = questionOf(implicit ? (chosen ?? rejected) : prompt, implicit);
  return question.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** The first turn of the user: later ones depend on the path. */
function questionOf(content: RowContent | undefined, implicit: boolean): string {
  if (content === undefined) return '';
  // Where the prompt of a text ends is not known.
  if (typeof content === 'string') return implicit ? '' : content;
  const asked = content.find(({ role }) => role === 'user' || role === 'human') ?? content[0];
  return asked === undefined ? '' : textOf([asked]);
}
