import { expectMethods, expectObject } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { modelName } from '../base/model-name.ts';
import type { ModelCall, ModelPrice, Payee, Usage } from '../contracts/language-model.ts';
import type { Role } from '../contracts/spend.ts';
import type { CallGate } from './call-gate.ts';
import { addressOfCall, type CallContent } from './call-request.ts';
import type { LeftCalls } from './journal-index.ts';
import { KnownPrompts } from './known-prompts.ts';
import { Lead } from './lead.ts';
import type { Ledger } from './ledger.ts';
import type { LeftOf, ModelOperation, Parts } from './operations/model-operation.ts';
import type { PriceTable } from './prices.ts';
import { actualCost, askedTierOf, mostCost, priceOf } from './pricing.ts';
import { faultOfCounts, ImpossibleUsages, sumOfUsages, withoutUsage } from './usage.ts';
import type { AnsweredCall } from './usage-by-role.ts';

/** The result of a part, and the usage of its request, which only the first part of the request has. */
interface Bought<Result> {
  readonly result: Result;
  readonly usage: Usage | undefined;
}

/** The context in which a call is made. */
interface Buying {
  readonly role?: Role | undefined;
  /** The first of several calls with a common prefix, if it is sent ahead; and whether it is this one. */
  readonly lead?: Lead | undefined;
  readonly isFirst?: boolean;
}

/** The parts requested in calls of one kind and name that an earlier run left, by their keys. */
type LeftIndex = Map<string, unknown>;

/** Makes calls of any kind through the gate. Calls that consist of parts pay for no part twice. */
export class Calls {
  readonly #gate: CallGate;
  readonly #prices: PriceTable;
  readonly #ledger: Ledger;
  readonly #prompts = new KnownPrompts();
  /** Those of calls that effects request: a replay, which does not run effects, does not know them. */
  readonly #innerPrompts = new KnownPrompts();
  readonly #impossible = new ImpossibleUsages();
  readonly #left = new WeakMap<LeftCalls, Map<string, LeftIndex>>();

  constructor(gate: CallGate, options: { prices: PriceTable; ledger: Ledger }) {
    this.#gate = gate;
    this.#prices = options.prices;
    this.#ledger = options.ledger;
  }

  /** The result of an operation, from parts that were already paid for and new calls for the others. */
  async call<Request, Result>(
    operation: ModelOperation<Request, Result>,
    request: Request,
    role?: Role,
  ): Promise<Result> {
    expectOperation(operation);
    const checking = operation.check?.(request);
    if (checking !== undefined) await checking;
    const { parts } = operation;
    return parts === undefined
      ? this.#buy(operation, request, { role })
      : this.#compose(operation, parts, { request, role });
  }

