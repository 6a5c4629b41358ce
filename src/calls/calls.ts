import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import { EspalierError } from '../base/errors.ts';
import {
  expectArray,
  expectInteger,
  expectMethods,
  expectObject,
  expectText,
} from '../base/expect.ts';
import { expectMessages } from '../base/expect-messages.ts';
import { modelName } from '../base/model-name.ts';
import type { EffectName } from '../contracts/context.ts';
import type { DecisionModel, DecisionRequest, Decisions } from '../contracts/decision-model.ts';
import type { Embedding, EmbeddingModel } from '../contracts/embedding-model.ts';
import type { JsonValue } from '../contracts/json.ts';
import type {
  Completion,
  GenerateRequest,
  Generation,
  LanguageModel,
  ModelCall,
  ModelPrice,
  Usage,
} from '../contracts/language-model.ts';
import type { RewardModel, ScoreRequest, StepScores } from '../contracts/reward-model.ts';
import type { CallGate } from './call-gate.ts';
import type { CallOutput } from './call-in-flight.ts';
import type { LeftCalls } from './journal-index.ts';
import type { Ledger } from './ledger.ts';
import type { PriceTable } from './prices.ts';
import {
  actualCost,
  priceOf,
  worstCase,
  worstCaseOfDecision,
  worstCaseOfReading,
} from './pricing.ts';
import { soundDecisions, soundEmbeddings, soundGeneration } from './replies.ts';
import { Scoring } from './scoring.ts';
import { ImpossibleUsages, sumOfUsages } from './usage.ts';

/** A sample, and what the request that bought it used, told once a request. */
interface Bought {
  readonly completion: Completion;
  readonly usage: Usage | undefined;
}

/** What a price is looked up by. */
interface Priced {
  readonly provider: string;
  readonly modelId: string;
  readonly price?: ModelPrice;
}

/** Samples by index. */
type Samples = Map<number, Promise<Bought>>;

/** The index of the first sample and how many there are. */
type SampleRange = readonly [number, number];

/** A request without its samples: what all samples of it have in common. */
interface Prompt {
  readonly model: LanguageModel;
  readonly content: Omit<GenerateRequest, 'samples' | 'offset'>;
  readonly price: ModelPrice | undefined;
  /** The content address of model and request. */
  readonly address: string;
}

/** The kinds of paid calls, in terms of the one gate that they all go through. */
export class Calls {
  readonly #gate: CallGate;
  readonly #prices: PriceTable;
  readonly #ledger: Ledger;
  readonly #scoring: Scoring;
  readonly #impossible = new ImpossibleUsages();
  /** The requests for samples that an earlier run left, and of each sample the last one. */
  #left:
    | { readonly calls: LeftCalls; readonly ranges: ReadonlyMap<string, SampleRange> }
    | undefined;

  constructor(gate: CallGate, options: { prices: PriceTable; ledger: Ledger }) {
    this.#gate = gate;
    this.#prices = options.prices;
    this.#ledger = options.ledger;
    this.#scoring = new Scoring(gate, options.ledger, this.#impossible);
  }

  /** `request.samples` completions: those that were bought before, and new ones for the rest. */
  async generate(model: LanguageModel, request: GenerateRequest): Promise<Generation> {
    const name = nameOf(model, 'generate');
    expectObject('model.capabilities', model.capabilities);
    expectObject('request', request);
    const { samples = 1, offset = 0, ...content } = request;
    expectMessages(content.messages);
    expectSamples(samples);
    expectInteger('offset', offset, { min: 0 });
    const prompt: Prompt = {
      model,
      content,
      price: this.#price(model),
      address: addressOf(name, content),
    };
    const wanted = indices([offset, samples]);
    const found: Samples = new Map();
    for (const index of wanted) {
      const sample = this.#gate.bought.get(`${prompt.address}#${index}`);
      if (sample !== undefined) found.set(index, sample as Promise<Bought>);
    }
    await this.#buyMissing(prompt, wanted, found);
    return collect(await Promise.all(wanted.map((index) => found.get(index) as Promise<Bought>)));
  }

  /** The scores of solutions: those that were bought before, and new ones for the rest. */
  async score(model: RewardModel, request: ScoreRequest): Promise<StepScores> {
    const name = nameOf(model, 'score');
    return this.#scoring.score({ model, name, price: this.#price(model) }, request);
  }

