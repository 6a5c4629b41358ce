import { turn } from '#platform';
import { systemClock } from '../../base/clock.ts';
import { EspalierError } from '../../base/errors.ts';
import { expectation } from '../../base/expect.ts';
import { seededRandom } from '../../base/random.ts';
import { settledOrLeft } from '../../base/unless-aborted.ts';
import type { Random } from '../../contracts/context.ts';
import type { Generation, Message } from '../../contracts/language-model.ts';
import type { Chat } from '../in-process/chat.ts';
import type { InProcessRequest } from '../in-process/request.ts';
import { Sample } from '../in-process/sample.ts';
import type { Tokenizer } from '../in-process/tokenizer.ts';
import type { Decoded, DecodeItem, Decoder, Prefix } from './decoder.ts';
import { drawToken, logProbabilities } from './sampler.ts';
import type { TinyStats } from './tiny-model.ts';

/** The part of a decoder that an engine needs. */
export type EngineDecoder = Pick<Decoder, 'config' | 'root' | 'stats' | 'decode' | 'pending'>;

/** Settings of an engine. */
export interface EngineOptions {
  readonly decoder: EngineDecoder;
  readonly tokenizer: Tokenizer;
  readonly chat: Chat;
  /** The number of concurrent samples. */
  readonly batch: number;
  /** The number of prompt tokens per pass. */
  readonly chunk: number;
}

/** A request in progress. */
interface Job {
  readonly request: InProcessRequest;
  readonly prompt: readonly number[];
  /** The prompt as text, which identifies equal prompts. */
  readonly key: string;
  readonly random: Random;
  /** The maximum tokens of a sample: from the request, or the rest of the context. */
  readonly maxTokens: number;
  /** The part of the prompt that has been read. */
  prefix: Prefix;
  /** The logits after the prompt, once it has been read. */
  logits: Float32Array | undefined;
  readonly runs: Run[];
  readonly resolve: (generation: Generation) => void;
  readonly reject: (error: unknown) => void;
}

/** A sample, and the prefix read so far. */
interface Run {
  readonly sample: Sample;
  /** Its own random numbers. */
  readonly random: Random;
  /** The last token drawn, which has not been read yet. */
  last: number;
  prefix: Prefix;
}

/** A part of a batch, and the receiver of its result. */
interface Work {
  readonly item: DecodeItem;
  readonly job: Job;
  readonly take: (decoded: Decoded) => void;
}

/**
 * Answers many requests at once. Each pass through the model processes the next token of every sample in progress and a
 * piece of the waiting prompts; between two passes the event loop turns once, so that new requests join and aborted
 * ones leave.
 *
 * A sample depends only on the model, the prompt, the settings, the seed and its index. Nothing is retained in the
 * cache: prefixes in use were used in the last pass, so they are evicted last, and evicted ones are read again. A cache
 * that is too small costs time, but fails no request.
 */
export class Engine {
  readonly #options: EngineOptions;
  /** In order of arrival. */
  readonly #jobs = new Set<Job>();
  #isRunning = false;
  #requests = 0;
  #sampled = 0;
  #seconds = 0;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /** Statistics so far. */
  get stats(): TinyStats {
    const { computed, reused, batches, cached, evicted } = this.#options.decoder.stats;
    const requests = this.#requests;
    const sampled = this.#sampled;
    const seconds = this.#seconds;
    return { requests, computed, reused, sampled, batches, cached, evicted, seconds };
  }

  /** Answers a request. */
  async generate(request: InProcessRequest, signal: AbortSignal): Promise<Generation> {
    signal.throwIfAborted();
    const state = this.#open(request);
    return settledOrLeft(signal, (settle) => {
      const job: Job = { ...state, ...settle };
      this.#jobs.add(job);
      void this.#run();
      return () => this.#fail(job, signal.reason);
    });
  }

  /** The number of tokens of a prompt. */
  count(messages: readonly Message[]): number {
    return this.#options.chat(messages).length;
  }

