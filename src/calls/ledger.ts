import { EspalierError } from '../base/errors.ts';
import type { Clock } from '../contracts/clock.ts';
import type { Budget, Spend } from '../contracts/spend.ts';
import { addSpend, atLeast, beyond, type CallSpend, negative, nothing } from './call-spend.ts';

/** A part of the budget reserved for one call. Settle it exactly once. */
export interface Reservation {
  /**
   * Charges the usage and gives back the rest. Without an argument, it charges the whole reservation.
   *
   * @param covered - The sum of its reservations, if there are several.
   */
  settle(used?: CallSpend, covered?: CallSpend): void;
}

const callUnits = ['calls', 'tokens', 'usd'] as const;

const noLimit: Spend = {
  simulations: Infinity,
  nodes: Infinity,
  calls: Infinity,
  tokens: Infinity,
  usd: Infinity,
  ms: Infinity,
};

interface Waiter {
  readonly ledger: Ledger;
  readonly estimate: CallSpend;
  /** The number of reservations that its call already holds, and will not settle before this one is granted. */
  readonly holds: number;
  readonly grant: (reservation: Reservation) => void;
  readonly refuse: (error: EspalierError) => void;
}

/**
 * Counts what a search spends, and refuses what exceeds the budget.
 *
 * A call reserves its worst case before it starts, so that parallel calls cannot overshoot. A reservation that does not
 * fit waits for those in flight to settle; when none is left it is refused. A child ledger spends from its parent as
 * well as from its own budget.
 */
export class Ledger {
  #limits: Spend;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #parent: Ledger | undefined;
  readonly #isPool: boolean;
  #isRepeating = false;

  #simulations = 0;
  #nodes = 0;
  #used: CallSpend = { calls: 0, tokens: 0, usd: 0 };
  #answered: CallSpend = { calls: 0, tokens: 0, usd: 0 };
  #reserved: CallSpend = { calls: 0, tokens: 0, usd: 0 };
  #open = 0;
  #overdraft: Omit<CallSpend, 'calls'> = { tokens: 0, usd: 0 };
  #refused: keyof Spend | undefined;
  #isEnded = false;
  /** The amount charged to the parent in advance, and what has been reported to it since. */
  #prepaid:
    | { readonly amount: CallSpend; readonly used: CallSpend; readonly reserved: CallSpend }
    | undefined;
  readonly #waiters: Waiter[] = [];

  constructor(options: {
    budget: Budget;
    clock: Clock;
    parent?: Ledger | undefined;
    isPool?: boolean;
  }) {
    this.#limits = { ...noLimit, ...options.budget };
    this.#clock = options.clock;
    this.#startedAt = options.clock.now();
    this.#parent = options.parent;
    this.#isPool = options.isPool === true;
  }

  /** What has been spent so far, excluding calls in flight. */
  get spend(): Spend {
    return {
      simulations: this.#simulations,
      nodes: this.#nodes,
      ...this.#used,
      ms: this.#clock.now() - this.#startedAt,
    };
  }

  /** The cost of the calls that took effect: without the losses of killed processes, and so equal in a replay. */
  get answered(): CallSpend {
    return this.#answered;
  }

  /** Counts a call as answered, here and in every parent. */
  addAnswered(cost: CallSpend): void {
    this.#answered = addSpend(this.#answered, cost);
    this.#parent?.addAnswered(cost);
  }

  /** The remaining budget; calls in flight count as reserved. */
  get remaining(): Spend {
    return this.#least(this.#isRepeating ? undefined : this.#parent?.remaining);
  }

  /**
   * The amount that a search can share. It excludes limits of a pool, which depend on other searches, because a replay
   * must not depend on them.
   */
  get shareable(): Spend {
    const parent = this.#parent;
    return this.#least(parent === undefined || parent.#isPool ? undefined : parent.shareable);
  }