  /** One decision a question. */
  async decide(model: DecisionModel, request: DecisionRequest): Promise<Decisions> {
    const name = nameOf(model, 'decide');
    expectObject('request', request);
    expectMessages(request.messages);
    expectObject('questions', request.questions);
    const price = this.#price(model);
    const reserve = worstCaseOfDecision(request, price);
    const { output } = await this.#gate.call({
      kind: 'decide',
      name,
      request: { ...request } as unknown as JsonValue,
      reserve,
      ledger: this.#ledger,
      repeatable: true,
      run: async (call) => {
        const reply = await model.decide(request, call);
        const decisions = soundDecisions(name, reply, Object.keys(request.questions));
        const usage = this.#impossible.soundUsage(name, decisions.usage, call);
        return {
          output: { ...decisions, usage } as unknown as JsonValue,
          spend: actualCost(usage, reserve, price),
        };
      },
    });
    return output as unknown as Decisions;
  }

  /** One vector a text. */
  async embed(model: EmbeddingModel, texts: readonly string[]): Promise<readonly Embedding[]> {
    const name = nameOf(model, 'embed');
    expectArray('texts', texts);
    for (const [place, text] of texts.entries()) expectText(`texts[${place}]`, text);
    const price = this.#price(model);
    const reserve = worstCaseOfReading(texts, price);
    const { output } = await this.#gate.call({
      kind: 'embed',
      name,
      request: [...texts],
      reserve,
      ledger: this.#ledger,
      repeatable: true,
      run: async (call) => {
        const reply = soundEmbeddings(name, await model.embed(texts, call), texts.length);
        const usage = this.#impossible.soundUsage(name, reply.usage, call);
        return { output: reply.embeddings, spend: actualCost(usage, reserve, price) };
      },
    });
    return output as readonly Embedding[];
  }

  /** A tool, a file, a browser. */
  async effect<T>(
    effect: EffectName,
    input: JsonValue,
    run: (call: ModelCall) => Promise<T>,
  ): Promise<T> {
    const {
      name,
      repeatable,
      free = false,
    } = typeof effect === 'string' ? { name: effect, repeatable: false } : effect;
    const spend = { calls: free ? 0 : 1, tokens: 0, usd: 0 };
    const { output } = await this.#gate.call({
      kind: 'effect',
      name,
      request: input,
      reserve: spend,
      ledger: this.#ledger,
      repeatable,
      run: async (call) => ({ output: ((await run(call)) ?? null) as JsonValue, spend }),
    });
    return output as T;
  }

  /**
   * One request where the server honours `n`; else one that warms its prefix cache, then the others. What
   * a journal holds is asked for in the same order: a replay must not be quicker than the recorded run.
   */
  async #buyMissing(prompt: Prompt, wanted: readonly number[], found: Samples): Promise<void> {
    const missing = wanted.filter((index) => !found.has(index));
    const batches = prompt.model.capabilities.n === true;
    const [first, ...rest] = this.#purchases(prompt, missing, batches);
    if (first === undefined) return;
    const warming = this.#buy(prompt, first, found);
    if (rest.length > 0 && !batches) await warming;
    for (const range of rest) void this.#buy(prompt, range, found);
  }

  /** In which requests samples are bought: in those that a journal holds, the others together or one by one. */
  #purchases(prompt: Prompt, missing: readonly number[], batches: boolean): readonly SampleRange[] {
    const purchases: SampleRange[] = [];
    const isBought = (index: number) =>
      purchases.some(([first, count]) => index >= first && index < first + count);
    for (const index of missing) {
      if (isBought(index)) continue;
      purchases.push(this.#purchase(prompt, index, batches ? missing : [index]));
    }
    return purchases;
  }

  /** The request that buys a sample, with as many of those after it as it may. */
  #purchase(prompt: Prompt, index: number, missing: readonly number[]): SampleRange {
    const asked: SampleRange = [index, runLength(index, (next) => missing.includes(next))];
    const { address } = prompt;
    const ranges = this.#leftRanges(this.#gate.leftBeside(contentOf(prompt, asked)));
    // The run before asked just so; its request may have failed, and another one brought the sample.
    if (ranges === undefined || ranges.has(`${address}#${asked.join('+')}`)) return asked;
    const left = ranges.get(`${address}#${index}`);
    if (left !== undefined) return left;
    const isNew = (next: number) => missing.includes(next) && !ranges.has(`${address}#${next}`);
    return [index, runLength(index, isNew)];
  }

  /** In which requests the calls that an earlier run left asked for samples. */
  #leftRanges(left: LeftCalls | undefined): ReadonlyMap<string, SampleRange> | undefined {
    if (left === undefined) return undefined;
    if (left === this.#left?.calls) return this.#left.ranges;
    const ranges = new Map<string, SampleRange>();
    for (const { name, request, samples } of this.#gate.intentsOf(left)) {
      if (samples === undefined) continue;
      const address = addressOf(name, request);
      ranges.set(`${address}#${samples.join('+')}`, samples);
      for (const index of indices(samples)) ranges.set(`${address}#${index}`, samples);
    }
    this.#left = { calls: left, ranges };
    return ranges;
  }

  /** Starts buying a range of samples in one request, and adds them to those found. */
  #buy(prompt: Prompt, range: SampleRange, found: Samples): Promise<unknown> {
    const { model, content, price, address } = prompt;
    const [first, count] = range;
    const reserve = worstCase(content, count, price);
    const call = this.#gate.call({
      ...contentOf(prompt, range),
      reserve,
      ledger: this.#ledger,
      repeatable: true,
      run: async (modelCall) => {
        const request = { ...content, samples: count, offset: first };
        const name = modelName(model);
        const generation = soundGeneration(name, await model.generate(request, modelCall), {
          count,
          tell: (fault) => this.#impossible.tell(name, { fault, call: modelCall }),
        });
        return {
          output: { ...generation } as unknown as JsonValue,
          spend: actualCost(generation.usage, reserve, price),
        };
      },
    });
    for (const [place, index] of indices(range).entries()) {
      const key = `${address}#${index}`;
      const sample = call.then((output) => pick(output, place));
      this.#gate.bought.set(key, sample);
      found.set(index, sample);
      // Asked for again, the gate decides anew whether the failure stands.
      sample.catch(() => this.#gate.bought.delete(key));
    }
    return call;
  }

  #price(model: Priced): ModelPrice | undefined {
    const price = priceOf(model, this.#prices, this.#ledger.remaining.usd !== Infinity);
    if (price === undefined) this.#gate.unpriced.add(modelName(model));
    return price;
  }
}

