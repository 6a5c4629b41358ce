import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { EspalierError } from '../base/errors.ts';
import {
  expectArray,
  expectation,
  expectBoolean,
  expectFunction,
  expectText,
} from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { makeFolder } from '../base/make-folder.ts';
import { expectRegularFile } from '../base/regular-file.ts';
import { isCode, withStorageErrors } from '../base/with-storage-errors.ts';
import type { Reflection, ReflectionStore } from '../contracts/memory.ts';
import { readReflection } from './reflection.ts';

type Skipped = Parameters<
  NonNullable<NonNullable<Parameters<typeof jsonLinesStore>[1]>['onSkipped']>
>[0];

/** Reflections in a file. */
export interface JsonLinesStore extends ReflectionStore {
  /** All reflections, the oldest first. */
  all(): readonly Reflection[];
  /** Adds reflections, skipping those whose `id` is already stored. */
  add(reflections: readonly Reflection[]): void;
  /** The path of the file. */
  readonly path: string;
  /** The number of invalid lines skipped. */
  readonly skipped: number;
}

/**
 * Keeps reflections in a JSON Lines file, created with its folder at the first addition.
 *
 * On a local file system, several processes may read and write it concurrently, without a lock. Additions are appended
 * in a single write (`O_APPEND`), and read back. If the last line is incomplete, because a process died or the disk was
 * full, the write starts with a line break, so that only that line is lost. Reflections added by two processes at the
 * same moment may be stored twice, and are read once.
 *
 * Each line is validated; lines that are not reflections, or whose `id` does not match their content, are skipped and
 * counted. A last line without a line break is ignored until complete.
 *
 * @throws EspalierError `storage` from `all` and `add` if the file cannot be read or written.
 */
export function jsonLinesStore(
  path: string,
  options: {
    /**
     * Called for each skipped line with its file, its number from 1, and the reason. @defaultValue a warning of the
     * process
     */
    readonly onSkipped?: (skipped: {
      readonly path: string;
      readonly line: number;
      readonly fault: string;
    }) => void;
    /**
     * Whether to flush additions to disk, so that they survive a power failure, at the cost of a few milliseconds.
     *
     * @defaultValue false
     */
    readonly fsync?: boolean;
  } = {},
): JsonLinesStore {
  expectOptions('jsonLinesStore', options, 'onSkipped fsync');
  expectText('path', path);
  if (options.onSkipped !== undefined) expectFunction('onSkipped', options.onSkipped);
  if (typeof path !== 'string' || path === '') throw expectation('path', 'a path', path);
  const { onSkipped = warn, fsync = false } = options;
  expectBoolean('fsync', fsync);
  const lines = new Lines(path, onSkipped);
  return {
    path,
    get skipped() {
      return lines.skipped;
    },
    all: () => withStorageErrors(`The memory \`${path}\``, () => [...lines.read().values()]),
    add: (reflections) =>
      withStorageErrors(`The memory \`${path}\``, () => add(lines, { path, fsync }, reflections)),
  };
}

function add(
  lines: Lines,
  { path, fsync }: { readonly path: string; readonly fsync: boolean },
  reflections: readonly Reflection[],
): void {
  expectArray('reflections', reflections);
  for (const reflection of reflections) {
    const read = readReflection(reflection);
    if ('fault' in read) {
      throw new EspalierError(
        'usage',
        `Expected a valid reflection, got one in which ${read.fault}.`,
      );
    }
  }
  const isMissing = ({ id }: Reflection) => !lines.read().has(id);
  // The second attempt is for another process that died in the middle of a line after we had looked.
  for (const mended of [false, true]) {
    const missing = new Map(reflections.filter(isMissing).map((one) => [one.id, one]));
    if (missing.size === 0) return;
    const text = [...missing.values()].map((one) => `${JSON.stringify(one)}\n`).join('');
    const bytes = Buffer.from(mended || lines.isBroken ? `\n${text}` : text);
    makeFolder(dirname(path));
    append(path, bytes, fsync);
  }
  if (reflections.some(isMissing)) {
    throw new EspalierError(
      'storage',
      `The memory \`${path}\` could not be used: what was written to it can no longer be found.`,
    );
  }
}

/** A single write, which no other writer can interrupt. If it is cut short, reading back shows that. */
function append(path: string, bytes: Uint8Array, fsync: boolean): void {
  expectRegularFile(path);
  const file = openSync(path, 'a');
  try {
    writeSync(file, bytes);
    if (fsync) fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The lines of a file read so far. Reading continues where it stopped. */
class Lines {
  readonly #path: string;
  readonly #onSkipped: (skipped: Skipped) => void;
  readonly #kept = new Map<string, Reflection>();
  #inode: number | undefined;
  /** The end of the last complete line. */
  #end = 0;
  #count = 0;
  #isBroken = false;
  skipped = 0;

  constructor(path: string, onSkipped: (skipped: Skipped) => void) {
    this.#path = path;
    this.#onSkipped = onSkipped;
  }

  /** Whether the last line had no line break when it was read. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  read(): ReadonlyMap<string, Reflection> {
    const bytes = this.#news();
    const end = bytes.lastIndexOf(0x0a) + 1;
    this.#end += end;
    this.#isBroken = end < bytes.length;
    const lines = bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
    for (const line of lines) {
      this.#count++;
      if (line.trim() !== '') this.#take(line);
    }
    return this.#kept;
  }

  /** The bytes after the last complete line. A file that was replaced or truncated is read from its start. */
  #news(): Buffer {
    const file = openOrNone(this.#path);
    if (file === undefined) {
      this.#forget(undefined);
      return Buffer.alloc(0);
    }
    try {
      const { ino, size } = fstatSync(file);
      if (ino !== this.#inode || size < this.#end) this.#forget(ino);
      return readFrom(file, this.#end, size);
    } finally {
      closeSync(file);
    }
  }

  #forget(inode: number | undefined): void {
    this.#kept.clear();
    this.#inode = inode;
    this.#end = 0;
    this.#count = 0;
  }

  #take(line: string): void {
    const read = readLine(line);
    if ('fault' in read) {
      this.skipped++;
      this.#onSkipped({ path: this.#path, line: this.#count, fault: read.fault });
    } else if (!this.#kept.has(read.reflection.id)) {
      this.#kept.set(read.reflection.id, read.reflection);
    }
  }
}

function openOrNone(path: string): number | undefined {
  expectRegularFile(path);
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function readFrom(file: number, start: number, end: number): Buffer {
  const bytes = Buffer.alloc(end - start);
  let read = 0;
  while (read < bytes.length) {
    const more = readSync(file, bytes, read, bytes.length - read, start + read);
    if (more === 0) break;
    read += more;
  }
  return bytes.subarray(0, read);
}

function readLine(line: string): ReturnType<typeof readReflection> {
  try {
    return readReflection(JSON.parse(line));
  } catch {
    return { fault: 'it is not JSON' };
  }
}

function warn({ path, line, fault }: Skipped): void {
  process.emitWarning(`Line ${line} of the memory \`${path}\` is left out: ${fault}.`);
}
