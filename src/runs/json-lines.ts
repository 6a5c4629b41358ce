import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { expectRegularFile } from '../runtime/regular-file.ts';
import { storing } from '../runtime/storing.ts';

const chunkSize = 1 << 20;
const newline = 0x0a;

function openFile(path: string, flags: 'r' | 'r+'): number {
  expectRegularFile(path);
  return openSync(path, flags);
}

/** A line and where it stands. */
export interface FileLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
  /** In bytes. */
  readonly offset: number;
}

/**
 * The whole lines of a file, read bit by bit; none where there is no file. A last line without its end was cut
 * off while it was written, and is left out.
 */
export function* readLines(path: string): Generator<FileLine, void, undefined> {
  if (!existsSync(path)) return;
  const file = storing(`\`${path}\``, () => openFile(path, 'r'));
  try {
    const chunk = Buffer.alloc(chunkSize);
    let rest: Buffer[] = [];
    let offset = 0;
    let number = 0;
    for (;;) {
      const size = storing(`\`${path}\``, () => readSync(file, chunk));
      if (size === 0) return;
      let start = 0;
      for (let end = chunk.indexOf(newline); end !== -1 && end < size; ) {
        const bytes = Buffer.concat([...rest, chunk.subarray(start, end)]);
        rest = [];
        number += 1;
        yield { text: bytes.toString('utf8'), number, offset };
        offset += bytes.length + 1;
        start = end + 1;
        end = chunk.indexOf(newline, start);
      }
      rest.push(Buffer.from(chunk.subarray(start, size)));
    }
  } finally {
    closeSync(file);
  }
}

/** The line that starts at an offset. */
export function readLineAt(path: string, offset: number): string {
  return storing(`\`${path}\``, () => {
    const file = openFile(path, 'r');
    try {
      const parts: Buffer[] = [];
      for (let at = offset; ; ) {
        const chunk = Buffer.alloc(chunkSize);
        const size = readSync(file, chunk, 0, chunkSize, at);
        const end = chunk.subarray(0, size).indexOf(newline);
        parts.push(chunk.subarray(0, end === -1 ? size : end));
        if (end !== -1 || size === 0) return Buffer.concat(parts).toString('utf8');
        at += size;
      }
    } finally {
      closeSync(file);
    }
  });
}

/** Adds a line to a file. */
export function appendLine(path: string, content: unknown): void {
  storing(`\`${path}\``, () => {
    expectRegularFile(path);
    const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    try {
      appendFileSync(path, `${JSON.stringify(content)}\n`);
    } catch (error) {
      // Half a line must not stay behind: the next one would run into it.
      if (existsSync(path)) truncateSync(path, size);
      throw error;
    }
  });
}

/** A line that a killed process left unfinished must not swallow the next one. */
export function dropBrokenLine(path: string): void {
  if (!existsSync(path)) return;
  storing(`\`${path}\``, () => {
    const file = openFile(path, 'r+');
    try {
      const { size } = fstatSync(file);
      const end = lastLineEnd(file, size);
      if (end < size) ftruncateSync(file, end);
    } finally {
      closeSync(file);
    }
  });
}

/** Where the last whole line ends, looked for from the end of the file. */
function lastLineEnd(file: number, size: number): number {
  const chunk = Buffer.alloc(Math.min(size, chunkSize));
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunk.length);
    readSync(file, chunk, 0, end - start, start);
    const found = chunk.subarray(0, end - start).lastIndexOf(newline);
    if (found !== -1) return start + found + 1;
    end = start;
  }
  return 0;
}
