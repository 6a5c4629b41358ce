import { ModelCallError } from '../../base/errors.ts';
import { expectation } from '../../base/expect.ts';
import { seededRandom } from '../../base/random.ts';
import { settledOrLeft } from '../../base/unless-aborted.ts';
import type { Random } from '../../contracts/context.ts';
import type { Generation, Message, ModelCall } from '../../contracts/language-model.ts';
import type { Chat } from '../in-process/chat.ts';
import type { InProcessRequest } from '../in-process/request.ts';
import { Sample } from '../in-process/sample.ts';
import type { NativeGrammarState } from './binding.ts';
import { type Distribution, drawToken, logprobsOf, toldTokens } from './distribution.ts';
import type { Grammar, GrammarMaker } from './grammar.ts';
import type { Pool } from './pool.ts';
import type { Slot } from './slot.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Settings of an engine. */
export interface EngineOptions {
  /** The name of the model in error messages. */
  readonly model: string;
  readonly vocabulary: Vocabulary;
  readonly chat: Chat;
  readonly pool: Pool;
  /** The maximum tokens of a sequence. */
  readonly contextLength: number;
  readonly grammarFor: GrammarMaker;
}

/** Statistics of a model since it was loaded. */
export interface LlamaStats {
  /** Requests answered. */
  readonly requests: number;
  /** Tokens computed by the model. */
  readonly computed: number;
  /** Prompt tokens reused from the cache. */
  readonly reused: number;
  /** Tokens sampled. */
  readonly sampled: number;
  /** Tokens currently in memory. */
  readonly cached: number;
}

/** A request in progress. */
interface Job {
  readonly request: InProcessRequest;
  readonly prompt: readonly number[];
  readonly random: Random;
  /** The maximum tokens of a sample: from the request, or the rest of the context. */
  readonly maxTokens: number;
  /** Aborts when the request has ended in any way. */
  readonly over: AbortController;
  /** The grammar of its samples. */
  readonly grammar: Grammar | undefined;
  readonly samples: (Sample | undefined)[];
  /** The number of samples started. */
  begun: number;
  /** The prediction after the prompt, once it has been read. */
  first: Distribution | undefined;
  /** The number of prompt tokens that were in memory already. */
  cached: number | undefined;
  readonly resolve: (generation: Generation) => void;
  readonly reject: (error: unknown) => void;
}

/** A sample in progress. */
interface Writing {
  readonly job: Job;
  readonly slot: Slot;
  readonly sample: Sample;
  /** Its own random numbers. */
  readonly random: Random;
  /** The prompt and the text so far. */
  readonly tokens: number[];
}

/**
 * Answers many requests at once, with as many concurrent samples as there are sequences in memory. If more are waiting,
 * requests take turns, so that a large one does not hold up a small one.
 */
export class Engine {
  readonly #options: EngineOptions;
  /** Ordered by when their next sample is due. */
  readonly #jobs = new Set<Job>();
  readonly #writers = new Set<Promise<void>>();
  #closed: Error | undefined;
  #requests = 0;
  #reused = 0;
  #sampled = 0;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /** Statistics so far. */
  get stats(): LlamaStats {
    const { computed, cached } = this.#options.pool;
    const [requests, reused, sampled] = [this.#requests, this.#reused, this.#sampled];
    return { requests, computed, reused, sampled, cached };
  }

  /** Answers a request. */
  async generate(request: InProcessRequest, call: ModelCall): Promise<Generation> {
    const { signal } = call;
    signal.throwIfAborted();
    const state = this.#open(request);
    // An unsupported schema is reported before anything is read.
    const grammar = await this.#grammarFor(request, call);
    signal.throwIfAborted();
    if (this.#closed !== undefined) throw this.#closed;
    return settledOrLeft(signal, (settle) => {
      const job: Job = { ...state, grammar, ...settle };
      this.#jobs.add(job);
      this.#pump();
      return () => this.#fail(job, signal.reason);
    });
  }

  /** The number of tokens of a prompt. */
  count(messages: readonly Message[]): number {
    return this.#options.chat(messages).length;
  }

  /** Gives up all requests in flight; resolves when nothing is running. */
  async close(reason: Error): Promise<void> {
    this.#closed = reason;
    for (const job of this.#jobs) this.#fail(job, reason);
    await Promise.all(this.#writers);
  }

  #open(request: InProcessRequest): Omit<Job, 'grammar' | 'resolve' | 'reject'> {
    const { chat, contextLength, model } = this.#options;
    const prompt = chat(request.messages);
    if (prompt.length === 0) throw expectation('messages', 'text', request.messages);
    if (prompt.length > contextLength) {
      throw new ModelCallError({
        kind: 'context-length',
        message: `The prompt has ${prompt.length} tokens, and the context of ${model} holds ${contextLength}: shorten it, or set a larger \`contextSize\`.`,
      });
    }
    return {
      ...{ request, prompt, first: undefined, cached: undefined, begun: 0 },
      random: seededRandom(request.seed).split(prompt.join(' ')),
      // The last token of an answer is not read.
      maxTokens: Math.min(request.maxTokens, contextLength - prompt.length + 1),
      over: new AbortController(),
      samples: Array.from({ length: request.samples }),
    };
  }

  async #grammarFor({ schema }: InProcessRequest, call: ModelCall): Promise<Grammar | undefined> {
    if (schema === undefined) return undefined;
    const { grammarFor, model } = this.#options;
    const grammar = await grammarFor(schema);
    if (grammar.unbound.length > 0) {
      const words = grammar.unbound.map((word) => `\`${word}\``).join(', ');
      call.warn?.({
        model: `llama:${model}`,
        about: 'schema',
        message: `The text is constrained to the schema except for ${words}: check these in the result.`,
      });
    }
    return grammar;
  }

  /** Starts as many samples as there is room for. */
  #pump(): void {
    while (this.#writers.size < this.#options.pool.size) {
      const job = this.#due();
      if (job === undefined) return;
      // It goes to the end of the queue.
      this.#jobs.delete(job);
      this.#jobs.add(job);
      this.#begin(job, job.begun++);
    }
  }

  #due(): Job | undefined {
    for (const job of this.#jobs) if (job.begun < job.request.samples) return job;
    return undefined;
  }

  #begin(job: Job, index: number): void {
    const writing = this.#write(job, index)
      .catch((error: unknown) => this.#fail(job, error))
      .finally(() => {
        this.#writers.delete(writing);
        this.#pump();
      });
    this.#writers.add(writing);
  }

  async #write(job: Job, index: number): Promise<void> {
    const { request, prompt, maxTokens, grammar } = job;
    const { vocabulary, pool } = this.#options;
    const slot = await this.#read(job);
    try {
      const sample = new Sample({ request, tokenizer: vocabulary, prompt, maxTokens });
      const random = job.random.split(request.offset + index);
      const tokens = [...prompt];
      const writing = { job, slot, sample, random, tokens };
      if (grammar === undefined) await this.#writeFreely(writing);
      else await this.#writeBound(writing, grammar.begin());
      job.samples[index] = sample;
    } finally {
      pool.release(slot);
    }
    this.#settle(job);
  }

