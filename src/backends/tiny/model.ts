import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFile } from '../../base/package-file.ts';
import type { Generation, Message } from '../../contracts/language-model.ts';
import { chatOf } from '../in-process/chat.ts';
import { Loading } from '../in-process/loading.ts';
import type { InProcessRequest } from '../in-process/request.ts';
import { Decoder } from './decoder.ts';
import { Engine } from './engine.ts';
import { readLlamaFile } from './gguf.ts';
import type { TinyStats } from './tiny-model.ts';
import { tokenizerOf } from './tokenizer.ts';

/** Settings for loading a model: plain data, which can be sent to a thread. */
export interface ModelSettings {
  readonly path: string;
  /** The number of concurrent samples. */
  readonly batch: number;
  /** The memory limit for keys and values. */
  readonly cacheBytes: number | undefined;
}

/** A model and the place where it runs. */
export interface ModelHost {
  /** Loads the model if it is not loaded. */
  load(): Promise<void>;
  /** Answers a request, after loading the model if necessary. */
  generate(request: InProcessRequest, signal: AbortSignal): Promise<Generation>;
  /** The number of tokens of a prompt, after loading the model if necessary. */
  count(messages: readonly Message[]): Promise<number>;
  /** The statistics of the model; all 0 if it is not loaded. */
  stats(): Promise<TinyStats>;
  /** Gives up all requests in flight, and unloads the model. */
  close(reason: Error): Promise<void>;
}

const [plain = '', packed = ''] = ['models/tiny.gguf', 'dist/tiny.gguf.gz'].map((file) =>
  fileURLToPath(packageFile(file)),
);

/** The packaged model: compressed, except in its repository. */
export const packagedModel: string = existsSync(plain) ? plain : packed;

/** The name of a model. */
export function nameOfModel(path: string): string {
  return path === packagedModel ? 'espalier-tiny' : basename(path);
}

/** The number of prompt tokens per pass: more would hold up samples in progress. */
const chunk = 32;

/** The statistics of a model that has not been loaded. */
export const nothingDone: TinyStats = {
  requests: 0,
  computed: 0,
  reused: 0,
  sampled: 0,
  batches: 0,
  cached: 0,
  evicted: 0,
  seconds: 0,
};

/** A model in this thread. It yields to the event loop between passes. */
export function localHost(settings: ModelSettings): ModelHost {
  const host = new Loading(
    () => openEngine(settings),
    async (engine, reason) => engine.close(reason),
  );
  return {
    load: async () => void (await host.open()),
    async generate(request, signal) {
      signal.throwIfAborted();
      return (await host.open(signal)).generate(request, signal);
    },
    count: async (messages) => (await host.open()).count(messages),
    stats: () => Promise.resolve(host.model?.stats ?? nothingDone),
    close: (reason) => host.close(reason),
  };
}

async function openEngine({ path, batch, cacheBytes }: ModelSettings): Promise<Engine> {
  const file = await readLlamaFile(path);
  const { vocabulary } = file;
  const tokenizer = tokenizerOf(vocabulary);
  const chat = chatOf({ tokenizer, template: vocabulary.chatTemplate, model: nameOfModel(path) });
  const decoder = new Decoder(file, cacheBytes);
  return new Engine({ decoder, tokenizer, chat, batch, chunk });
}
