import { frozen } from '../../base/frozen.ts';
import { isThenable } from '../../base/is-thenable.ts';
import { isPlainObject, jsonFault } from '../../base/json.ts';
import { settledOrLeft } from '../../base/unless-aborted.ts';
import { visible } from '../../base/visible.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ActCall } from '../../contracts/world.ts';
import { complaintOf } from './complaint.ts';
import type { DeclaredTool } from './tool.ts';

/** The result of a run: the output, and the new state if it changed; or the failure. */
export type Ran =
  | { readonly output: JsonValue; readonly data?: JsonValue }
  | {
      readonly error: string;
      /** It was abandoned, and may still be running. */
      readonly late?: true;
    };

/** The output is unknown; the state after it may still be known. */
export interface Unforeseen {
  readonly unforeseen: true;
  readonly data?: JsonValue;
}

/** The arguments of a run. */
export interface RunOn {
  /** What it works on: frozen if it is data. */
  readonly db: unknown;
  /** Its parsed input. */
  readonly parsed: unknown;
}

/**
 * Runs a tool. Whatever it returns or throws becomes a result that can be stored.
 *
 * @throws the reason of the signal if the search is aborted.
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

/** The prediction of a rule or a person for a tool that is not run. A missing output means that it is unknown. */
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

/** The result of a function within its time limit, or why there is none. */
async function attempt(
  begin: (call: ActCall) => unknown,
  timeoutMs: number,
  call: ActCall,
): Promise<{ readonly value: unknown } | Extract<Ran, { readonly error: string }>> {
  const { signal, clock } = call;
  signal.throwIfAborted();
  // Aborts only while the tool runs: an MCP client would otherwise tell its server to cancel finished work.
  const during = new AbortController();
  const abort = () => during.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const waiting = new AbortController();
  const late = new Error(`It took longer than ${timeoutMs} ms, and was abandoned.`);
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

/** The result of a tool that may return a new state. */
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

/** Why a value is not a valid result of such a tool: bare data would look like no change at all. */
function resultFault(value: unknown): string | undefined {
  if (!isPlainObject(value)) return 'It did not return a plain object with `state` or `output`.';
  const names = Object.keys(value);
  const isKnown = (name: string) => name === 'state' || name === 'output';
  const unknown = names.find((name) => !isKnown(name));
  if (unknown === undefined) return undefined;
  const hint = names.some(isKnown) ? 'It may have no others.' : 'Did you mean `{ state: … }`?';
  return `Expected an object with \`state\` or \`output\`, got one with \`${unknown}\`. ${hint}`;
}

/** An output as JSON of acceptable length. */
export function outputOf(value: unknown, maxOutput: number): Ran {
  if (value === undefined) return { output: null };
  const bytes = byteLength(value);
  if (bytes !== undefined) return { output: `[binary, ${bytes} bytes]` };
  const fault = jsonFault(value);
  if (fault !== undefined)
    return { error: `It returned a value that JSON cannot hold: ${fault.what}.` };
  const copy = typeof value === 'string' ? value : (JSON.parse(JSON.stringify(value)) as JsonValue);
  return { output: frozen(shownOf(copy, maxOutput)) };
}

/** The output as shown to a model: its beginning and end if it is too long. */
export function shownOf(output: JsonValue, maxOutput: number): JsonValue {
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  return text.length > maxOutput ? shortened(text, maxOutput) : output;
}

function byteLength(value: unknown): number | undefined {
  const isBinary = ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
  return isBinary ? value.byteLength : undefined;
}

/**
 * The beginning and end of a text, with the number of omitted characters between them. A split surrogate pair is
 * omitted too.
 */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = text.slice(0, Math.ceil(length / 2)).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - Math.floor(length / 2)).replace(/^[\uDC00-\uDFFF]/, '');
  const left = text.length - head.length - tail.length;
  return `${head}\n[… ${left} characters left out …]\n${tail}`;
}

/** A value as shown within a message. */
export function briefly(value: JsonValue): string {
  return `\`${visible(shortened(JSON.stringify(value), 100).replaceAll('\n', ' '))}\``;
}
