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
   * The path of a GGUF file: a model of the Llama architecture with a SentencePiece vocabulary and up to about 50
   * million parameters. A file ending in `.gz` is gzipped.
   *
   * @defaultValue the packaged model
   */
  readonly model?: string;
  /**
   * Whether the model runs in a separate thread. If not, it runs in the caller's, yielding every few milliseconds. The
   * samples are the same.
   *
   * @defaultValue true
   */
  readonly thread?: boolean;
  /** The default seed of requests: an integer. @defaultValue 0 */
  readonly seed?: number;
  /**
   * The size of the key-value cache, in bytes: an integer from 1 up. Common prefixes are computed once while they fit.
   *
   * @defaultValue 64 MiB
   */
  readonly cacheBytes?: number;
  /** The number of concurrent samples: an integer from 1 up. @defaultValue 16 */
  readonly batch?: number;
}

/**
 * A small language model that runs in this process, in TypeScript and WebAssembly: no native code, no
 * server, no key, and the same tokens on every platform.
 *
 * A sample depends on the file, the prompt, the settings, the seed and its index, and on nothing else:
 * not on the other samples of the request, nor on concurrent requests. The default temperature is 1. If the last
 * message is from the assistant, the answer continues it.
 *
 * The file is read at the first request. The log-probabilities are those of the model itself; the usage counts every
 * sampled token, including the end token, while `logprobs` has one entry per token of the text. A `schema` is refused.
 *
 * @throws EspalierError `usage` if an option is out of range. A request rejects with such an error if the file cannot
 * be read, the request is invalid, or its prompt is longer than the model's context.
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
