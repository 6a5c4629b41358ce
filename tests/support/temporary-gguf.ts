import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type LlamaFile, readLlamaFile } from '../../src/backends/tiny/gguf.ts';
import { encodeGguf, type GgufContents } from './gguf-writer.ts';
import { type RandomLlamaOptions, randomLlama } from './random-llama.ts';

/** Writes a file that is gone when the test is over; returns its path. */
export function temporaryGguf(contents: GgufContents | Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-gguf-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'model.gguf');
  writeFileSync(path, contents instanceof Uint8Array ? contents : encodeGguf(contents));
  return path;
}

/** A random model that went through a file. */
export function readRandomLlama(options: RandomLlamaOptions = {}): Promise<LlamaFile> {
  return readLlamaFile(temporaryGguf(randomLlama(options)));
}
