import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GgufContents, writeGguf } from './gguf-writer.ts';
import { type RandomLlamaOptions, randomLlama } from './random-llama.ts';

/** A folder of model files, for the time of a test. */
export interface ModelFolder extends Disposable {
  /** Where a file of that name is or would be. */
  path(name: string): string;
  /** Writes a model with random weights. */
  write(name: string, options?: RandomLlamaOptions, change?: Partial<GgufContents>): string;
}

/** Makes a folder for model files. */
export function modelFolder(): ModelFolder {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-models-'));
  const path = (name: string) => join(folder, name);
  return {
    path,
    write(name, options = {}, change = {}) {
      writeGguf(path(name), { ...randomLlama({ contextLength: 256, ...options }), ...change });
      return path(name);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
