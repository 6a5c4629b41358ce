import { basename, resolve } from 'node:path';
import { ModelCallError } from '../../base/errors.ts';
import { expectation, expectInteger } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { settingsOfFile } from '../../base/file-fingerprint.ts';
import type { GenerateRequest, LanguageModel } from '../../contracts/language-model.ts';
import { Loading } from '../in-process/loading.ts';
import { checkedRequest } from '../in-process/request.ts';
import { loadPeer } from '../transport/sdk.ts';
import type { LlamaBinding, NativeLlama, NativeModel } from './binding.ts';
import type { LlamaStats } from './engine.ts';
import { type ModelSettings, openModel } from './open.ts';

/** Options of {@link llama}. */
export interface LlamaOptions {
  /** The path of a GGUF file. May be left out where `llama` is a `LlamaModel`. */
  readonly model?: string;
  /**
   * How many texts are held in memory, and so how many samples are written at once: an integer from 1 to 256.
   * Each takes the memory of a context.
   *
   * @defaultValue 4
   */
  readonly sequences?: number;
  /**
   * How many tokens a prompt and its answer may have together: an integer from 2 up, and at most 2²⁸ divided by
   * `sequences`.
   *
   * @defaultValue 4096, or what the model was trained on if that is less; fewer where the memory is short
   */
  readonly contextSize?: number;
  /**
   * On how many threads it runs where it does not run on a GPU: an integer from 1 up. More threads than free
   * cores make it many times slower.
   *
   * @defaultValue 1 for files below 100 MB, else the number of cores that are useful for it
   */
  readonly threads?: number;
  /** The device: the best one that there is, one by name, or `false` for none but the processor. @defaultValue `'auto'` */
  readonly gpu?: 'auto' | 'metal' | 'cuda' | 'vulkan' | false;
  /** The seed of requests that bring none: an integer. @defaultValue 0 */
  readonly seed?: number;
  /**
   * A `Llama` or a `LlamaModel` of node-llama-cpp that already exists. It is not closed with the model;
   * `gpu` has no effect then.
   */
  readonly llama?:
    | {
        /** Of a `Llama`: reads a file. */
        loadModel(options: { readonly modelPath: string }): Promise<object>;
      }
    | {
        /** The file that a `LlamaModel` was loaded from. */
        readonly filename?: string | undefined;
        /** Makes room for texts. */
        createContext(options?: object): Promise<object>;
      };
}

/** A model in this process, by llama.cpp. */
export interface LlamaLanguageModel extends LanguageModel, AsyncDisposable {
  /** Reads the file now; otherwise that happens at the first request. Rejects where it cannot be read. */
  load(): Promise<void>;
  /** What it has done since it was loaded. */
  stats(): LlamaStats;
  /** Lets the model go. Requests under way fail, and so do later ones. */
  close(): Promise<void>;
}

/**
 * Any GGUF file, in this process: llama.cpp through the package `node-llama-cpp`, which is to be installed
 * beside this one and is loaded at the first request.
 *
 * Texts that begin alike are read once: what a prompt has in common with one in memory is taken over from there.
 * A sample depends on the file, the prompt, the settings, the seed and its index; with quantised files also,
 * by the rounding of llama.cpp, a little on how the prompt was read, so that now and then a token differs. Where
 * a request sets no temperature, it is 1. Where the last message is from the assistant, the answer goes on
 * from there. Log-probabilities are those of the model itself. A `schema` binds the text by a grammar. Tools are
 * told in words by the context of a search, and refused where the model is asked without one.
 *
 * @throws EspalierError `usage` if an option is out of range. A request is rejected with such an error
 * where the package is not installed, and where the file cannot be read or does not fit into memory; and with a
 * ModelCallError where its prompt is too long (`context-length`), or where it asks for what a grammar cannot
 * do (`capability`).
 *
 * @example
 * ```ts
 * await using model = llama({ model: './qwen3-4b.gguf', sequences: 8 });
 * ```
 */
