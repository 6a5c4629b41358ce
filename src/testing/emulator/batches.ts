import type { Batch, BatchItem, BatchResult, Call, Exchange } from './dialect.ts';
import { hasFault } from './faults.ts';
import { Rejection, type RejectionOptions } from './rejection.ts';

/** The time limit of a batch, in milliseconds: items not answered by then expire. */
export const dayMs = 86_400_000;

/** Creates and stores a batch of items. `endpoint` is the path of the equivalent live requests. */
export function submit(call: Call, endpoint: string, file: Pick<Batch, 'errors' | 'items'>): Batch {
  const batch = new SubmittedBatch(call, endpoint, file);
  call.service.batches.push(batch);
  return batch;
}

class SubmittedBatch implements Batch {
  readonly id: string;
  readonly createdMs: number;
  readonly items: Batch['items'];
  readonly errors: Batch['errors'];
  cancelledMs: number | undefined;
  readonly call: Call;
  private readonly endpoint: string;
  private answered: readonly BatchResult[] | undefined;

  constructor(call: Call, endpoint: string, { items, errors }: Pick<Batch, 'errors' | 'items'>) {
    const { exchange, service } = call;
    this.id = `${service.dialect.batchPrefix ?? 'batch'}_${exchange.index}`;
    this.createdMs = service.settings.now();
    this.call = call;
    this.items = items;
    this.errors = errors;
    this.endpoint = endpoint;
  }

  get share(): number {
    const { batchMs, now } = this.call.service.settings;
    const until = Math.min(this.cancelledMs ?? now(), this.createdMs + dayMs);
    return batchMs === 0 ? 1 : Math.min(1, (until - this.createdMs) / batchMs);
  }

  get isOver(): boolean {
    const isLate = this.call.service.settings.now() >= this.createdMs + dayMs;
    const hasFailed = this.errors.length > 0;
    return this.share === 1 || this.cancelledMs !== undefined || isLate || hasFailed;
  }

  get endedMs(): number {
    const { batchMs } = this.call.service.settings;
    return this.cancelledMs ?? this.createdMs + Math.min(batchMs, dayMs);
  }

  results(): readonly BatchResult[] {
    this.answered ??= this.answers();
    return this.answered;
  }

  private answers(): readonly BatchResult[] {
    const reached = Math.floor(this.items.length * this.share);
    const missed = this.cancelledMs === undefined ? 'expired' : 'canceled';
    const exchanges = this.items.map((item, place) => this.exchangeOf(item, place));
    const results = this.items.map((item, place): BatchResult => {
      const exchange = exchanges[place];
      if (exchange === undefined || place >= reached) return { kind: missed, item };
      if (hasFault(exchange.faults, 'expires')) return { kind: 'expired', item };
      const { status, body } = this.call.service.answerItem(exchange);
      const json = 'json' in body ? body.json : null;
      return { kind: 'answered', item, status, json, requestId: `req_${exchange.index}` };
    });
    // An item's cache writes cannot be read by other items of its batch.
    for (const { afterwards } of exchanges) for (const run of afterwards) run();
    const isOdd = (_: unknown, place: number) => place % 2 === 1;
    return [...results.filter(isOdd), ...results.filter((_, place) => place % 2 === 0)];
  }

  /** An item as the equivalent live request. */
  private exchangeOf({ customId, body }: BatchItem, place: number): Exchange {
    const { exchange, service } = this.call;
    const { index, headers, questions } = exchange;
    const path = this.endpoint;
    return {
      // Ids are derived from indices, and no live request has an index this large.
      index: (index + 1) * 1_000_000 + place,
      ...{ method: 'POST', path, query: new URLSearchParams(), headers, body, questions, customId },
      sample: Number(/_s(\d+)$/.exec(customId)?.[1] ?? 0),
      faults: service.faultsOf({ index, path, body, asksModel: true, customId }),
      afterwards: [],
    };
  }
}

/** The batch with this id. Throws a {@link Rejection} if there is none. */
export function batchOf({ service }: Call, id: string, missing: RejectionOptions): Batch {
  const batch = service.batches.find((candidate) => candidate.id === id);
  if (batch === undefined) throw new Rejection(missing);
  return batch;
}

/** A page of the batches, newest first. */
export function batchPage(
  { service, exchange }: Call,
  {
    after,
    before,
    most,
  }: { readonly after: string; readonly before?: string; readonly most: number },
): { readonly page: readonly Batch[]; readonly hasMore: boolean } {
  const { query } = exchange;
  const newest = [...service.batches].reverse();
  const limit = Math.min(Number(query.get('limit') ?? 20) || 20, most);
  const placeOf = (name: string) => newest.findIndex(({ id }) => id === query.get(name));
  if (before !== undefined && query.has(before)) {
    const end = Math.max(0, placeOf(before));
    return { page: newest.slice(Math.max(0, end - limit), end), hasMore: end > limit };
  }
  const start = query.has(after) ? placeOf(after) + 1 : 0;
  return { page: newest.slice(start, start + limit), hasMore: start + limit < newest.length };
}

/** The first name that occurs twice; `undefined` if each is unique. */
export function repeated(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name).size);
}
