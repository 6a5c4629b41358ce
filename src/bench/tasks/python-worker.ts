// The thread that runs Python: CPython in WebAssembly. Every function of its system interface is defined here, and
// none reaches the host: standard input and output are in memory, and its clock is a counter.
import { parentPort, workerData } from 'node:worker_threads';
import { type WasmMemory, webAssembly } from '../../base/webassembly.ts';
import type { PythonRequest } from './python-sandbox.ts';

/** The maximum of what is kept of its output, in bytes. */
const longest = 1_000_000;
/** The error numbers of WASI that the functions below return. */
const success = 0;
const badFile = 8;
const notSupported = 52;
const notSeekable = 70;
/** The type of subscription to a clock. */
const clock = 0;

const { python, program, input } = workerData as PythonRequest;

const encoded = (text: string) => new TextEncoder().encode(text);
const unread = [encoded(input)];
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

/** A list of texts, each ended by a zero, as a program gets its arguments and its environment. */
function texts(all: readonly string[]) {
  const ended = all.map((text) => encoded(`${text}\0`));
  return {
    sizes(count: number, bytes: number) {
      view().setUint32(count, ended.length, true);
      const size = ended.reduce((sum, each) => sum + each.length, 0);
      view().setUint32(bytes, size, true);
      return success;
    },
    get(list: number, bytes: number) {
      let at = bytes;
      for (const [index, each] of ended.entries()) {
        view().setUint32(list + 4 * index, at, true);
        new Uint8Array(memory.buffer).set(each, at);
        at += each.length;
      }
      return success;
    },
  };
}

const args = texts(['python', '-S', '-B', '-c', program]);
const environment = texts(['PYTHONHASHSEED=0']);

const isOpen = (file: number) => file >= 0 && file <= 2;

/** Fills the answer about a file with zeros: it is of no known type, size or age. */
const blank = (size: number) => (file: number, result: number) => {
  if (!isOpen(file)) return badFile;
  new Uint8Array(memory.buffer, result, size).fill(0);
  return success;
};

/** The end of the program, thrown through the module. */
class Exit extends Error {}

const system: Readonly<Record<string, (...given: never[]) => number>> = {
  args_sizes_get: args.sizes,
  args_get: args.get,
  environ_sizes_get: environment.sizes,
  environ_get: environment.get,
  fd_fdstat_get: blank(24),
  fd_filestat_get: blank(64),
  // No folder is open.
  fd_prestat_get: () => badFile,
  fd_prestat_dir_name: () => badFile,
  fd_close: (file: number) => (isOpen(file) ? success : badFile),
  fd_seek: () => notSeekable,
  fd_tell: () => notSeekable,
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
    if (!isOpen(file)) return badFile;
    let size = 0;
    for (const piece of pieces(list, count)) {
      size += piece.length;
      const kept = file === 1 ? piece.slice(0, longest - length) : piece.subarray(0, 0);
      length += kept.length;
      if (kept.length > 0) written.push(kept);
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
  clock_res_get(_clock: number, result: number) {
    view().setBigUint64(result, 1_000n, true);
    return success;
  },
  // Sleeping only sets the clock: what is waited for has come.
  poll_oneoff(...[subscriptions, events, count, result]: Transfer) {
    for (let index = 0; index < count; index++) {
      const [asked, event] = [subscriptions + 48 * index, events + 32 * index];
      const type = view().getUint8(asked + 8);
      if (type === clock) {
        const time = view().getBigUint64(asked + 24, true);
        const isAbsolute = (view().getUint16(asked + 40, true) & 1) === 1;
        const then = isAbsolute ? time : now + time;
        if (then > now) now = then;
      }
      new Uint8Array(memory.buffer, event, 32).fill(0);
      view().setBigUint64(event, view().getBigUint64(asked, true), true);
      view().setUint16(event + 8, type === clock ? success : badFile, true);
      view().setUint8(event + 10, type);
    }
    view().setUint32(result, count, true);
    return success;
  },
  random_get(at: number, size: number) {
    new Uint8Array(memory.buffer, at, size).fill(42);
    return success;
  },
  sched_yield: () => success,
  proc_exit() {
    throw new Exit();
  },
};

const refused = () => notSupported;
const instance = new webAssembly.Instance(python, {
  wasi_snapshot_preview1: new Proxy(system, { get: (all, name: string) => all[name] ?? refused }),
});
const exported = instance.exports as { readonly memory: WasmMemory; readonly _start: () => void };
memory = exported.memory;
try {
  exported._start();
} catch (error) {
  if (!(error instanceof Exit)) throw error;
}
parentPort?.postMessage({ output: Buffer.concat(written).toString() });
