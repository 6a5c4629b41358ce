import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import { addressOfCall } from '../calls/call-request.ts';
import { addSpend, type CallSpend, nothing } from '../calls/call-spend.ts';
import { contentOf } from '../calls/calls.ts';
import type { Asked } from '../calls/middleware/wrap.ts';
import type { Payee } from '../contracts/language-model.ts';

/** What a model was paid for. */
export interface Bought {
  readonly spend: CallSpend;
  /** What others can use of it; nothing if it failed. */
  readonly parts: readonly string[];
}

/** What was bought, and by which searches it was used. */
export class Purchases {
  readonly #spends = new Map<string, CallSpend>();
  readonly #users = new Map<string, Set<string>>();
  /** The purchase of each part. */
  readonly #sources = new Map<string, string>();

  /** The cost of all. */
  get total(): CallSpend {
    return [...this.#spends.values()].reduce(addSpend, nothing);
  }

  /** Their number. */
  get count(): number {
    return this.#spends.size;
  }

  /** Begins one, whose search uses it. Until it ends it costs the most that it may. */
  begin(id: string, by: string, most: CallSpend): void {
    this.#spends.set(id, most);
    this.use(id, by);
  }

  /** Ends one. */
  end(id: string, { spend, parts }: Bought): void {
    this.#spends.set(id, spend);
    for (const part of parts) this.#sources.set(part, id);
  }

  /** Notes that a search uses a purchase. Returns whether that was unknown. */
  use(id: string, by: string): boolean {
    const users = this.#users.get(id) ?? new Set();
    this.#users.set(id, users);
    const isNew = !users.has(by);
    users.add(by);
    return isNew;
  }

  /** The purchases of parts. */
  of(parts: readonly string[]): ReadonlySet<string> {
    return new Set(parts.flatMap((part) => this.#sources.get(part) ?? []));
  }

  /** The cost of those that any of these searches used. */
  usedBy(searches: ReadonlySet<string>): CallSpend {
    return [...this.#spends].reduce((sum, [id, spend]) => {
      const users = [...(this.#users.get(id) ?? [])];
      return users.some((user) => searches.has(user)) ? addSpend(sum, spend) : sum;
    }, nothing);
  }
}

/** The parts of a request, by content: equal ones of a model and scope are bought once. */
export function partsOf(
  { operation, request }: Asked,
  { provider, modelId, settings = {} }: Payee,
  scope: string,
): readonly string[] {
  const keys = operation.parts?.of(request).keys ?? [addressOfCall(contentOf(operation, request))];
  return keys.map((key) => {
    const content = canonicalJson('part', [provider, modelId, settings, scope, key]);
    // Enough to tell apart what one benchmark buys.
    return contentAddress(content).slice(0, 16);
  });
}
