// The thread that runs code of a model in QuickJS: a machine of its own in WebAssembly, without an object of the host.
import { parentPort, workerData } from 'node:worker_threads';
import {
  newQuickJSWASMModule,
  newVariant,
  type QuickJSContext,
  RELEASE_SYNC,
} from 'quickjs-emscripten';
import { webAssembly } from '../../base/webassembly.ts';
import type { SandboxRequest, SandboxResult } from './sandbox.ts';

/** What a result may hold, in characters. */
const longest = 100_000;
const { code, calls, interrupts, bytes } = workerData as SandboxRequest;

// The limit of QuickJS itself counts only what its allocator adds to each block, and not the block.
const wasmMemory = new webAssembly.Memory({ initial: 256, maximum: bytes / 65_536 });
const quickjs = await newQuickJSWASMModule(newVariant(RELEASE_SYNC, { wasmMemory }));
const runtime = quickjs.newRuntime({ maxStackSizeBytes: 256 * 1024 });
const context = runtime.newContext();
let interrupted = 0;
runtime.setInterruptHandler(() => ++interrupted > interrupts);

/** What an expression gives as text, or why it gives none. */
function evaluated(machine: QuickJSContext, source: string): SandboxResult {
  const result = machine.evalCode(source, 'solution.js', { type: 'global' });
  if (result.error) {
    const told: unknown = machine.dump(result.error);
    result.error.dispose();
    const { name = 'Error', message = String(told) } = Object(told) as Readonly<
      Record<string, string>
    >;
    return { error: `${name}: ${message}`.slice(0, 300) };
  }
  const text =
    machine.typeof(result.value) === 'string' ? machine.getString(result.value) : 'undefined';
  result.value.dispose();
  return text.length > longest ? { error: 'The result is too long.' } : { value: text };
}

// A solution has to be the same each time. The rest is what functions are often written with: a console that shows
// nothing, an object for exports, and copies of plain values.
evaluated(
  context,
  `delete globalThis.Date; delete Math.random;
  globalThis.console = new Proxy({}, { get: () => () => {} });
  globalThis.module = { exports: {} };
  globalThis.exports = module.exports;
  globalThis.structuredClone = (value) =>
    Array.isArray(value) ? value.map(structuredClone)
    : Object.prototype.toString.call(value) !== '[object Object]' ? value
    : Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, structuredClone(inner)]));`,
);
const loaded = evaluated(context, code);
const results = calls.map((call) =>
  'error' in loaded ? loaded : evaluated(context, `JSON.stringify(${call})`),
);
parentPort?.postMessage(results);
