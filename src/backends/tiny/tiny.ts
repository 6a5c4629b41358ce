import { resolve } from 'node:path';
import { expectation, expectBoolean, expectInteger } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { settingsOfFile } from '../../base/file-fingerprint.ts';
import { checkedRequest } from '../in-process/request.ts';
import { localHost, nameOfModel, packagedModel } from './model.ts';
import { threadHost } from './thread.ts';
import type { TinyModel } from './tiny-model.ts';

/** Options of {@link tiny}. */
export interface TinyOptions {
  /**
   * The path of a GGUF file: a model of the Llama architecture with a SentencePiece vocabulary and up to
   * some 50 million parameters. One whose name ends in `.gz` is compressed by gzip.
   *
   * @defaultValue the model that comes with the package
   */
  readonly model?: string;
  /**
   * Whether the model runs in a thread of its own. Else it shares the one of its caller, and lets others
   * have it every few milliseconds. The samples are the same.
   *
   * @defaultValue true
   */
  readonly thread?: boolean;
  /** The seed of requests that bring none: an integer. @defaultValue 0 */
  readonly seed?: number;
  /**
   * How many bytes the keys and values of what was read may take: an integer from 1 up. Texts that begin
   * alike are read once while they fit.
   *
   * @defaultValue 64 MiB
   */
  readonly cacheBytes?: number;
  /** How many samples are written at once: an integer from 1 up. @defaultValue 16 */
  readonly batch?: number;
}

/**
 * A small language model that runs in this process, in TypeScript and WebAssembly: no native code, no
 * server, no key, and the same tokens on every platform.
 *
 * A sample depends on the file, the prompt, the settings, the seed and its index, and on nothing else:
 * not on the other samples of the request, nor on what else the model is busy with. Where a request sets
 * no temperature, it is 1. Where the last message is from the assistant, the answer goes on from there.
 *
 * The file is read at the first request. The log-probabilities are those of the model itself; the usage
 * counts each token that was drawn, the one that ends an answer included, while `logprobs` has one entry
 * for each token of the text. A `schema` is refused.
 *
 * @throws EspalierError `usage` if an option is out of range. A request is rejected with such an
 * error where the file cannot be read, where it asks for something impossible, and where its prompt is
 * longer than the context of the model.
 *
 * @example
 * ```ts
 * await using model = tiny();
 * ```
 */
export function tiny(options: TinyOptions = {}): TinyModel {
  expectOptions('tiny', options, 'model thread seed cacheBytes batch');
  const { model = packagedModel, thread = true, seed = 0, cacheBytes, batch = 16 } = options;
  if (typeof model !== 'string' || model === '') {
    throw expectation('model', 'the path of a GGUF file', model);
  }
  expectBoolean('thread', thread);
  expectInteger('seed', seed);
  if (cacheBytes !== undefined) expectInteger('cacheBytes', cacheBytes, { min: 1 });
  expectInteger('batch', batch, { min: 1 });
  const path = resolve(model);
  const modelId = nameOfModel(path);
  const host = (thread ? threadHost : localHost)({ path, batch, cacheBytes });
  const settings = settingsOfFile(model === packagedModel ? undefined : path);
  let closed: Error | undefined;

  async function close(): Promise<void> {
    closed ??= new Error(`${modelId} is closed.`);
    await host.close(closed);
  }

  return {
    provider: 'tiny',
    modelId,
    price: { input: 0, output: 0 },
    get settings() {
      return settings();
    },
    capabilities: {
      ...{ n: true, logprobs: true, seed: true, stop: true, continuation: true },
      ...{ temperature: true, topK: true },
    },
    async generate(request, { signal }) {
      if (closed !== undefined) throw closed;
      if (request.schema !== undefined) {
        const expected = 'absent, because this model cannot be bound to one';
        throw expectation('schema', expected, request.schema);
      }
      return host.generate(checkedRequest(request, seed), signal);
    },
    async count({ messages }) {
      if (closed !== undefined) throw closed;
      return host.count(messages);
    },
    async load() {
      if (closed !== undefined) throw closed;
      await host.load();
    },
    stats: () => host.stats(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
