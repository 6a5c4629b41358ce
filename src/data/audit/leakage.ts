import { idOf } from '../formats/problem-of-row.ts';
import { identityOf, type ReadRow } from '../formats/reading.ts';
import { HashTable, hashOf } from '../hash-table.ts';
import { excerptOf } from './excerpt.ts';
import type { RowFault } from './report.ts';

/** The first place of a prompt; one object for all prompts of a problem. */
interface PromptPlace {
  readonly problem: string;
  readonly split: string;
}

/** Prompts that are remembered: a map takes no more than some 16 million. */
const mostPrompts = 10_000_000;

/** Records the splits in which each problem and each prompt occur. */
export class Leakage {
  readonly #splitOf = new HashTable();
  readonly #splits: string[] = [];
  readonly #problems = new Map<string, PromptPlace>();
  readonly #prompts = new Map<number, PromptPlace>();
  readonly #isSplit: boolean;

  /** @param splits - The splits there are: of one alone nothing has to be remembered. */
  constructor(splits: ReadonlySet<string>) {
    this.#isSplit = splits.size > 1;
  }

  /**
   * What of a row is in another split too: its problem, or else its prompt under the name of another problem, which two
   * problems that come to the same state share.
   *
   * @param problem - A hash of its problem; 0 if none is known.
   */
  look(row: ReadRow, problem: number, split: string): RowFault | undefined {
    if (!this.#isSplit) return undefined;
    const other = problem === 0 ? undefined : this.#find(problem, split);
    if (other !== undefined) return { code: 'leakage', excerpt: `${other} and ${split}` };
    const { prompt, context = null } = row;
    const id = idOf(row)?.value;
    if (prompt === undefined || id === undefined) return undefined;
    const first = this.#first(hashOf(identityOf(prompt) + JSON.stringify(context)), id, split);
    if (first === undefined || first.split === split || first.problem === id) return undefined;
    const problems = `under \`${excerptOf(first.problem, 30)}\` and \`${excerptOf(id, 30)}\``;
    return { code: 'shared-prompt', excerpt: `${first.split} and ${split}, ${problems}` };
  }

  /** The place where a prompt was first seen; a new one is recorded. */
  #first(key: number, problem: string, split: string): PromptPlace | undefined {
    const known = this.#prompts.get(key);
    if (known !== undefined || this.#prompts.size >= mostPrompts) return known;
    const name = JSON.stringify([problem, split]);
    const place = this.#problems.get(name) ?? { problem, split };
    this.#problems.set(name, place);
    this.#prompts.set(key, place);
    return undefined;
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
