/** Our own runner at the workloads of `npm run bench:tiny`. */

import { seededRandom } from 'espalier';
import { type TinyModel, tiny } from 'espalier/backends/tiny';
import { plainContext } from 'espalier/testing';
import { Decoder } from '../../src/backends/tiny/decoder.ts';
import type { LlamaFile } from '../../src/backends/tiny/gguf.ts';
import type { Ask, Workload } from './tiny-workloads.ts';

/** What became of a workload. */
export interface Run {
  readonly seconds: number;
  /** Of these, on the processor. */
  readonly busySeconds: number;
  /** The tokens that went through the model. */
  readonly computed: number;
  /** The tokens that were drawn. */
  readonly drawn: number;
  /** The tokens that have to go through the model: the different beginnings of all texts. */
  readonly distinct?: number;
  /** Seconds in the model itself. */
  readonly ownSeconds?: number;
}

/** Room for everything: nothing is given up and read again. */
const cacheBytes = 2 ** 28;

/** Starts a clock; the function reads it. */
export function startClock(): () => Pick<Run, 'seconds' | 'busySeconds'> {
  const busy = process.cpuUsage();
  const started = performance.now();
  return () => {
    const seconds = (performance.now() - started) / 1_000;
    const { user, system } = process.cpuUsage(busy);
    return { seconds, busySeconds: (user + system) / 1e6 };
  };
}

/** Through the public model, in this thread. */
export async function runTiny(path: string, workload: Workload): Promise<Run> {
  await using model = await opened(path, workload);
  await warmUp(model, workload);
  const before = await model.stats();
  const read = startClock();
  for (const round of workload.rounds) {
    await Promise.all(round.map((ask) => generate(model, ask)));
  }
  const time = read();
  const after = await model.stats();
  return {
    ...time,
    computed: after.computed - before.computed,
    drawn: after.sampled - before.sampled,
    ownSeconds: after.seconds - before.seconds,
  };
}

/** How many tokens the public model has to compute for a workload: the nodes of the tree of all its texts. */
export async function distinctOfTiny(path: string, workload: Workload): Promise<number> {
  await using model = await opened(path, workload);
  const tree = new TextTree();
  const read = async (ask: Ask) => {
    const { completions } = await generate(model, ask, true);
    for (const { logprobs = [], finishReason } of completions) {
      const names = logprobs.map(({ token }) => token);
      // The token that was drawn last is not read. One that ends a text is not among the names.
      const isCut = finishReason === 'length';
      tree.add([...ask.tokens, ...(isCut ? names.slice(0, -1) : names)]);
    }
  };
  for (const ask of workload.warm) await read(ask);
  const warm = tree.size;
  for (const round of workload.rounds) await Promise.all(round.map(read));
  return tree.size - warm;
}

/** The bare decoder, with tokens that are drawn beforehand: no sampling, no text. */
export function runDecoder(file: LlamaFile, workload: Workload): Run {
  const decoder = new Decoder(file, cacheBytes);
  const random = seededRandom('decoder');
  const tree = new TextTree();
  let drawn = 0;
  const write = (asks: readonly Ask[]): void => {
    const samples = asks.flatMap((ask) =>
      Array.from({ length: ask.samples }, () => ({
        ask,
        tokens: Array.from({ length: ask.draws - 1 }, () =>
          random.integer(file.config.vocabularySize),
        ),
      })),
    );
    for (let start = 0; start < samples.length; start += workload.batch) {
      const window = samples.slice(start, start + workload.batch);
      let prefixes = window.map(() => decoder.root);
      for (let step = 0; step < (window[0]?.ask.draws ?? 0); step++) {
        const items = window.map(({ ask, tokens }, place) => ({
          prefix: prefixes[place] ?? decoder.root,
          tokens: step === 0 ? ask.tokens : tokens.slice(step - 1, step),
          wantLogits: true,
        }));
        prefixes = decoder.decode(items).map(({ prefix }) => prefix);
      }
      for (const { ask, tokens } of window) tree.add([...ask.tokens, ...tokens]);
      drawn += window.reduce((sum, { ask }) => sum + ask.draws, 0);
    }
  };
  for (const ask of workload.warm) write([ask]);
  const [warm, computed] = [tree.size, decoder.stats.computed];
  drawn = 0;
  const read = startClock();
  for (const round of workload.rounds) write(round);
  const time = read();
  const distinct = tree.size - warm;
  return { ...time, computed: decoder.stats.computed - computed, drawn, distinct };
}

async function opened(path: string, { batch }: Workload): Promise<TinyModel> {
  const model = tiny({ model: path, thread: false, batch, cacheBytes });
  await model.load();
  return model;
}

async function warmUp(model: TinyModel, { warm }: Workload): Promise<void> {
  for (const ask of warm) await generate(model, ask);
}

function generate(model: TinyModel, ask: Ask, logprobs = false) {
  const { messages, samples, draws, temperature } = ask;
  const request = { messages, samples, maxTokens: draws, temperature, logprobs };
  return plainContext().generate(model, request);
}

/** Counts different beginnings. */
class TextTree {
  size = 0;
  readonly #root: Branch = new Map();

  add(text: readonly (number | string)[]): void {
    let at = this.#root;
    for (const token of text) {
      let next = at.get(token);
      if (next === undefined) {
        next = new Map();
        at.set(token, next);
        this.size++;
      }
      at = next;
    }
  }
}

interface Branch extends Map<number | string, Branch> {}