/** The name of what is a model of that kind. For callers without types. */
function nameOf(model: Priced, method: 'generate' | 'score' | 'decide' | 'embed'): string {
  expectMethods('model', model, [method]);
  return modelName(model);
}

function expectSamples(samples: number): void {
  if (samples === Number.POSITIVE_INFINITY) throw new EspalierError('usage', unlimited);
  expectInteger('samples', samples, { min: 1 });
}

const unlimited =
  'Expected `samples` to be an integer from 1 up, got `Infinity`: a policy whose `count` is `Infinity` is asked for all actions, and has to choose how many to draw, unless the algorithm has a `width`.';

/** What a request for samples asks. */
function contentOf({ model, content }: Prompt, samples: SampleRange) {
  const request = content as unknown as JsonValue;
  return { kind: 'generate', name: modelName(model), request, samples } as const;
}

function addressOf(name: string, request: unknown): string {
  return contentAddress(canonicalJson('request', [name, request]));
}

function indices([first, count]: SampleRange): readonly number[] {
  return Array.from({ length: count }, (_, place) => first + place);
}

/** How many consecutive indices from `start` on there are. */
function runLength(start: number, includes: (index: number) => boolean): number {
  let count = 0;
  while (includes(start + count)) count++;
  return count;
}

function pick({ callId, output }: CallOutput, place: number): Bought {
  const { completions, usage } = output as unknown as Generation;
  const completion = completions[place];
  if (completion === undefined) throw new Error(`Call ${callId} holds no sample ${place}.`);
  return { completion: { ...completion, callId }, usage: place === 0 ? usage : undefined };
}

/** The usage is known only where every request told its own. */
function collect(bought: readonly Bought[]): Generation {
  const usages = bought.flatMap(({ usage }) => (usage === undefined ? [] : [usage]));
  return {
    completions: bought.map(({ completion }) => completion),
    usage: sumOfUsages(usages),
  };
}
