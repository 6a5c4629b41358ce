import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { EspalierError } from '../base/errors.ts';
import { makeFolder } from '../base/make-folder.ts';
import { seededRandom } from '../base/random.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import { Account } from '../calls/account.ts';
import { addSpend, type CallSpend, nothing } from '../calls/call-spend.ts';
import { Ledger } from '../calls/ledger.ts';
import { wrapModel } from '../calls/middleware/compose.ts';
import { withCache } from '../calls/middleware/with-cache.ts';
import { type AnyMiddleware, aroundCalls } from '../calls/middleware/wrap.ts';
import type { PriceTable } from '../calls/prices.ts';
import { actualCost, askedTierOf, mostCost, priceOf } from '../calls/pricing.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { GenerateRequest, LanguageModel, ModelCall } from '../contracts/language-model.ts';
import { appendLine, readLines } from '../runs/json-lines.ts';
import { isOwnList } from '../runs/own-files.ts';
import { type Bought, Purchases, partsOf } from './purchases.ts';

const spendSchema = z.object({ calls: z.number(), tokens: z.number(), usd: z.number() });
const lineSchema = z.union([
  z.object({ key: z.string(), value: z.json() }),
  z.object({ buys: z.string(), by: z.string(), most: spendSchema }),
  z.object({ bought: z.string(), spend: spendSchema, parts: z.array(z.string()) }),
  z.object({ used: z.string(), by: z.string() }),
  z.object({ guided: z.string() }),
]);
type Line = z.infer<typeof lineSchema>;

/** Whether something was bought for a call. A mark, because what lies between makes calls of its own from a call. */
const buying: unique symbol = Symbol('espalier.buying');

interface MarkedCall extends ModelCall {
  readonly [buying]?: { bought: boolean };
}

/**
 * What searches have bought, so that others that ask the same need not: equal requests for the same instance and
 * attempt. Every process writes to files of its own, so that several may share a folder; one reads what the others have
 * written when it begins.
 */
export class Recording {
  /** All that was bought for this benchmark, in earlier sessions too. */
  bought: CallSpend;
  readonly #purchases = new Purchases();
  /** The search under way in each scope. */
  readonly #searches = new Map<string, string>();
  readonly #guided = new Set<string>();
  /** Where answers are kept, and where what concerns this benchmark alone is: the same file unless answers are shared. */
  readonly #shared: string;
  readonly #own: string;
  readonly #values = new Map<string, JsonValue>();
  /** How many calls of each scope needed nothing to be bought. */
  readonly #reused = new Map<string, number>();
  /** By model and scope: two models of one name may have been told different things. */
  readonly #models = new Map<LanguageModel, Map<string, LanguageModel>>();

  /**
   * @param own - The folder of this benchmark's own.
   * @param shared - Where answers are kept, for others too.
   * @throws EspalierError `usage` for a file of somebody else; `storage` if a folder cannot be read, naming the file and
   * the line.
   */
  constructor(own: string, shared: string = own) {
    for (const line of linesIn(shared)) if ('key' in line) this.#values.set(line.key, line.value);
    for (const line of linesIn(own)) {
      // What a killed process was waiting for may have been paid for.
      if ('buys' in line) this.#purchases.begin(line.buys, line.by, line.most);
      if ('bought' in line) this.#purchases.end(line.bought, line);
      if ('used' in line) this.#purchases.use(line.used, line.by);
      if ('guided' in line) this.#guided.add(line.guided);
    }
    this.bought = this.#purchases.total;
    this.#shared = ownFile(shared);
    this.#own = own === shared ? this.#shared : ownFile(own);
  }

  /** What was bought here of what searches have used: it does not depend on what others have bought besides. */
  boughtFor(searches: ReadonlySet<string>): CallSpend {
    return this.#purchases.usedBy(searches);
  }

  /** Begins a search: until the next one of its scope begins, what is bought there is bought for it. */
  begin(scope: string, search: string): void {
    this.#searches.set(scope, search);
    this.#reused.delete(scope);
  }

  /** Whether an oracle was asked by a method, in this session or an earlier one. */
  isGuided(method: string): boolean {
    return this.#guided.has(method);
  }

