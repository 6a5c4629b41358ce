import { sentenceOf } from '../base/failure.ts';
import type { Failure } from '../contracts/failure.ts';

/** The number of failures, with no answer among them that can be used, after which no further one is waited for. */
const hopeless = 8;

/** What says nothing about the part that was asked: a journal without the call, or a process that was killed. */
const notItsOwn: ReadonlySet<Failure['kind']> = new Set(['interrupted', 'unrecorded', 'stale']);

/** Whether a policy or an evaluator answers at all. One that never does must not use up the budget. */
export class Trial {
  readonly #part: 'evaluator' | 'policy';
  readonly #giveUp: (failure: Failure) => void;
  #count = 0;
  #last: Failure | undefined;
  #isPassed = false;

  /** @param giveUp - Ends the search: nothing that the part was asked for could be used. */
  constructor(part: 'evaluator' | 'policy', giveUp: (failure: Failure) => void) {
    this.#part = part;
    this.#giveUp = giveUp;
  }

  /** An answer can be used: from here on the part is trusted. */
  pass(): void {
    this.#isPassed = true;
  }

  fail(failure: Failure): void {
    if (this.#isPassed || notItsOwn.has(failure.kind)) return;
    this.#count++;
    this.#last = failure;
    const { failed } = this;
    if (this.#count === hopeless && failed !== undefined) this.#giveUp(failed);
  }

  /** Calls that failed are made again. */
  restart(): void {
    this.#count = 0;
    this.#last = undefined;
  }

  /** What a search fails with where no answer could be used; `undefined` where one could, or none was asked for. */
  get failed(): Failure | undefined {
    if (this.#isPassed || this.#last === undefined) return undefined;
    const { kind, message } = this.#last;
    const [part, count] = [this.#part, this.#count];
    const isCall = kind === 'call';
    const once = isCall
      ? `The ${part} failed the only time it was asked`
      : `The only answer of the ${part} could not be used`;
    const often = isCall
      ? `The ${part} failed each of the ${count} times it was asked`
      : `None of the ${count} answers of the ${part} could be used`;
    return { ...this.#last, message: `${count === 1 ? once : often}: ${sentenceOf(message)}` };
  }
}