export function llama(options: LlamaOptions): LlamaLanguageModel {
  expectOptions('llama', options, 'model sequences contextSize threads gpu seed llama');
  const { seed = 0 } = options;
  expectInteger('seed', seed);
  const settings = settingsOf(options);
  const host = new Loading(
    () => openModel(settings),
    async ({ engine, dispose }, reason) => {
      await engine.close(reason);
      await dispose();
    },
  );
  const told = settingsOfFile(settings.path);
  const close = () => host.close(new Error(`${settings.name} is closed.`));
  return {
    provider: 'llama',
    modelId: settings.name,
    price: { input: 0, output: 0 },
    get settings() {
      return told();
    },
    capabilities: {
      ...{ n: true, logprobs: true, seed: true, stop: true, continuation: true },
      ...{ schema: true, temperature: true, topK: true },
    },
    async generate(request, call) {
      call.signal.throwIfAborted();
      expectNoTools(request);
      const checked = checkedRequest(request, seed);
      const { engine } = await host.open(call.signal);
      return engine.generate(checked, call);
    },
    async count({ messages }) {
      return (await host.open()).engine.count(messages);
    },
    async load() {
      await host.open();
    },
    stats: () => host.model?.engine.stats ?? nothingDone,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function expectNoTools({ tools = [] }: GenerateRequest): void {
  if (tools.length === 0) return;
  throw new ModelCallError({
    kind: 'capability',
    parameter: 'tools',
    message:
      'A model in this process cannot be given tools: ask for the call as JSON, with a `schema`.',
  });
}

/** Not a literal: who does without the package compiles without it. */
const packageName: string = 'node-llama-cpp';

async function importBinding(): Promise<LlamaBinding> {
  return loadPeer(packageName, async () => (await import(packageName)) as LlamaBinding);
}

/** What llama.cpp was built for. */
const mostSequences = 256;

/** With more tokens in all sequences together the package loses count, and takes them to fit into memory. */
const mostTokens = 2 ** 28;

const devices: readonly unknown[] = ['auto', 'metal', 'cuda', 'vulkan', false];

function settingsOf(options: LlamaOptions): ModelSettings {
  const { model, sequences = 4, contextSize, threads, gpu = 'auto' } = options;
  const own = ownOf(options.llama);
  const isLoaded = own !== undefined && 'model' in own;
  if (!(isLoaded && model === undefined) && (typeof model !== 'string' || model === '')) {
    throw expectation('model', 'the path of a GGUF file', model);
  }
  expectInteger('sequences', sequences, { min: 1, max: mostSequences });
  if (contextSize !== undefined) {
    expectInteger('contextSize', contextSize, { min: 2, max: Math.floor(mostTokens / sequences) });
  }
  if (threads !== undefined) expectInteger('threads', threads, { min: 1 });
  if (!devices.includes(gpu)) {
    throw expectation('gpu', "'auto', 'metal', 'cuda', 'vulkan' or false", gpu);
  }
  const path = isLoaded || model === undefined ? undefined : resolve(model);
  const name = basename(
    path ?? (isLoaded ? own.model.filename : undefined) ?? model ?? 'model.gguf',
  );
  return { path, name, sequences, contextSize, threads, gpu, own, binding: importBinding };
}

function ownOf(own: LlamaOptions['llama']): ModelSettings['own'] {
  if (own === undefined) return undefined;
  // By structure: the caller may have another copy of the package.
  if ('createContext' in own) return { model: own as unknown as NativeModel };
  if ('loadModel' in own) return { llama: own as unknown as NativeLlama };
  throw expectation('llama', 'a `Llama` or a `LlamaModel` of node-llama-cpp', own);
}

/** The numbers of a model that has not been loaded. */
const nothingDone: LlamaStats = { requests: 0, computed: 0, reused: 0, sampled: 0, cached: 0 };
