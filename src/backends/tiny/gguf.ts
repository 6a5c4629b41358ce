import { configOf, present, vocabularyOf } from './gguf-config.ts';
import { fault, readHeader } from './gguf-header.ts';
import { Metadata } from './gguf-metadata.ts';
import { readTensors } from './gguf-tensors.ts';
import type { LlamaConfig, RawVocabulary, Tensor } from './llama-config.ts';

/** A model of the Llama architecture, as read from a GGUF file. */
export interface LlamaFile {
  /** The path it was read from. */
  readonly path: string;
  /** Its name, according to its author. */
  readonly name?: string;
  /** Its shape. */
  readonly config: LlamaConfig;
  /** Its vocabulary. */
  readonly vocabulary: RawVocabulary;
  /** Its weights by name. */
  readonly tensors: ReadonlyMap<string, Tensor>;
}

/**
 * Reads a model of the Llama architecture.
 *
 * @throws EspalierError `usage` if the file is missing, truncated, or not such a model.
 */
export async function readLlamaFile(path: string): Promise<LlamaFile> {
  const header = await readHeader(path);
  const metadata = new Metadata(header);
  const architecture = metadata.optionalString('general.architecture') ?? 'none';
  if (architecture !== 'llama') {
    throw fault(path, 'a model of the architecture llama', architecture);
  }
  const config = configOf(header);
  const vocabulary = vocabularyOf(header);
  const tensors = await readTensors(header, config);
  const name = metadata.optionalString('general.name');
  return { path, config, vocabulary, tensors, ...present('name', name) };
}