  /**
   * Reads the prompt of a request. The prediction after it is kept for all samples; with a grammar, each sample
   * computes it itself, from the last token.
   */
  async #read(job: Job): Promise<Slot> {
    const { prompt, grammar } = job;
    const before = prompt.slice(0, -1);
    const wish = wishOf(job.request);
    const { slot, reused } = await this.#options.pool.read({
      tokens: () => (job.first === undefined ? before : prompt),
      async follow(read) {
        if (grammar === undefined) job.first ??= await read.next(prompt.at(-1) ?? 0, wish);
      },
      signal: job.over.signal,
    });
    this.#reused += reused;
    job.cached ??= reused;
    return slot;
  }

  async #writeFreely({ job, slot, sample, random, tokens }: Writing): Promise<void> {
    const { request, over, first } = job;
    const wish = wishOf(request);
    let told = first;
    while (told !== undefined) {
      over.signal.throwIfAborted();
      const chance = request.temperature === 0 ? 0 : random.next();
      let token = drawToken(told, request, chance);
      if (token === undefined) {
        await slot.stepBack(tokens, over.signal);
        told = await slot.next(tokens.at(-1) ?? 0, 'all');
        token = drawToken(told, request, chance) ?? 0;
      }
      this.#take(sample, token, told);
      if (sample.isFinished) return;
      tokens.push(token);
      told = await slot.next(token, wish);
    }
  }

  async #writeBound(
    { job, slot, sample, random, tokens }: Writing,
    grammarEvaluationState: NativeGrammarState,
  ): Promise<void> {
    const { request, over, prompt } = job;
    const { temperature, topK = 0, topP = 1, topLogprobs } = request;
    const settings = {
      temperature,
      topK,
      topP,
      grammarEvaluationState,
      yieldEogToken: true,
    } as const;
    for (;;) {
      over.signal.throwIfAborted();
      const last = tokens.at(-1) ?? 0;
      // The prediction of the model itself: sampling only reports what the grammar allows.
      const told = topLogprobs === undefined ? undefined : await slot.next(last, 'all');
      if (told !== undefined) await slot.stepBack(tokens, over.signal);
      const token = await slot.draw(last, { ...settings, seed: random.integer(2 ** 31) });
      if (token === undefined) {
        throw new ModelCallError({
          kind: 'malformed',
          message: `${this.#options.model} finds no token that the schema allows after ${tokens.length - prompt.length}.`,
        });
      }
      this.#take(sample, token, told);
      if (sample.isFinished) return;
      tokens.push(token);
    }
  }

  #take(sample: Sample, token: number, told: Distribution | undefined): void {
    const { nameOf } = this.#options.vocabulary;
    sample.extend(token, told && (() => logprobsOf(told, nameOf)));
    this.#sampled++;
  }

  /** Answers a request once all its samples are finished. */
  #settle(job: Job): void {
    const samples = job.samples.filter((sample) => sample !== undefined);
    if (samples.length < job.request.samples || !this.#jobs.delete(job)) return;
    this.#requests++;
    job.resolve({
      completions: samples.map(({ completion }) => completion),
      usage: {
        inputTokens: job.prompt.length,
        outputTokens: samples.reduce((sum, { length }) => sum + length, 0),
        cachedTokens: job.cached ?? 0,
      },
    });
  }

  #fail(job: Job, reason: unknown): void {
    if (!this.#jobs.delete(job)) return;
    job.over.abort(reason);
    job.reject(reason);
  }
}

/** At temperatures above 1 unlikely tokens matter, so all are requested at once. */
function wishOf({
  temperature,
  topK = Number.POSITIVE_INFINITY,
}: InProcessRequest): 'likeliest' | 'all' {
  return temperature > 1 && topK > toldTokens ? 'all' : 'likeliest';
}
