import { sentenceOf, withCause } from '../base/failure.ts';
import type { Failure } from '../contracts/failure.ts';

/** The number of failures without a usable answer after which the part is given up. */
const hopeless = 8;

/** Failures that say nothing about the part: a call that is not in the journal, or a process that was killed. */
const notItsOwn: ReadonlySet<Failure['kind']> = new Set(['interrupted', 'unrecorded', 'stale']);

/** Whether a policy or an evaluator answers at all. A part that never does must not use up the budget. */
export class Trial {
  readonly #part: 'evaluator' | 'policy';
  readonly #giveUp: (failure: Failure) => void;
  #count = 0;
  #last: Failure | undefined;
  #isPassed = false;

  /** @param giveUp - Ends the search because no answer of the part could be used. */
  constructor(part: 'evaluator' | 'policy', giveUp: (failure: Failure) => void) {
    this.#part = part;
    this.#giveUp = giveUp;
  }

  /** Records a usable answer: from now on the part is trusted. */
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

  /** Starts again, because failed calls are repeated. */
  restart(): void {
    this.#count = 0;
    this.#last = undefined;
  }

  /** The failure of the search if no answer could be used; `undefined` if one could, or none was requested. */
  get failed(): Failure | undefined {
    if (this.#isPassed || this.#last === undefined) return undefined;
    const { kind, message, cause } = this.#last;
    const [part, count] = [this.#part, this.#count];
    const isCall = kind === 'call';
    const once = isCall
      ? `The ${part} failed the only time it was asked`
      : `The only answer of the ${part} could not be used`;
    const often = isCall
      ? `The ${part} failed each of the ${count} times it was asked`
      : `None of the ${count} answers of the ${part} could be used`;
    const told = `${count === 1 ? once : often}: ${sentenceOf(message)}`;
    return withCause({ ...this.#last, message: told }, cause);
  }
}
