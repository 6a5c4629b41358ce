import { systemClock } from '../base/clock.ts';
import {
  expectation,
  expectInteger,
  expectMethods,
  expectNumber,
  expectObject,
} from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Budget, Spend } from '../contracts/spend.ts';
import type { Journal } from './journal.ts';
import { JournalIndex } from './journal-index.ts';
import { Ledger } from './ledger.ts';

const units = 'simulations nodes calls tokens usd';

/**
 * A budget shared by several searches, in addition to their own. When it is spent, searches end gracefully, as with
 * their own budget.
 */
export class BudgetPool {
  /** @internal The parent ledger of those of the searches. */
  readonly ledger: Ledger;
  readonly #prepaid = new Set<Journal>();

  /**
   * @param budget - What all searches together may spend. Time cannot be limited, because later searches would have
   * less of it.
   * @param spent - What has been spent before. @defaultValue nothing
   * @throws EspalierError `usage` for a limit out of range.
   */
  constructor(budget: Omit<Budget, 'ms'>, spent: Partial<Spend> = {}) {
    const own = limitsOf(budget, units);
    this.ledger = new Ledger({ budget: own, clock: systemClock, isPool: true });
    this.charge(spent);
  }

  /** The spend of the searches so far, including what had been spent before. */
  get spend(): Spend {
    return this.ledger.spend;
  }

  /** The remaining budget; calls in flight count with their worst case. */
  get remaining(): Spend {
    return this.ledger.remaining;
  }

  /** The limit that was reached. */
  get exhausted(): keyof Spend | undefined {
    return this.ledger.exhausted;
  }

  /**
   * Charges the spend recorded in journals in advance, for searches of this pool that will resume them. Otherwise a
   * search charges its journal when it starts: prepay the journals of later searches, or earlier ones may spend what
   * the later ones have already paid.
   *
   * @throws EspalierError `invalid-journal` or `storage`.
   */
  prepay(...journals: readonly Journal[]): void {
    for (const journal of journals) expectMethods('journal', journal, ['append']);
    for (const journal of journals) {
      if (this.#prepaid.has(journal)) continue;
      this.ledger.charge(new JournalIndex(journal.lines).total);
      this.notePrepaid(journal);
    }
  }

  /** @internal Notes that the recorded spend of a journal has been charged already. */
  notePrepaid(journal: Journal): void {
    this.#prepaid.add(journal);
  }

  /** @internal Whether the recorded spend of a journal has been charged already. True once per call of `prepay`. */
  takePrepaid(journal: Journal): boolean {
    return this.#prepaid.delete(journal);
  }

  /** Charges spend from elsewhere. */
  charge(spent: Partial<Spend>): void {
    expectOptions('BudgetPool.charge', spent, `${units} ms`);
    const { simulations = 0, nodes = 0, calls = 0, tokens = 0, usd = 0 } = spent;
    this.ledger.addSimulations(simulations);
    this.ledger.addNodes(nodes);
    this.ledger.charge({ calls, tokens, usd });
  }
}

/**
 * The checked limits of a budget. A limit that is `undefined` does not apply.
 *
 * @param known - The allowed units, separated by spaces.
 */
export function limitsOf(budget: Budget, known = `${units} ms`): Budget {
  if (typeof budget === 'number')
    throw expectation('budget', 'an object, such as `{ calls: 100 }`', budget);
  expectObject('budget', budget);
  expectOptions('budget', budget, known);
  // By name: getters and inherited limits count too.
  const limits = known.split(' ').flatMap((unit): (readonly [string, unknown])[] => {
    const limit = budget[unit as keyof Budget];
    return limit === undefined ? [] : [[unit, limit]];
  });
  for (const [unit, limit] of limits) {
    if (unit === 'usd' || unit === 'ms') expectNumber(`budget.${unit}`, limit, { min: 0 });
    else expectInteger(`budget.${unit}`, limit, { min: 0, max: Number.POSITIVE_INFINITY });
  }
  return Object.fromEntries(limits);
}
