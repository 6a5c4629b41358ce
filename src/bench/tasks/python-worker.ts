// The thread that runs Python: CPython in WebAssembly, with standard input and output in memory and nothing of the host.
import { WASI } from 'node:wasi';
import { parentPort, workerData } from 'node:worker_threads';
import { type WasmMemory, webAssembly } from '../../base/webassembly.ts';
import type { PythonRequest } from './python-sandbox.ts';

/** The maximum of what is kept of its output, in bytes. */
const longest = 1_000_000;
/** The error numbers of WASI that the functions below return. */
const success = 0;
const badFile = 8;

const { python, program, input } = workerData as PythonRequest;

const wasi = new WASI({
  version: 'preview1',
  args: ['python', '-S', '-B', '-c', program],
  env: { PYTHONHASHSEED: '0' },
  returnOnExit: true,
});
const imports = wasi.getImportObject() as { wasi_snapshot_preview1: Record<string, object> };

const unread = [new TextEncoder().encode(input)];
const written: Uint8Array[] = [];
let length = 0;
let now = 0n;

/** The memory of the module, which grows: it is viewed anew for each call. */
let memory: WasmMemory;
const view = () => new DataView(memory.buffer);

/** How WASI calls for a transfer: the number of a file, a list of pieces of memory, and where to put the size. */
type Transfer = readonly [file: number, list: number, count: number, result: number];

/** The pieces of memory that a call names. */
function pieces(list: number, count: number): readonly Uint8Array[] {
  return Array.from({ length: count }, (_, index) => {
    const at = view().getUint32(list + 8 * index, true);
    const size = view().getUint32(list + 8 * index + 4, true);
    return new Uint8Array(memory.buffer, at, size);
  });
}

Object.assign(imports.wasi_snapshot_preview1, {
  fd_read(...[file, list, count, result]: Transfer) {
    if (file !== 0) return badFile;
    let read = 0;
    for (const piece of pieces(list, count)) {
      const left = unread.shift() ?? new Uint8Array();
      const taken = left.subarray(0, piece.length);
      piece.set(taken);
      read += taken.length;
      if (taken.length < left.length) unread.unshift(left.subarray(taken.length));
    }
    view().setUint32(result, read, true);
    return success;
  },
  fd_write(...[file, list, count, result]: Transfer) {
    let size = 0;
    for (const piece of pieces(list, count)) {
      size += piece.length;
      if (file !== 1) continue;
      written.push(piece.slice(0, longest - length));
      length = Math.min(longest, length + piece.length);
    }
    view().setUint32(result, size, true);
    return success;
  },
  // A program has to do the same each time it runs.
  clock_time_get(_clock: number, _precision: bigint, result: number) {
    now += 1_000n;
    view().setBigUint64(result, now, true);
    return success;
  },
  random_get(at: number, size: number) {
    new Uint8Array(memory.buffer, at, size).fill(42);
    return success;
  },
});

const instance = new webAssembly.Instance(python, imports);
memory = (instance.exports as { readonly memory: WasmMemory }).memory;
wasi.start(instance);
parentPort?.postMessage({ output: Buffer.concat(written).toString() });