  /** Notes, before the answer is known, that an oracle is asked by a method: a killed search may never ask again. */
  noteGuided(method: string): void {
    if (this.#guided.has(method)) return;
    appendLine(this.#own, { guided: method });
    this.#guided.add(method);
  }

  /** A model that replays the answers bought for the same instance and attempt, charged as when they were bought. */
  model(
    model: LanguageModel,
    {
      scope,
      paced,
      prices,
      inner,
    }: {
      /** The instance and the attempt: what one of them bought says nothing about another. */
      readonly scope: string;
      readonly paced: boolean;
      readonly prices: PriceTable;
      /** The middleware between the recording and what counts as bought. */
      readonly inner: AnyMiddleware;
    },
  ): LanguageModel {
    const key = JSON.stringify([model.provider, model.modelId, scope]);
    const ofModel = this.#models.get(model) ?? new Map<string, LanguageModel>();
    this.#models.set(model, ofModel);
    const known = ofModel.get(scope);
    if (known !== undefined) return known;
    const store = {
      get: (name: string) => this.#values.get(name),
      set: (name: string, value: JsonValue) => {
        this.#values.set(name, value);
        appendLine(this.#shared, { key: name, value });
      },
    };
    const cache = withCache({ store, namespace: key, charged: true, paced });
    // Within the seed the request has another address.
    const bought = [this.#buys(), inner, this.#counting(scope, prices), seeded(scope)];
    const made = wrapModel(model, this.#reusing(scope), cache, ...bought);
    ofModel.set(scope, made);
    return made;
  }

  /** How many calls of a scope were answered from here since this was last asked. */
  takeReused(scope: string): number {
    const count = this.#reused.get(scope) ?? 0;
    this.#reused.delete(scope);
    return count;
  }

  #reusing(scope: string): AnyMiddleware {
    return aroundCalls((model) => async (asked, call, make) => {
      const by = this.#searches.get(scope) ?? '';
      const marked: MarkedCall = { ...call, [buying]: { bought: false } };
      const answer = await make(marked);
      if (marked[buying]?.bought === false)
        this.#reused.set(scope, (this.#reused.get(scope) ?? 0) + 1);
      for (const used of this.#purchases.of(partsOf(asked, model, scope))) {
        if (this.#purchases.use(used, by)) appendLine(this.#own, { used, by });
      }
      return answer;
    });
  }

  /** Notes which calls no recorded answer answers. */
  #buys(): AnyMiddleware {
    return aroundCalls(() => (_, call: MarkedCall, make) => {
      const mark = call[buying];
      if (mark !== undefined) mark.bought = true;
      return make(call);
    });
  }

  /** Counts the calls that were made, with their failed attempts. One that waits for others and is aborted was not. */
  #counting(scope: string, prices: PriceTable): AnyMiddleware {
    return aroundCalls((model) => async (asked, call, make) => {
      const { operation, request } = asked;
      const price = priceOf(model, prices, false);
      const most = mostCost(operation.worstCase?.(request), price, askedTierOf(model));
      const { extend, end } = this.#purchase(this.#searches.get(scope) ?? '', most);
      // Without limits: it only counts.
      const ledger = new Ledger({ budget: {}, clock: call.clock });
      const account = new Account({ ledger, reserve: most }, ledger.keep(most));
      const watched = watchedBy(account, call, extend);
      const answer = await make(watched).catch((error: unknown) => {
        // What failed or was aborted and may have been paid for is charged to its search: it was bought as well.
        const spend = account.settle(account.failed(error));
        end({ spend: spend.tokens > 0 || spend.usd > 0 ? spend : nothing, parts: [] });
        throw error;
      });
      const last = account.answered(actualCost(answer.usage, most, price));
      end({ spend: account.settle(last), parts: partsOf(asked, model, scope) });
      return answer;
    });
  }

  /** Begins a purchase of a search. */
  #purchase(
    by: string,
    most: CallSpend,
  ): { readonly extend: (by: CallSpend) => void; readonly end: (bought: Bought) => void } {
    // No other process writes to this file, so that its name and a number are no other purchase.
    const id = `${basename(this.#own, '.jsonl')}.${this.#purchases.count}`;
    let reserved = nothing;
    const extend = (more: CallSpend): void => {
      reserved = addSpend(reserved, more);
      this.#purchases.begin(id, by, reserved);
      appendLine(this.#own, { buys: id, by, most: reserved });
    };
    extend(most);
    return {
      extend,
      end: (bought) => {
        this.bought = addSpend(this.bought, bought.spend);
        this.#purchases.end(id, bought);
        appendLine(this.#own, { bought: id, ...bought });
      },
    };
  }
}

/**
 * The context of a call whose attempts are charged to an account of its own as they are to its search.
 *
 * @param onGrant - Called with the maximum cost of each further request before it is sent.
 */
function watchedBy(
  account: Account,
  call: ModelCall,
  onGrant: (most: CallSpend) => void,
): ModelCall {
  return {
    ...call,
    retry: async (attempt) => {
      const spend = account.chargeOf(attempt.charged);
      if (spend !== nothing) account.fail(spend);
      await call.retry?.(attempt);
      if (spend !== nothing) onGrant(await account.hold(false));
    },
    requestExtraCall: async (reason, options) => {
      account.extend();
      await call.requestExtraCall?.(reason, options);
      onGrant(await account.hold(false));
    },
  };
}

function* linesIn(folder: string): Generator<Line, void, undefined> {
  const names = withStorageErrors(`\`${folder}\``, () => {
    makeFolder(folder);
    // Before anything is bought that could not be kept.
    accessSync(folder, constants.W_OK);
    return readdirSync(folder).toSorted();
  });
  for (const name of names.filter((each) => each.endsWith('.jsonl'))) {
    const path = join(folder, name);
    if (!isOwnList(path, { shape: lineSchema, beginning: '{"' })) throw foreign(path);
    for (const { value } of readLines(path, lineSchema)) yield value;
  }
}

function foreign(path: string): EspalierError {
  return new EspalierError(
    'usage',
    `\`${path}\` holds no recorded answers, and all \`.jsonl\` files of the folder are read as such: move it, or choose another folder for \`--cache\` (\`recording\` in code).`,
  );
}

/** A file that no other process writes to: one of this number may have written here before. */
function ownFile(folder: string): string {
  for (let count = 0; ; count++) {
    const path = join(folder, `${process.pid}-${count}.jsonl`);
    if (!existsSync(path)) return path;
  }
}

/** Models that draw by a seed draw other samples for another instance or attempt. */
function seeded(scope: string): AnyMiddleware {
  const seed = seededRandom(scope).integer(2 ** 31);
  return aroundCalls((model) => ({ operation, request }, call, make) => {
    const { capabilities } = model as LanguageModel;
    if (operation.kind !== 'generate' || capabilities.seed !== true) return make(call);
    return make(call, { seed, ...(request as GenerateRequest) });
  });
}
