import { frozen } from '../../base/frozen.ts';
import { isThenable } from '../../base/is-thenable.ts';
import { isPlainObject, jsonFault } from '../../base/json.ts';
import { settledOrLeft } from '../../base/unless-aborted.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ActCall } from '../../contracts/world.ts';
import { complaintOf } from './complaint.ts';
import type { DeclaredTool } from './tool.ts';

/** What a run came to: what is to be seen, and the state where it is another one; or why there is nothing. */
export type Ran =
  | { readonly output: JsonValue; readonly data?: JsonValue }
  | {
      readonly error: string;
      /** It was given up, and may still be under way. */
      readonly late?: true;
    };

/** Nobody knows what will come out; the state behind it may be known all the same. */
export interface Unforeseen {
  readonly unforeseen: true;
  readonly data?: JsonValue;
}

/** What a tool is run on. */
export interface RunOn {
  /** What it works on: a state is to be frozen. */
  readonly db: unknown;
  /** Its input, as its schema has read it. */
  readonly parsed: unknown;
}

/**
 * Runs a tool. Whatever it does, throws or returns becomes a result that can be kept.
 *
 * @throws The reason of the signal, where the search is aborted.
 */
export async function runTool(
  tool: DeclaredTool,
  { db, parsed }: RunOn,
  call: ActCall,
): Promise<Ran> {
  const { effect, maxOutput } = tool;
  const ended = await attempt((limited) => tool.run(db, parsed, limited), tool.timeoutMs, call);
  if ('error' in ended) return ended;
  return effect === 'pure' ? changed(ended.value, maxOutput) : outputOf(ended.value, maxOutput);
}

/** What a rule or a person predicts of a tool that is not run. No output is none that is known. */
export async function predictTool(
  { predict, timeoutMs, maxOutput }: DeclaredTool,
  { db, parsed }: RunOn,
  call: ActCall,
): Promise<Ran | Unforeseen> {
  if (typeof predict !== 'function') return { error: 'nobody predicts it' };
  const ended = await attempt(() => predict(db, parsed), timeoutMs, call);
  if ('error' in ended) return ended;
  const ran = changed(ended.value, maxOutput);
  if ('error' in ran || (ended.value as { readonly output?: unknown }).output !== undefined) {
    return ran;
  }
  return { unforeseen: true, ...(ran.data !== undefined && { data: ran.data }) };
}

/** What something returns within its time, or why it returned nothing. */
async function attempt(
  begin: (call: ActCall) => unknown,
  timeoutMs: number,
  call: ActCall,
): Promise<{ readonly value: unknown } | Extract<Ran, { readonly error: string }>> {
  const { signal, clock } = call;
  signal.throwIfAborted();
  // Aborts what runs, and nothing that has ended: a client of MCP would tell its server to cancel what is done.
  const during = new AbortController();
  const abort = () => during.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const waiting = new AbortController();
  const late = new Error(`It took longer than ${timeoutMs} ms, and was given up.`);
  try {
    const running = begin({ ...call, signal: during.signal });
    const value = await settledOrLeft<unknown>(signal, ({ resolve, reject }) => {
      void Promise.resolve(running).then(resolve, reject);
      if (isThenable(running)) {
        clock.sleep(timeoutMs, waiting.signal).then(
          () => reject(late),
          () => {},
        );
      }
      return () => reject(signal.reason);
    });
    return { value };
  } catch (error) {
    signal.throwIfAborted();
    if (error !== late) return { error: complaintOf(error) };
    during.abort(late);
    return { error: late.message, late: true };
  } finally {
    waiting.abort();
    signal.removeEventListener('abort', abort);
  }
}

/** What a tool returned that may give another state. */
function changed(value: unknown, maxOutput: number): Ran {
  try {
    const fault = resultFault(value);
    if (fault !== undefined) return { error: fault };
    const { state, output } = value as { readonly state?: unknown; readonly output?: unknown };
    const shown = outputOf(output, maxOutput);
    if (state === undefined || 'error' in shown) return shown;
    const stateFault = jsonFault(state);
    if (stateFault === undefined) return { ...shown, data: frozen(state as JsonValue) };
    return { error: `It returned a state that JSON cannot hold: ${stateFault.what}.` };
  } catch (error) {
    return { error: complaintOf(error) };
  }
}

/** Why something is not what such a tool returns: the data by themselves would pass for no change at all. */
function resultFault(value: unknown): string | undefined {
  if (!isPlainObject(value)) return 'It returned no plain object with `state` or `output`.';
  const names = Object.keys(value);
  const isKnown = (name: string) => name === 'state' || name === 'output';
  const unknown = names.find((name) => !isKnown(name));
  if (unknown === undefined) return undefined;
  const hint = names.some(isKnown) ? 'It may have no others.' : 'Did you mean `{ state: … }`?';
  return `Expected an object with \`state\` or \`output\`, got one with \`${unknown}\`. ${hint}`;
}

/** An output as JSON of a length that can be kept. */
export function outputOf(value: unknown, maxOutput: number): Ran {
  if (value === undefined) return { output: null };
  const bytes = byteLength(value);
  if (bytes !== undefined) return { output: `[binary, ${bytes} bytes]` };
  const fault = jsonFault(value);
  if (fault !== undefined) return { error: `It returned what JSON cannot hold: ${fault.what}.` };
  const copy = typeof value === 'string' ? value : (JSON.parse(JSON.stringify(value)) as JsonValue);
  return { output: frozen(shownOf(copy, maxOutput)) };
}

/** What is shown of an output: a text of its head and its tail where it is too long. */
export function shownOf(output: JsonValue, maxOutput: number): JsonValue {
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  return text.length > maxOutput ? shortened(text, maxOutput) : output;
}

function byteLength(value: unknown): number | undefined {
  const isBinary = ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
  return isBinary ? value.byteLength : undefined;
}

/** The head and the tail of a text, and between them how much is left out. Half a surrogate pair goes with it. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = text.slice(0, Math.ceil(length / 2)).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - Math.floor(length / 2)).replace(/^[\uDC00-\uDFFF]/, '');
  const left = text.length - head.length - tail.length;
  return `${head}\n[… ${left} characters left out …]\n${tail}`;
}
