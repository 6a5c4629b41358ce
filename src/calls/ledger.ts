import { EspalierError } from '../base/errors.ts';
import type { Clock } from '../contracts/clock.ts';
import type { Budget, Spend } from '../contracts/spend.ts';
import { addSpend, atLeast, beyond, type CallSpend, negative, nothing } from './call-spend.ts';

/** A part of the budget that is set aside for one call. Settle it exactly once. */
export interface Reservation {
  /**
   * Charges what was used and gives back the rest. Without an argument: charges all that was reserved.
   *
   * @param covered - What was set aside for it in all, where there are several reservations.
   */
  settle(used?: CallSpend, covered?: CallSpend): void;
}

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
  /** How many reservations its call holds already, and will not settle before. */
  readonly holds: number;
  readonly grant: (reservation: Reservation) => void;
  readonly refuse: (error: EspalierError) => void;
}

/**
 * Counts what a search spends, and refuses what the budget cannot hold.
 *
 * A call reserves its worst case before it starts, so that parallel calls cannot overshoot. A
 * reservation that does not fit waits for those in flight to settle; when none is left it is refused.
 * A child ledger spends from its parent as well as from its own budget.
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
  /** What the parent was charged in advance, and what it has been told of since. */
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

  /** What has been spent so far; calls in flight are not in it. */
  get spend(): Spend {
    return {
      simulations: this.#simulations,
      nodes: this.#nodes,
      ...this.#used,
      ms: this.#clock.now() - this.#startedAt,
    };
  }

  /** What the calls that took effect have cost: without what killed processes have lost, and so equal in a replay. */
  get answered(): CallSpend {
    return this.#answered;
  }

  /** Counts a call as answered, here and in every parent. */
  addAnswered(cost: CallSpend): void {
    this.#answered = addSpend(this.#answered, cost);
    this.#parent?.addAnswered(cost);
  }

  /** What the budget still holds; calls in flight count as reserved. */
  get remaining(): Spend {
    return this.#least(this.#isRepeating ? undefined : this.#parent?.remaining);
  }

  /** What a search can give a share of. Not what is left of a pool: that depends on others, and a repeated search on none. */
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

  /** What servers used beyond what they were allowed. */
  get overdraft(): Omit<CallSpend, 'calls'> {
    return this.#overdraft;
  }

  /** The unit whose limit keeps another simulation from starting. */
  get exhausted(): keyof Spend | undefined {
    if (this.#simulations >= this.#limits.simulations) return 'simulations';
    if (this.#nodes >= this.#limits.nodes) return 'nodes';
    if (this.#used.calls >= this.#limits.calls) return 'calls';
    if (this.#used.tokens >= this.#limits.tokens) return 'tokens';
    if (this.#limits.usd !== Infinity && this.#used.usd >= this.#limits.usd) return 'usd';
    if (this.#refused !== undefined) return this.#refused;
    const outer = this.#isRepeating ? undefined : this.#parent?.exhausted;
    if (outer !== undefined) return outer;
    // Last: a replay must not be told something else where its clock runs otherwise.
    const { ms } = this.#limits;
    return ms !== Infinity && this.#clock.now() - this.#startedAt >= ms ? 'ms' : undefined;
  }

  /** Whether it makes a difference how many tokens a call takes. */
  get limitsTokens(): boolean {
    const { tokens, usd } = this.#limits;
    return Math.min(tokens, usd) !== Infinity || this.#parent?.limitsTokens === true;
  }

  /** Whether the parent holds less of a unit than this ledger would by itself. */
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

  /** Charges what was spent without a reservation. */
  charge(spend: CallSpend): void {
    this.#used = addSpend(this.#used, spend);
    if (this.#prepaid === undefined) this.#parent?.charge(spend);
    else this.#passOn(0);
  }

  /**
   * Charges the parent at once with what this ledger is about to spend, unless that `isCharged` already; up to that, it
   * spends nothing of the parent's any more.
   */
  prepay(spend: CallSpend, isCharged = false): void {
    const { calls, tokens, usd } = spend;
    if (this.#parent === undefined || calls + tokens + usd === 0) return;
    if (!isCharged) this.#parent.charge(spend);
    this.#prepaid = { amount: spend, used: spend, reserved: nothing };
  }

  /** Takes over what a ledger that is closed has prepaid its parent, which is this one's as well, and has not used. */
  takeOver(before: Ledger): void {
    if (this.#parent === undefined || this.#parent !== before.#parent) return;
    const amount = before.#prepaidRest;
    before.#prepaid = undefined;
    this.#prepaid = { amount, used: amount, reserved: nothing };
  }

  /** What was prepaid and is neither used nor set aside. */
  get #prepaidRest(): CallSpend {
    if (this.#prepaid === undefined) return nothing;
    const { amount } = this.#prepaid;
    const taken = addSpend(this.#used, this.#reserved);
    return addSpend(atLeast(amount, taken), negative(taken));
  }

  /** Tells the parent how far used and reserved go beyond what was prepaid. */
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
   * Whether calls are repeated that the parent was charged for in advance: then it has no say, and what waits there is
   * nobody to wait for.
   */
  set isRepeating(repeats: boolean) {
    this.#isRepeating = repeats;
    if (repeats) return;
    const { root } = this;
    if (root !== this) root.#waiters.push(...this.#waiters.splice(0));
    root.#serve();
  }

  /** Raises its own limits, and not those of a parent. */
  raise(by: CallSpend): void {
    const { calls, tokens, usd } = this.#limits;
    this.#limits = { ...this.#limits, ...addSpend({ calls, tokens, usd }, by) };
  }

  /**
   * Sets aside the worst case of a call: at once where it fits, otherwise as soon as calls in flight
   * have given back enough. A call that holds reservations while it asks for another says how many, because
   * calls that wait for one another would wait for ever. Where that one is refused, the call goes on without:
   * it is no sign that the search is at its end.
   *
   * @param options.waits - Whether it may wait. One that nothing in flight can take effect before goes first, or is
   * refused.
   * @throws EspalierError `budget` when it cannot fit any more.
   */
  reserve(
    estimate: CallSpend,
    { holds = 0, waits = true }: { readonly holds?: number; readonly waits?: boolean } = {},
  ): Reservation | Promise<Reservation> {
    const { root } = this;
    const isNext = !waits || root.#waiters.length === 0;
    if (isNext && this.#fits(estimate)) return this.#grant(estimate);
    if (!waits || root.#open === 0 || root.#settling <= holds) throw this.#refusal(estimate, holds);
    return new Promise((grant, refuse) => {
      root.#waiters.push({ ledger: this, estimate, holds, grant, refuse });
    });
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

  /** Refuses everything that waits here, and in what spends from it: the search is over. */
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

  /** Where calls wait: the uppermost ledger that has a say. */
  get root(): Ledger {
    return this.#isRepeating || this.#parent === undefined ? this : this.#parent.root;
  }

  #fits(estimate: CallSpend): boolean {
    const { remaining } = this;
    // What costs nothing fits an overdrawn budget too.
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
    // Dollars are binary fractions: what was added and taken away again need not be nothing.
    this.#reserved = this.#open === 0 ? nothing : addSpend(this.#reserved, estimate);
    if (this.#prepaid !== undefined) this.#passOn(open);
    else if (this.#parent !== undefined) this.#parent.#hold(estimate, open);
  }

  #overdraw(by: Omit<CallSpend, 'calls'>): void {
    const { tokens, usd } = this.#overdraft;
    this.#overdraft = { tokens: tokens + by.tokens, usd: usd + by.usd };
    if (this.#parent !== undefined) this.#parent.#overdraw(by);
  }

  /** How many reservations may still be settled without any being granted. */
  get #settling(): number {
    return this.#waiters.reduce((open, { holds }) => open - holds, this.#open);
  }

  #serveAll(): void {
    this.#serve();
    if (this.#parent !== undefined) this.#parent.#serveAll();
  }

  /** Grants in order of arrival, so that a large call is not starved by small ones. */
  #serve(): void {
    for (let head = this.#waiters[0]; head !== undefined; head = this.#waiters[0]) {
      if (head.ledger.#fits(head.estimate)) {
        this.#waiters.shift();
        head.grant(head.ledger.#grant(head.estimate));
      } else if (this.#open === 0) {
        this.#refuse(head);
      } else if (this.#settling <= 0) {
        // It goes on without, and gives back what it holds.
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
    const unit = (['calls', 'tokens', 'usd'] as const).find(
      (candidate) => estimate[candidate] > remaining[candidate],
    );
    if (holds === 0) this.#refused ??= unit;
    return new EspalierError(
      'budget',
      unit === undefined
        ? holds > 0
          ? 'Other calls wait for what is left of the budget.'
          : 'The search is over; no further call was made.'
        : `The budget has ${remaining[unit]} ${unit} left${unit === 'calls' ? ', refused ones counted' : ''}; the next call may need ${estimate[unit]}.`,
      { unit, scope: holds > 0 ? 'call' : 'search' },
    );
  }
}
