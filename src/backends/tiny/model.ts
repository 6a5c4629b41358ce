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

/** What a model is loaded with: plain data, which can be sent to a thread. */
export interface ModelSettings {
  readonly path: string;
  /** How many samples are written at once. */
  readonly batch: number;
  /** How much memory keys and values may take. */
  readonly cacheBytes: number | undefined;
}

/** Where a model runs. */
export interface ModelHost {
  /** Loads the model where it has not been loaded. */
  load(): Promise<void>;
  /** Answers a request; loads the model first where it has not been loaded. */
  generate(request: InProcessRequest, signal: AbortSignal): Promise<Generation>;
  /** How many tokens a prompt is; loads the model first where it has not been loaded. */
  count(messages: readonly Message[]): Promise<number>;
  /** What the model has done; nothing where it has not been loaded. */
  stats(): Promise<TinyStats>;
  /** Gives up everything under way, and lets the model go. */
  close(reason: Error): Promise<void>;
}

const [plain = '', packed = ''] = ['models/tiny.gguf', 'dist/tiny.gguf.gz'].map((file) =>
  fileURLToPath(packageFile(file)),
);

/** The model that comes with the package: compressed, but for its repository. */
export const packagedModel: string = existsSync(plain) ? plain : packed;

/** The name of a model. */
export function nameOfModel(path: string): string {
  return path === packagedModel ? 'espalier-tiny' : basename(path);
}

/** The tokens of prompts that are read in one pass: more would hold up the samples under way. */
const chunk = 32;

/** The numbers of a model that has not been loaded. */
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

/** A model in this thread. It turns the event loop between two passes. */
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
