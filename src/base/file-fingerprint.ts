import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { sha256 } from '#platform';

/** The number of bytes read at each of three places. */
const part = 64 * 1024;

/**
 * Distinguishes files of one name without reading them completely: a hash of the size and of 64 KiB at the beginning,
 * in the middle and at the end. `undefined` if the file cannot be read.
 */
export function fileFingerprint(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { size } = fstatSync(file);
    const places = [0, Math.max(0, Math.floor((size - part) / 2)), Math.max(0, size - part)];
    const parts = places.map((position) => {
      const bytes = Buffer.alloc(Math.min(part, size));
      readSync(file ?? 0, bytes, { position });
      return bytes;
    });
    return sha256(Buffer.concat([Buffer.from(`${size}:`), ...parts])).slice(0, 16);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The settings of a model loaded from a file, which identify the file. It is read on first use. */
export function settingsOfFile(path: string | undefined): () => { readonly file?: string } {
  let found: { readonly file?: string } | undefined;
  return () => {
    const file = found === undefined && path !== undefined ? fileFingerprint(path) : undefined;
    found ??= file === undefined ? {} : { file };
    return found;
  };
}