  #least(outer: Spend | undefined): Spend {
    const own = this.#ownRemaining;
    if (outer === undefined) return own;
    const least = (unit: keyof Spend) => Math.min(own[unit], outer[unit]);
    return {
      simulations: least('simulations'),
      nodes: least('nodes'),
      calls: least('calls'),
      tokens: least('tokens'),
      usd: least('usd'),
      ms: least('ms'),
    };
  }

  /** What servers used beyond the reservations. */
  get overdraft(): Omit<CallSpend, 'calls'> {
    return this.#overdraft;
  }

  /** The unit whose limit prevents another simulation. */
  get exhausted(): keyof Spend | undefined {
    if (this.#simulations >= this.#limits.simulations) return 'simulations';
    if (this.#nodes >= this.#limits.nodes) return 'nodes';
    if (this.#used.calls >= this.#limits.calls) return 'calls';
    if (this.#used.tokens >= this.#limits.tokens) return 'tokens';
    if (this.#limits.usd !== Infinity && this.#used.usd >= this.#limits.usd) return 'usd';
    if (this.#refused !== undefined) return this.#refused;
    const outer = this.#isRepeating ? undefined : this.#parent?.exhausted;
    if (outer !== undefined) return outer;
    // Checked last: a replay must not stop for another reason because its clock runs differently.
    const { ms } = this.#limits;
    return ms !== Infinity && this.#clock.now() - this.#startedAt >= ms ? 'ms' : undefined;
  }

  /** Whether the token counts of calls matter. */
  get limitsTokens(): boolean {
    const { tokens, usd } = this.#limits;
    return Math.min(tokens, usd) !== Infinity || this.#parent?.limitsTokens === true;
  }

  /** Whether the parent has less left of a unit than this ledger by itself. */
  isBoundByParent(unit: keyof Spend): boolean {
    if (this.#parent === undefined || this.#isRepeating) return false;
    return this.#parent.remaining[unit] < this.#ownRemaining[unit];
  }

  /** Counts a simulation as started, here and in every parent. */
  addSimulations(count: number): void {
    this.#simulations += count;
    this.#parent?.addSimulations(count);
  }

  /** Counts nodes added to a tree. */
  addNodes(count: number): void {
    this.#nodes += count;
    this.#parent?.addNodes(count);
  }

  /** The error for an expansion that does not fit. It ends the search. */
  refuseNodes(count: number): EspalierError {
    this.#refused ??= 'nodes';
    return new EspalierError(
      'budget',
      `The budget has room for ${this.freeNodes} nodes; the next expansion may need ${count}.`,
      { unit: 'nodes' },
    );
  }

  /** How many more nodes fit. */
  get freeNodes(): number {
    const own = this.#limits.nodes - this.#nodes;
    return this.#parent === undefined ? own : Math.min(own, this.#parent.freeNodes);
  }

  /** Charges a spend that had no reservation. */
  charge(spend: CallSpend): void {
    this.#used = addSpend(this.#used, spend);
    if (this.#prepaid === undefined) this.#parent?.charge(spend);
    else this.#passOn(0);
  }

  /**
   * Charges the parent at once with an amount that this ledger is about to spend, unless it `isCharged` already. Up to
   * that amount, spending is no longer passed on to the parent.
   */
  prepay(spend: CallSpend, isCharged = false): void {
    const { calls, tokens, usd } = spend;
    if (this.#parent === undefined || calls + tokens + usd === 0) return;
    if (!isCharged) this.#parent.charge(spend);
    this.#prepaid = { amount: spend, used: spend, reserved: nothing };
  }

  /** Takes over the unused prepaid amount of a closed ledger with the same parent. */
  takeOver(before: Ledger): void {
    if (this.#parent === undefined || this.#parent !== before.#parent) return;
    const amount = before.#prepaidRest;
    before.#prepaid = undefined;
    this.#prepaid = { amount, used: amount, reserved: nothing };
  }

  /** The prepaid amount that is neither used nor reserved. */
  get #prepaidRest(): CallSpend {
    if (this.#prepaid === undefined) return nothing;
    const { amount } = this.#prepaid;
    const taken = addSpend(this.#used, this.#reserved);
    return addSpend(atLeast(amount, taken), negative(taken));
  }

  /** Passes on to the parent whatever exceeds the prepaid amount. */
  #passOn(open: number): void {
    if (this.#prepaid === undefined || this.#parent === undefined) return;
    const { amount, ...before } = this.#prepaid;
    const used = atLeast(amount, this.#used);
    const all = atLeast(amount, addSpend(this.#used, this.#reserved));
    const reserved = addSpend(all, negative(used));
    this.#prepaid = { amount, used, reserved };
    this.#parent.charge(addSpend(used, negative(before.used)));
    this.#parent.#hold(addSpend(reserved, negative(before.reserved)), open);
  }

  /**
   * Whether this ledger is repeating calls that were charged to the parent in advance. The parent then has no say, and
   * calls waiting there do not matter.
   */
  set isRepeating(repeats: boolean) {
    this.#isRepeating = repeats;
    if (repeats) return;
    const { root } = this;
    if (root !== this) root.#waiters.push(...this.#waiters.splice(0));
    root.#serve();
  }

  /** Raises its own limits, but not those of a parent. */
  raise(by: CallSpend): void {
    const { calls, tokens, usd } = this.#limits;
    this.#limits = { ...this.#limits, ...addSpend({ calls, tokens, usd }, by) };
  }

  /**
   * Reserves the worst case of a call: at once if it fits, otherwise as soon as calls in flight have given back enough.
   * A call that holds reservations while it asks for another says how many, because calls that wait for each other
   * would wait forever. If that reservation is refused, the call continues without it: it does not mean that the search
   * is over.
   *
   * @param options.waits - Whether it may wait. A call that takes effect before everything in flight must not wait: it
   * goes first, or is refused.
   * @throws EspalierError `budget` if it can no longer fit.
   */
  reserve(
    estimate: CallSpend,
    { holds = 0, waits = true }: { readonly holds?: number; readonly waits?: boolean } = {},
  ): Reservation | Promise<Reservation> {
    if (this.#hasEnded) throw this.#refusal(estimate, holds);
    const { root } = this;
    const isNext = !waits || root.#waiters.length === 0;
    if (isNext && this.#fits(estimate)) return this.#grant(estimate);
    if (!waits || root.#open === 0 || root.#settling <= holds) throw this.#refusal(estimate, holds);
    return new Promise((grant, refuse) => {
      root.#waiters.push({ ledger: this, estimate, holds, grant, refuse });
    });
  }

  /** What the budget would have to hold, so that a call which it refuses now would fit. */
  needed(estimate: CallSpend): CallSpend {
    return addSpend(addSpend(this.#used, this.#reserved), estimate);
  }

  /** Ends the search where a call was refused, unless the budget holds by now what was needed. Returns the unit. */
  refuse(needed: CallSpend): keyof CallSpend | undefined {
    const unit = callUnits.find((each) => needed[each] > this.#limits[each]);
    this.#refused ??= unit;
    return unit;
  }

  /**
   * Keeps room for a call that is made again later: at once, ahead of those that wait, and even where it does not fit.
   * {@link isOverdrawn} then says whether it did.
   */
  keep(estimate: CallSpend): Reservation {
    return this.#grant(estimate);
  }

  /** Whether more is spent and set aside than the budget holds, here or in a parent that has a say. */
  get isOverdrawn(): boolean {
    const { calls, tokens, usd } = this.remaining;
    return Math.min(calls, tokens, usd) < 0;
  }

  /** Refuses everything from here on, because the search is over. */
  end(): void {
    this.#isEnded = true;
    this.close();
  }

  get #hasEnded(): boolean {
    return this.#isEnded || (this.#parent === undefined ? false : this.#parent.#hasEnded);
  }

  /** Refuses everything that waits here and in child ledgers, because the search is over. */
  close(): void {
    const { root } = this;
    for (const waiter of root.#waiters.splice(0)) {
      if (waiter.ledger.#isWithin(this))
        waiter.refuse(this.#refusal(waiter.estimate, waiter.holds));
      else root.#waiters.push(waiter);
    }
  }

  #isWithin(ledger: Ledger): boolean {
    let within: Ledger | undefined = this;
    while (within !== undefined && within !== ledger) within = within.#parent;
    return within !== undefined;
  }

  get #ownRemaining(): Spend {
    return {
      simulations: this.#limits.simulations - this.#simulations,
      nodes: this.#limits.nodes - this.#nodes,
      calls: this.#limits.calls - this.#used.calls - this.#reserved.calls,
      tokens: this.#limits.tokens - this.#used.tokens - this.#reserved.tokens,
      usd: this.#limits.usd - this.#used.usd - this.#reserved.usd,
      ms: this.#limits.ms - (this.#clock.now() - this.#startedAt),
    };
  }

  /** The ledger at which calls wait: the topmost one that has a say. */
  get root(): Ledger {
    return this.#isRepeating || this.#parent === undefined ? this : this.#parent.root;
  }

  #fits(estimate: CallSpend): boolean {
    const { remaining } = this;
    // A free call fits even an overdrawn budget.
    const fits = (unit: 'calls' | 'tokens' | 'usd') =>
      estimate[unit] === 0 || estimate[unit] <= remaining[unit];
    return fits('calls') && fits('tokens') && fits('usd');
  }

  #grant(estimate: CallSpend): Reservation {
    this.#hold(estimate, 1);
    let settled = false;
    return {
      settle: (used = estimate, covered = estimate) => {
        if (settled) throw new Error('A reservation was settled twice.');
        settled = true;
        this.#hold(negative(estimate), -1);
        this.charge(used);
        this.#overdraw({
          tokens: beyond(used.tokens, covered.tokens),
          usd: beyond(used.usd, covered.usd),
        });
        this.#serveAll();
      },
    };
  }

  #hold(estimate: CallSpend, open: number): void {
    this.#open += open;
    // Dollars are binary fractions: after additions and subtractions the sum may not be exactly 0.
    this.#reserved = this.#open === 0 ? nothing : addSpend(this.#reserved, estimate);
    if (this.#prepaid !== undefined) this.#passOn(open);
    else if (this.#parent !== undefined) this.#parent.#hold(estimate, open);
  }

  #overdraw(by: Omit<CallSpend, 'calls'>): void {
    const { tokens, usd } = this.#overdraft;
    this.#overdraft = { tokens: tokens + by.tokens, usd: usd + by.usd };
    if (this.#parent !== undefined) this.#parent.#overdraw(by);
  }

  /** The number of reservations that may still be settled without another one being granted. */
  get #settling(): number {
    return this.#waiters.reduce((open, { holds }) => open - holds, this.#open);
  }

  #serveAll(): void {
    this.#serve();
    if (this.#parent !== undefined) this.#parent.#serveAll();
  }

  /** Grants in order of arrival, so that small calls do not starve a large one. */
  #serve(): void {
    for (let head = this.#waiters[0]; head !== undefined; head = this.#waiters[0]) {
      if (head.ledger.#fits(head.estimate)) {
        this.#waiters.shift();
        head.grant(head.ledger.#grant(head.estimate));
      } else if (this.#open === 0) {
        this.#refuse(head);
      } else if (this.#settling <= 0) {
        // That call continues without it, and gives back what it holds.
        this.#refuse(this.#waiters.findLast(({ holds }) => holds > 0) ?? head);
      } else {
        return;
      }
    }
  }

  #refuse(waiter: Waiter): void {
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
    waiter.refuse(waiter.ledger.#refusal(waiter.estimate, waiter.holds));
  }

  #refusal(estimate: CallSpend, holds = 0): EspalierError {
    const { remaining } = this;
    const unit = callUnits.find((candidate) => estimate[candidate] > remaining[candidate]);
    if (holds === 0) this.#refused ??= unit;
    return new EspalierError(
      'budget',
      unit === undefined
        ? holds > 0 && !this.#hasEnded
          ? 'Other calls wait for what is left of the budget.'
          : 'The search is over; no further call was made.'
        : `The budget has ${remaining[unit]} ${unit} left${unit === 'calls' ? ', counting refused ones' : ''}; the next call may need ${estimate[unit]}.`,
      { unit, scope: holds > 0 ? 'call' : 'search' },
    );
  }
}