  /**
   * Makes calls for the missing parts. Recorded parts are requested in the same order, because a replay must not be
   * faster than the recorded run.
   */
  async #compose<Request, Result>(
    operation: ModelOperation<Request, Result>,
    parts: Parts<Request, Result>,
    { request, role }: { readonly request: Request; readonly role: Role | undefined },
  ): Promise<Result> {
    const { keys, purchases } = parts.of(request);
    const bought = this.#gate.bought as Map<string, Promise<Bought<Result>>>;
    const found = new Map<string, Promise<Bought<Result>>>();
    const missing: number[] = [];
    for (const [place, key] of keys.entries()) {
      const there = bought.get(key);
      if (there !== undefined) {
        this.#gate.places.share(there);
        found.set(key, there);
      } else if (keys.indexOf(key) === place) missing.push(place);
    }
    const buying = purchases(missing, this.#leftOf(operation, parts));
    const warms = buying.length > 1 && parts.inTurn(request) && !this.#gate.waitsInBatches;
    const lead = warms ? new Lead() : undefined;
    for (const [turn, purchase] of buying.entries()) {
      const isFirst = turn === 0;
      const answer = this.#buy(operation, purchase.request, { role, lead, isFirst });
      if (isFirst) lead?.endsWith(answer);
      for (const [place, key] of purchase.keys.entries()) {
        const part = answer.then((whole) => ({
          result: parts.split(whole)[place] as Result,
          usage: place === 0 ? (operation.usage?.(purchase.request, whole) ?? {}) : undefined,
        }));
        bought.set(key, part);
        this.#gate.places.offer(part);
        found.set(key, part);
        // If it is requested again, the gate decides anew whether the failure stands.
        part.catch(() => bought.delete(key));
      }
    }
    const all = await Promise.all(keys.map((key) => found.get(key) as Promise<Bought<Result>>));
    return parts.join(
      all.map(({ result }) => result),
      sumOfUsages([...new Set(all)].flatMap(({ usage }) => usage ?? [])),
    );
  }

  /** The result of a call without parts. */
  async #buy<Request, Result>(
    operation: ModelOperation<Request, Result>,
    request: Request,
    { role = 'algorithm', ...company }: Buying = {},
  ): Promise<Result> {
    const { result: codec } = operation;
    const price = this.#price(operation);
    const { counting, isFree, name, payee } = operation;
    const counted = counting && (await this.#count(counting, request));
    const isGuessed = counted === undefined && this.#ledger.limitsTokens;
    const prompt = isGuessed ? operation.prompt?.(request) : undefined;
    const guess = prompt && this.#knownPrompts.of(name, prompt);
    const worst = operation.worstCase?.(request, counted ?? guess?.most);
    const reserve = mostCost(worst, price, payee && askedTierOf(payee));
    const stateless = operation.stateless?.(request);
    const isUnpriced = payee !== undefined && price === undefined;
    const calling = this.#gate.call({
      ...contentOf(operation, request),
      ...(stateless !== undefined && { stateless }),
      ...(isFree !== undefined && { isFree }),
      isKept: this.#gate.waitsInBatches && operation.mayWait === true,
      reserve,
      ledger: this.#ledger,
      repeatable: operation.repeatable,
      ...(company.isFirst === true && company.lead && { onWait: company.lead.begin }),
      run: async (call, number) => {
        const made = await this.#makeBy(operation, request, { call, number, ...company });
        const accepted = operation.accept?.(request, made) ?? made;
        const used = operation.usage?.(request, accepted);
        const countFault = used === undefined ? undefined : faultOfCounts(used);
        const fault = operation.usageFault?.(request, accepted) ?? countFault;
        if (fault !== undefined) this.#impossible.tell(operation.name, { fault, call });
        const isSound = fault === undefined;
        const result = isSound || !isOfModel(operation) ? accepted : withoutUsage(accepted);
        return {
          output: codec === undefined ? (result ?? null) : codec.encode(result),
          spend: isSound ? actualCost(used, reserve, price) : reserve,
        };
      },
    });
    const { callId, output } = await calling.catch((error: unknown) => {
      if (isUnpriced) this.#gate.unpriced.add(modelName(payee));
      throw error;
    });
    const result = codec === undefined ? (output as Result) : codec.decode(output);
    const usage = operation.usage?.(request, result);
    guess?.learn(usage?.inputTokens ?? 0);
    if (payee !== undefined) {
      this.#note({ id: callId, role, model: name, price, calls: reserve.calls, usage });
    }
    return operation.named?.(result, callId) ?? result;
  }

  get #knownPrompts(): KnownPrompts {
    return this.#gate.places.isInside ? this.#innerPrompts : this.#prompts;
  }

  /** Notes the reported usage of a call. */
  #note({ usage, ...call }: Omit<AnsweredCall, 'usage'> & { usage: Usage | undefined }): void {
    const isSound = usage !== undefined && faultOfCounts(usage) === undefined;
    if (isSound) this.#gate.usage.add({ ...call, usage });
    if (call.price === undefined && usage?.usd === undefined) this.#gate.unpriced.add(call.model);
  }

  /**
   * The number of tokens of a prompt, if it is needed and the model can count. Counting is a call whose result takes
   * effect in its turn.
   */
  async #count<Request>(
    counting: ModelOperation<Request, number | null>,
    request: Request,
  ): Promise<number | undefined> {
    const isUseful = this.#gate.counts(contentOf(counting, request), this.#ledger);
    return isUseful ? ((await this.#buy(counting, request)) ?? undefined) : undefined;
  }

  /** Makes a call. Models make no further calls; effects of users may. */
  #makeBy<Request, Result>(
    operation: ModelOperation<Request, Result>,
    request: Request,
    making: Omit<Buying, 'role'> & { readonly call: ModelCall; readonly number: number },
  ): Promise<Result> {
    const { call, number, lead, isFirst = false } = making;
    const make = async () => {
      if (lead === undefined) return operation.run(request, call);
      if (isFirst) return operation.run(request, lead.first(call));
      await lead.begun(call.signal);
      return operation.run(request, call);
    };
    return isOfModel(operation) ? make() : this.#gate.places.makingOthers(number, make);
  }

  /** The requests of an earlier run in calls of this kind and name. */
  #leftOf<Request, Result>(
    operation: ModelOperation<Request, Result>,
    parts: Parts<Request, Result>,
  ): LeftOf<Request> {
    return (request) => {
      const content = contentOf(operation, request);
      const left = this.#gate.leftBeside(content);
      if (left === undefined) return undefined;
      const index = this.#indexOf(left, content, parts);
      return {
        isAsked: index.has(addressOfCall(content)),
        holding: (key) => index.get(key) as Request | undefined,
      };
    };
  }

  #indexOf<Request, Result>(
    left: LeftCalls,
    { kind, name }: CallContent,
    parts: Parts<Request, Result>,
  ): LeftIndex {
    const indices = this.#left.get(left) ?? new Map<string, LeftIndex>();
    this.#left.set(left, indices);
    const there = indices.get(`${kind} ${name}`);
    if (there !== undefined) return there;
    const index: LeftIndex = new Map();
    indices.set(`${kind} ${name}`, index);
    for (const line of this.#gate.intentsOf(left)) {
      if (line.kind !== kind || line.name !== name) continue;
      const request = parts.requestOf(line.request, line.samples);
      for (const key of [line.key, ...parts.of(request).keys]) index.set(key, request);
    }
    return index;
  }

  #price({ payee }: { readonly payee?: Payee }): ModelPrice | undefined {
    if (payee === undefined) return undefined;
    expectObject('payee', payee);
    return priceOf(payee, this.#prices, this.#ledger.remaining.usd !== Infinity);
  }
}

const known =
  'kind name payee repeatable actsOnState check address worstCase usage again run result stateless';

function expectOperation<Request, Result>(operation: ModelOperation<Request, Result>): void {
  expectMethods('operation', operation, ['address', 'run']);
  if (!isOfModel(operation)) expectOptions('operation', operation, known);
}

/** Whether it is one of our own operations for models, whose answers report a usage. */
function isOfModel<Request, Result>({ telemetry }: ModelOperation<Request, Result>): boolean {
  return telemetry !== undefined;
}

/** The part of a request that is in the journal and in the content address. */
export function contentOf<Request, Result>(
  operation: ModelOperation<Request, Result>,
  request: Request,
): CallContent {
  const { kind, name } = operation;
  const samples = operation.samples?.(request);
  return { kind, name, request: operation.address(request), ...(samples && { samples }) };
}
