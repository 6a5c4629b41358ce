import { isPlainObject } from '../../base/json.ts';
import type { ReadRow } from '../formats/reading.ts';
import { turnsOf } from './contents.ts';
import type { RowFault } from './report.ts';
import { argumentFault, schemaFault } from './tool-schema.ts';

/** Checks the tools that a row offers and calls. */
export function toolFaults(row: ReadRow): readonly RowFault[] {
  const { prompt, chosen, rejected, columns } = row;
  const turns = [prompt, chosen, rejected].flatMap(turnsOf);
  const user = turns.find(({ usesTools }) => usesTools);
  const tools = offeredIn(columns);
  if (tools === undefined) return [{ code: 'invalid-tools', excerpt: columns['tools'] }];
  const faults: RowFault[] = [...offerFaults(tools)];
  if (user === undefined) return faults;
  const calls = turns
    .flatMap((turn) => turn.calls)
    .flatMap(callsIn)
    .map(readCall);
  const broken = calls.find(({ fault }) => fault !== undefined);
  if (broken !== undefined) faults.push({ code: 'invalid-call', excerpt: broken.fault });
  if (tools.length === 0) return [...faults, { code: 'tools-missing', excerpt: user.role }];
  // A call of a missing tool, or a wrong call, may be why a side was rejected.
  const meant = [prompt, chosen].flatMap(turnsOf).flatMap((turn) => turn.calls);
  return [...faults, ...calledFaults(meant.flatMap(callsIn).map(readCall), tools)];
}

/** Names of tools and fits of arguments. */
function calledFaults(calls: readonly Call[], tools: readonly unknown[]): readonly RowFault[] {
  const faults: RowFault[] = [];
  const schemas = new Map(tools.map((tool) => [nameOf(tool), parametersOf(tool)]));
  const stranger = calls.find(({ name }) => name !== undefined && !schemas.has(name));
  if (stranger !== undefined) faults.push({ code: 'undeclared-tool', excerpt: stranger.name });
  for (const { name, args } of calls) {
    const fault = args === undefined ? undefined : argumentFault(schemas.get(name), args);
    if (fault === undefined) continue;
    faults.push({ code: 'invalid-arguments', excerpt: `${name}: ${fault}` });
    break;
  }
  return faults;
}

/** The tools that a row offers, as it writes them: as JSON or as JSON text; `undefined` if that cannot be read. */
export function offeredIn(columns: ReadRow['columns']): readonly unknown[] | undefined {
  const { tools, input } = columns;
  const own = tools ?? (isPlainObject(input) ? input['tools'] : undefined) ?? [];
  const value = typeof own === 'string' ? parsed(own.trim() === '' ? '[]' : own) : own;
  if (value === null) return [];
  return Array.isArray(value) ? value : undefined;
}

/** The fault of the first invalid tool. Tools that a service carries out itself have a separate type, and no name. */
function offerFaults(tools: readonly unknown[]): readonly RowFault[] {
  const names = new Set<string>();
  for (const tool of tools) {
    const name = nameOf(tool);
    if (name === undefined) {
      const type = isPlainObject(tool) ? tool['type'] : undefined;
      if (typeof type === 'string' && type !== 'function') continue;
      return [{ code: 'invalid-tools', excerpt: tool }];
    }
    const fault = names.has(name) ? 'there twice' : schemaFault(parametersOf(tool));
    if (fault !== undefined) return [{ code: 'tool-schema', excerpt: `${name}: ${fault}` }];
    names.add(name);
  }
  return [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The name of a tool or a call. */
function nameOf(value: unknown): string | undefined {
  if (!isPlainObject(value)) return undefined;
  const { function: own, name } = value;
  const inner = isPlainObject(own) ? own['name'] : undefined;
  const found = inner ?? name;
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** The schema of a tool's arguments. Some datasets write it as JSON text. */
function parametersOf(tool: unknown): unknown {
  if (!isPlainObject(tool)) return undefined;
  const { function: own } = tool;
  const { parameters, input_schema: input } = isPlainObject(own) ? own : tool;
  const schema = parameters ?? input;
  return typeof schema === 'string' ? (parsed(schema) ?? schema) : schema;
}

/** ShareGPT writes calls as JSON text, several as a list. */
function callsIn(value: unknown): readonly unknown[] {
  const call = typeof value === 'string' ? (parsed(value) ?? value) : value;
  return Array.isArray(call) ? call : [call];
}

/** A call, and its fault. */
interface Call {
  readonly name?: string | undefined;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly fault?: unknown;
}

function readCall(call: unknown): Call {
  const name = nameOf(call);
  if (!isPlainObject(call) || name === undefined) return { fault: call };
  const { function: own } = call;
  const { arguments: given, input } = isPlainObject(own) ? own : call;
  const written = given ?? input ?? {};
  const args = typeof written === 'string' ? parsed(written) : written;
  return isPlainObject(args) ? { name, args } : { name, fault: written };
}
