import { basename, resolve } from 'node:path';
import { ModelCallError } from '../../base/errors.ts';
import { expectation, expectInteger, expectObject } from '../../base/expect.ts';
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
  /** The path of a GGUF file. Optional if `llama` is a `LlamaModel`. */
  readonly model?: string;
  /**
   * The number of texts held in memory, and so of concurrent samples: an integer from 1 to 256. Each takes the memory
   * of a context.
   *
   * @defaultValue 4
   */
  readonly sequences?: number;
  /**
   * The maximum tokens of a prompt with its answer: an integer from 2 up, at most 2²⁸ divided by
   * `sequences`.
   *
   * @defaultValue 4096, or the model's training length if that is less; fewer if memory is short
   */
  readonly contextSize?: number;
  /**
   * The number of CPU threads when not on a GPU: an integer from 1 up. More threads than free cores make it many times
   * slower.
   *
   * @defaultValue 1 for files below 100 MB, else the number of cores that are useful for it
   */
  readonly threads?: number;
  /** The device: the best available, one by name, or `false` for the CPU. @defaultValue `'auto'` */
  readonly gpu?: 'auto' | 'metal' | 'cuda' | 'vulkan' | false;
  /** The default seed of requests: an integer. @defaultValue 0 */
  readonly seed?: number;
  /**
   * An existing `Llama` or `LlamaModel` of node-llama-cpp. It is not closed with the model, and `gpu` has no effect.
   */
  readonly llama?:
    | {
        /** For a `Llama`: loads a file. */
        loadModel(options: { readonly modelPath: string }): Promise<object>;
      }
    | {
        /** The file of a `LlamaModel`. */
        readonly filename?: string | undefined;
        /** Creates a context. */
        createContext(options?: object): Promise<object>;
      };
}

/** An in-process model, run by llama.cpp. */
export interface LlamaLanguageModel extends LanguageModel, AsyncDisposable {
  /** Loads the file now instead of at the first request. Rejects if it cannot be read. */
  load(): Promise<void>;
  /** Statistics since it was loaded. */
  stats(): LlamaStats;
  /** Unloads the model. Pending and later requests fail. */
  close(): Promise<void>;
}

/**
 * Runs any GGUF file in this process, with llama.cpp through the optional package `node-llama-cpp`, loaded at the first
 * request.
 *
 * Common prefixes are computed once. A sample depends on the file, the prompt, the settings, the seed and its index;
 * with quantised files, and on a GPU with every file, also slightly on what of the prompt was cached and how it was
 * batched, because of llama.cpp's rounding, so that a token may differ. The default temperature is 1. If the last message is from the assistant, the answer
 * continues it. Log-probabilities are those of the model itself. A `schema` constrains the text by a grammar. In a
 * search, tools are described in words; outside one they are refused.
 *
 * @throws EspalierError `usage` if an option is out of range. A request rejects with such an error if the package is
 * not installed, or the file cannot be read or does not fit into memory; and with a ModelCallError if its prompt is too
 * long (`context-length`) or its schema has no grammar (`capability`).
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

/** Not a literal, so that programs without the package compile. */
const packageName: string = 'node-llama-cpp';

async function importBinding(): Promise<LlamaBinding> {
  return loadPeer(packageName, async () => (await import(packageName)) as LlamaBinding);
}

/** The limit of llama.cpp. */
const mostSequences = 256;

/** Beyond this total number of tokens the package's memory estimate overflows, and wrongly says that they fit. */
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
  expectObject('llama', own);
  // Checked structurally: the caller may have another copy of the package.
  if ('createContext' in own) return { model: own as unknown as NativeModel };
  if ('loadModel' in own) return { llama: own as unknown as NativeLlama };
  throw expectation('llama', 'a `Llama` or a `LlamaModel` of node-llama-cpp', own);
}

/** The statistics of a model that has not been loaded. */
const nothingDone: LlamaStats = { requests: 0, computed: 0, reused: 0, sampled: 0, cached: 0 };
