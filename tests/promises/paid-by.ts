/** What was paid, by unit. */
export interface Paid {
  calls: number;
  tokens: number;
  usd: number;
}

/** A line of a journal, of any version. */
export interface AnyLine {
  readonly type: string;
  readonly call?: number;
  readonly version?: number;
  readonly spend?: Paid;
  readonly reserved?: Paid;
  readonly lost?: Paid;
}

/**
 * What a journal says was paid: what its lines say was spent or lost, and what calls that are open may have cost. A
 * call that is begun again while it is open was lost.
 */
export function paidBy(lines: Iterable<AnyLine>): Paid {
  const sum = new Sum();
  for (const line of lines) sum.add(line);
  return sum.total();
}

class Sum {
  readonly #paid: Paid = { calls: 0, tokens: 0, usd: 0 };
  readonly #open = new Map<number, Paid>();
  #version = 0;

  add(line: AnyLine): void {
    const { type, call = -1 } = line;
    if (type === 'journal') this.#version = line.version ?? 0;
    if (type === 'resume') {
      plus(this.#paid, line.lost);
      this.#open.clear();
    }
    if (type === 'intent') {
      plus(this.#paid, this.#open.get(call));
      this.#open.set(call, { ...(line.reserved as Paid) });
    }
    if (type === 'result' || type === 'failure') this.#open.delete(call);
    if (type === 'result' || type === 'failure' || type === 'attempt') plus(this.#paid, line.spend);
    this.#cover(line, this.#open.get(call));
  }

  /** Since version 3 a failed attempt has used up what was set aside, until a line grants more. */
  #cover({ type, spend, reserved }: AnyLine, cover: Paid | undefined): void {
    if (cover === undefined) return;
    if (type === 'attempt' && this.#version >= 3 && (spend?.tokens ?? 0) > 0) {
      cover.tokens = 0;
      cover.usd = 0;
    }
    if (type === 'grant' || (type === 'attempt' && this.#version < 3)) plus(cover, reserved);
  }

  total(): Paid {
    const total = { ...this.#paid };
    for (const cover of this.#open.values()) plus(total, cover);
    return total;
  }
}

function plus(sum: Paid, part: Paid | undefined): void {
  sum.calls += part?.calls ?? 0;
  sum.tokens += part?.tokens ?? 0;
  sum.usd += part?.usd ?? 0;
}

/** What single calls cost beyond what had been set aside for them. */
export function overdraftOf(lines: Iterable<AnyLine>): Paid {
  const over: Paid = { calls: 0, tokens: 0, usd: 0 };
  const reserved = new Map<number, Paid>();
  for (const { type, call = -1, spend, ...line } of lines) {
    if (type === 'intent') reserved.set(call, line.reserved as Paid);
    if (type !== 'result') continue;
    const covered = reserved.get(call);
    over.tokens += Math.max(0, (spend?.tokens ?? 0) - (covered?.tokens ?? 0));
    over.usd += Math.max(0, (spend?.usd ?? 0) - (covered?.usd ?? 0));
  }
  return over;
}
