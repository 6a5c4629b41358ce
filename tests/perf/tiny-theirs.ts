/** llama.cpp at the workloads of `npm run bench:tiny`. */
import type {
  LlamaContext,
  LlamaContextOptions,
  LlamaCpp,
  LlamaModel,
  LlamaSampling,
  LlamaSequence,
} from '../support/llama-cpp.ts';
import { type Run, startClock } from './tiny-ours.ts';
import type { Ask, Workload } from './tiny-workloads.ts';

/** What a run of llama.cpp is set up with. */
export interface TheirSetup {
  readonly llama: LlamaCpp;
  readonly model: LlamaModel;
  readonly options: Partial<LlamaContextOptions>;
  readonly contextSize: number;
  /** The token that ends a text. */
  readonly end: number | undefined;
}

/** Runs a workload on tokens: neither the template nor the tokenizer is part of what is timed. */
export async function runLlama(setup: TheirSetup, workload: Workload): Promise<Run> {
  const { llama, model, options, contextSize, end } = setup;
  const context = await model.createContext({
    ...{ sequences: workload.batch, contextSize, batchSize: 512 },
    ...{ threads: 1, performanceTracking: true },
    ...options,
  });
  const writer = new Writer(context, workload, end);
  for (const ask of workload.warm) await writer.write([ask]);
  await llama.ownSeconds(context);
  const [computed, drawn] = [writer.computed, writer.drawn];
  const read = startClock();
  for (const round of workload.rounds) await writer.write(round);
  const time = read();
  const ownSeconds = await llama.ownSeconds(context);
  await context.dispose();
  return {
    ...time,
    ownSeconds,
    computed: writer.computed - computed,
    drawn: writer.drawn - drawn,
  };
}

/** Writes samples, as many at once as there are sequences. */
class Writer {
  drawn = 0;
  readonly #sequences: readonly LlamaSequence[];
  readonly #reuse: boolean;
  readonly #end: number | undefined;
  #seed = 1;

  constructor(context: LlamaContext, { batch, reuse }: Workload, end: number | undefined) {
    this.#sequences = Array.from({ length: batch }, () => context.getSequence());
    this.#reuse = reuse;
    this.#end = end;
  }

  get computed(): number {
    return this.#sequences.reduce(
      (sum, { tokenMeter }) => sum + tokenMeter.usedInputTokens + tokenMeter.usedOutputTokens,
      0,
    );
  }

  async write(asks: readonly Ask[]): Promise<void> {
    const [only] = asks;
    if (this.#reuse && asks.length === 1 && only !== undefined) await this.#fork(only);
    const queue = asks.flatMap((ask) => Array.from({ length: ask.samples }, () => ask));
    await Promise.all(
      this.#sequences.map(async (sequence) => {
        for (let ask = queue.shift(); ask !== undefined; ask = queue.shift()) {
          await this.#sample(sequence, ask);
        }
      }),
    );
  }

  /** Reads a prompt but for its last token, which gives the logits, and hands it to the other sequences. */
  async #fork({ tokens, samples }: Ask): Promise<void> {
    const start = tokens.slice(0, -1);
    const [first, ...others] = this.#sequences;
    if (first === undefined) return;
    await first.adaptStateToTokens(start, false);
    const missing = start.slice(first.nextTokenIndex);
    if (missing.length > 0) await first.evaluateWithoutGeneratingNewTokens(missing);
    for (const other of others.slice(0, samples - 1)) {
      await other.adaptStateToTokens(start, false);
      if (other.nextTokenIndex === start.length) continue;
      const isCopied = await other._copyStateFromOtherSequence(first, start.length);
      if (!isCopied) throw new Error('llama.cpp could not copy a sequence.');
    }
  }

  async #sample(sequence: LlamaSequence, { tokens, draws, temperature }: Ask): Promise<void> {
    if (this.#reuse) await sequence.adaptStateToTokens(tokens.slice(0, -1), false);
    else await sequence.clearHistory();
    const rest = tokens.slice(sequence.nextTokenIndex);
    const sampling: LlamaSampling = {
      temperature,
      topK: 0,
      topP: 1,
      seed: this.#seed++,
      yieldEogToken: true,
    };
    let written = 0;
    for await (const token of sequence.evaluate(rest, sampling)) {
      written++;
      if (written === draws || token === this.#end) break;
    }
    this.drawn += written;
  }
}
