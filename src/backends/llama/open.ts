import { open as openFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { EspalierError } from '../../base/errors.ts';
import { expectRegularFile } from '../../base/regular-file.ts';
import { chatOf } from '../in-process/chat.ts';
import type {
  LlamaBinding,
  LlamaSettings,
  NativeContext,
  NativeLlama,
  NativeModel,
} from './binding.ts';
import { Engine } from './engine.ts';
import { grammarMaker } from './grammar.ts';
import { Pool } from './pool.ts';
import { Slot } from './slot.ts';
import { vocabularyOf } from './vocabulary.ts';

/** Settings for loading a model. */
export interface ModelSettings {
  /** The path of the file; none if `own` is a model. */
  readonly path: string | undefined;
  /** Its name in error messages. */
  readonly name: string;
  /** The number of sequences in memory. */
  readonly sequences: number;
  /** The maximum tokens of each. */
  readonly contextSize: number | undefined;
  /** The number of threads. */
  readonly threads: number | undefined;
  readonly gpu: LlamaSettings['gpu'];
  /** Objects that the caller has already created. */
  readonly own: { readonly llama: NativeLlama } | { readonly model: NativeModel } | undefined;
  /** Imports the package. */
  readonly binding: () => Promise<LlamaBinding>;
}

/** The default number of tokens of a sequence, if the model was trained on as many. */
const usualContext = 4096;

/** Below this size, a second thread costs more than it gains. */
const smallModel = 100_000_000;

/**
 * Loads a model. Disposing of it frees its memory, except objects of the caller.
 *
 * @throws EspalierError `usage` if the file does not exist, is not a GGUF file, or does not fit into memory.
 */
export async function openModel(
  settings: ModelSettings,
): Promise<{ readonly engine: Engine; dispose(): Promise<void> }> {
  const size = settings.path === undefined ? Number.POSITIVE_INFINITY : await sizeOf(settings.path);
  const log: string[] = [];
  const parts: { dispose(): Promise<void> }[] = [];
  const dispose = async () => {
    for (const part of parts.toReversed()) await part.dispose();
  };
  try {
    const { own, sequences, contextSize } = settings;
    const llama = own === undefined ? await startLlama(settings, log) : undefined;
    if (llama !== undefined) parts.push(llama);
    const model = await readModel(settings, llama);
    if (own === undefined || 'llama' in own) parts.push(model);
    const context = await model.createContext({
      sequences,
      contextSize: contextSize ?? { max: Math.min(usualContext, model.trainContextSize) },
      threads: settings.threads ?? (size < smallModel ? 1 : model.llama.cpuMathCores),
    });
    parts.push(context);
    return { engine: engineOf(model, context, settings), dispose };
  } catch (error) {
    await dispose();
    throw explained(error, settings, log);
  }
}

/** The size of a file, which is checked because the package may hang on one that is not a model. */
async function sizeOf(path: string): Promise<number> {
  expectRegularFile(path);
  const file = await openFile(path).catch((cause: unknown) => {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const what = reason === 'ENOENT' ? 'there is none' : `it cannot be opened (${reason})`;
    throw usage(`Expected \`model\` to be the path of a GGUF file, but ${what} at ${path}.`, cause);
  });
  try {
    const { buffer } = await file.read(Buffer.alloc(24), 0, 24, 0).catch((cause: unknown) => {
      throw usage(`Expected \`model\` to be a GGUF file, but ${path} cannot be read.`, cause);
    });
    if (!isHeader(buffer)) {
      throw usage(`Expected \`model\` to be a GGUF file, but ${path} does not begin like one.`);
    }
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** Magic bytes, a version, the number of tensors, and the number of metadata entries. */
function isHeader(bytes: Buffer): boolean {
  const version = bytes.readUInt32LE(4);
  const counts = [bytes.readBigUInt64LE(8), bytes.readBigUInt64LE(16)];
  return (
    bytes.toString('latin1', 0, 4) === 'GGUF' &&
    (version === 2 || version === 3) &&
    counts.every((count) => count < 1_000_000n)
  );
}

async function startLlama({ binding, gpu }: ModelSettings, log: string[]): Promise<NativeLlama> {
  const { getLlama } = await binding();
  return getLlama({
    ...{ build: 'never', skipDownload: true, gpu, maxThreads: 0, logLevel: 'error' },
    logger: (_level, message) => void log.push(message.trim()),
  });
}

function readModel(
  { own, path }: ModelSettings,
  started: NativeLlama | undefined,
): Promise<NativeModel> | NativeModel {
  if (own !== undefined && 'model' in own) return own.model;
  const llama = started ?? own?.llama;
  if (llama === undefined || path === undefined) throw new Error('There is nothing to load.');
  return llama.loadModel({ modelPath: path });
}

function engineOf(model: NativeModel, context: NativeContext, settings: ModelSettings): Engine {
  const { name, binding } = settings;
  const vocabulary = vocabularyOf(model);
  const template = model.fileInfo.metadata.tokenizer?.chat_template;
  const reading = { batchSize: context.batchSize, vocabularySize: vocabulary.size };
  const slots = Array.from(
    { length: context.totalSequences },
    () => new Slot(context.getSequence(), reading),
  );
  return new Engine({
    model: name,
    vocabulary,
    chat: chatOf({ tokenizer: vocabulary, template, model: name }),
    pool: new Pool(slots),
    // One position stays free, because otherwise the package discards the beginning of a text.
    contextLength: context.contextSize - 1,
    grammarFor: grammarMaker(model, binding),
  });
}

/** An exception from the package as one sentence that says what to do. */
function explained(
  error: unknown,
  { name, path, gpu }: ModelSettings,
  log: readonly string[],
): unknown {
  if (EspalierError.isInstance(error) || !(error instanceof Error)) return error;
  const reason = (log.findLast((line) => line.includes('error')) ?? error.message)
    .replaceAll(/\s+/g, ' ')
    .replace(/\.?$/, '');
  if (/insufficient memory|not enough|too large for the available/i.test(error.message)) {
    return usage(
      `${name} does not fit into memory: take a smaller or more quantised file, a smaller \`contextSize\` or fewer \`sequences\` (${reason}).`,
      error,
    );
  }
  if (error.message.includes('NoBinaryFound')) {
    const device = gpu === false || gpu === 'auto' ? '' : `\`gpu: '${gpu}'\` on `;
    const other = device === '' ? '' : ', or leave `gpu` out';
    return usage(
      `The package \`node-llama-cpp\` has no binary for ${device}this machine. Build one with \`npx node-llama-cpp source download\`${other}.`,
      error,
    );
  }
  const what = path === undefined ? name : basename(path);
  return usage(`llama.cpp cannot load ${what}: ${reason}.`, error);
}

function usage(message: string, cause?: unknown): EspalierError {
  return new EspalierError('usage', message, cause === undefined ? undefined : { cause });
}
