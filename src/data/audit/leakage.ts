import { isPlainObject } from '../../base/json.ts';
import { identityOf, type ReadRow, type RowContent, textOf } from '../formats/reading.ts';
import { HashTable, hashOf } from '../hash-table.ts';

/** Watches in which split each problem, and each prompt, stands. */
export class Leakage {
  readonly #splitOf = new HashTable();
  readonly #splits: string[] = [];

  /**
   * The other split in which the problem of a row was first seen, or its prompt under the name of another problem.
   *
   * @param problem - A hash of its problem; 0 where none is known.
   */
  look(row: ReadRow, problem: number, split: string): string | undefined {
    const own = problem === 0 ? undefined : this.#find(problem, split);
    const { prompt, context = null } = row;
    if (prompt === undefined || idOf(row) === '') return own;
    const key = hashOf(identityOf(prompt) + JSON.stringify(context));
    return own ?? this.#find(key, split);
  }

  #find(key: number, split: string): string | undefined {
    const first = this.#splitOf.get(key);
    if (first === undefined) {
      this.#splitOf.set(key, this.#placeOf(split));
      return undefined;
    }
    return this.#splits[first] === split ? undefined : this.#splits[first];
  }

  /** More splits than a byte can tell apart count as the last one. */
  #placeOf(split: string): number {
    const known = this.#splits.indexOf(split);
    return Math.min(255, known >= 0 ? known : this.#splits.push(split) - 1);
  }
}

/** What tells a problem from others: its name where the row has one, else its question; `''` where neither is known. */
export function problemOf(row: ReadRow): string {
  const { prompt, chosen, rejected, implicit = false } = row;
  const id = idOf(row);
  if (id !== '') return id;
  const question = questionOf(implicit ? (chosen ?? rejected) : prompt, implicit);
  return question.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** The name of the problem, where the row has one. */
function idOf({ columns }: ReadRow): string {
  const { extra_info: info } = columns;
  const places = isPlainObject(info) ? [columns, info] : [columns];
  for (const place of places) {
    for (const name of ['problem_id', 'root_id']) {
      const id = place[name];
      if (typeof id === 'string' || typeof id === 'number') return `${name} ${id}`;
    }
  }
  return '';
}

/** The first turn of the user: later ones depend on the path. */
function questionOf(content: RowContent | undefined, implicit: boolean): string {
  if (content === undefined) return '';
  // Where the prompt of a text ends is not known.
  if (typeof content === 'string') return implicit ? '' : content;
  const asked = content.find(({ role }) => role === 'user' || role === 'human') ?? content[0];
  return asked === undefined ? '' : textOf([asked]);
}