  /** Gives up all requests in flight. */
  close(reason: unknown): void {
    for (const job of this.#jobs) this.#fail(job, reason);
  }

  #open(request: InProcessRequest): Omit<Job, 'resolve' | 'reject'> {
    const { chat, decoder } = this.#options;
    const prompt = chat(request.messages);
    const { contextLength } = decoder.config;
    if (prompt.length === 0) throw expectation('messages', 'text', request.messages);
    if (prompt.length > contextLength) {
      throw new EspalierError(
        'usage',
        `Expected a prompt of at most ${contextLength} tokens, the context of the model, got ${prompt.length}.`,
      );
    }
    const key = prompt.join(' ');
    const random = seededRandom(request.seed).split(key);
    const maxTokens = Math.min(request.maxTokens, contextLength - prompt.length + 1);
    return {
      ...{ request, prompt, key, random, maxTokens },
      prefix: decoder.root,
      logits: undefined,
      runs: [],
    };
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#jobs.size > 0) {
      // Also before the first pass, so that requests that arrive together share it.
      await turn();
      try {
        this.#pass();
      } catch (error) {
        this.close(error);
      }
    }
    this.#isRunning = false;
  }

  #pass(): void {
    for (const job of this.#jobs) this.#attempt(job, () => this.#start(job));
    const work = [...this.#writing(), ...this.#reading()];
    if (work.length === 0) return;
    for (const [place, decoded] of this.#decode(work).entries()) {
      const { job, take } = work[place] ?? {};
      if (job !== undefined) this.#attempt(job, () => take?.(decoded));
    }
  }

  #decode(work: readonly Work[]): readonly Decoded[] {
    const began = systemClock.now();
    try {
      return this.#options.decoder.decode(work.map(({ item }) => item));
    } catch (error) {
      for (const { job } of work) this.#fail(job, error);
      return [];
    } finally {
      this.#seconds += (systemClock.now() - began) / 1000;
    }
  }

  /** An error of one request does not affect the others. */
  #attempt(job: Job, act: () => void): void {
    if (!this.#jobs.has(job)) return;
    try {
      act();
    } catch (error) {
      this.#fail(job, error);
    }
  }

  /** Starts as many samples of a finished prompt as there is room for. */
  #start(job: Job): void {
    const { tokenizer, batch } = this.#options;
    const { request, prompt, maxTokens, logits, prefix, runs } = job;
    if (logits === undefined) return;
    for (let room = batch - this.#openRuns(); room > 0; ) {
      if (runs.length === request.samples) break;
      const random = job.random.split(request.offset + runs.length);
      const sample = new Sample({ request, tokenizer, prompt, maxTokens });
      const run = { sample, random, last: -1, prefix };
      runs.push(run);
      this.#extend(job, run, logits);
      if (!sample.isFinished) room--;
    }
    this.#settle(job);
  }

  /** The next token of every sample under way. */
  *#writing(): Generator<Work> {
    for (const job of this.#jobs) {
      for (const run of job.runs) {
        if (run.sample.isFinished) continue;
        const item = { prefix: run.prefix, tokens: [run.last], wantLogits: true };
        const take = ({ prefix, logits }: Decoded) => {
          run.prefix = prefix;
          this.#extend(job, run, logits);
          this.#settle(job);
        };
        yield { item, job, take };
      }
    }
  }

  /**
   * The next piece of the prompts that wait, the oldest first, and only of those whose samples will find
   * room. Of equal prompts one is read: the others find it in the cache afterwards.
   */
  *#reading(): Generator<Work> {
    const { decoder, batch, chunk } = this.#options;
    const keys = new Set<string>();
    let samples = 0;
    let left = chunk;
    for (const job of this.#jobs) {
      if (samples >= batch || left <= 0) return;
      const { request, runs, logits, key, prompt, prefix } = job;
      const finished = runs.filter(({ sample }) => sample.isFinished).length;
      samples += request.samples - finished;
      if (logits !== undefined || keys.has(key)) continue;
      keys.add(key);
      const tokens = prompt.slice(prefix.length);
      const pending = decoder.pending({ prefix, tokens, wantLogits: true });
      // What is cached already costs nothing.
      const piece = tokens.slice(0, tokens.length - Math.max(0, pending - left));
      left -= pending;
      const item = { prefix, tokens: piece, wantLogits: piece.length === tokens.length };
      const take = (decoded: Decoded) => {
        job.prefix = decoded.prefix;
        job.logits = decoded.logits;
        this.#start(job);
      };
      yield { item, job, take };
    }
  }

  #openRuns(): number {
    let open = 0;
    for (const { runs } of this.#jobs) {
      for (const { sample } of runs) if (!sample.isFinished) open++;
    }
    return open;
  }

  #extend({ request }: Job, run: Run, logits: Float32Array | undefined): void {
    if (logits === undefined) throw new Error('The decoder gave no logits.');
    run.last = drawToken(logits, request, run.random);
    run.sample.extend(run.last, () => logProbabilities(logits, this.#options.tokenizer));
    this.#sampled++;
  }

  /** Answers a request whose samples are all finished. */
  #settle(job: Job): void {
    const { request, prompt, runs } = job;
    if (runs.length < request.samples) return;
    if (runs.some(({ sample }) => !sample.isFinished)) return;
    this.#jobs.delete(job);
    this.#requests++;
    const outputTokens = runs.reduce((sum, { sample }) => sum + sample.length, 0);
    job.resolve({
      completions: runs.map(({ sample }) => sample.completion),
      usage: { inputTokens: prompt.length, outputTokens },
    });
  }

  #fail(job: Job, reason: unknown): void {
    this.#jobs.delete(job);
    job.reject(reason);
  }
}
