import { isPlainObject } from '../../base/json.ts';
import type { ReadRow, RowContent, RowTurn } from '../formats/reading.ts';
import type { RowFault } from './report.ts';

/** What is wrong with the tools that a row offers and calls. */
export function toolFaults(row: ReadRow): readonly RowFault[] {
  const { prompt, chosen, rejected, columns } = row;
  const turns = [prompt, chosen, rejected].flatMap(turnsOf);
  const user = turns.find(({ usesTools }) => usesTools);
  const tools = offeredIn(columns);
  if (tools === undefined) return [{ code: 'invalid-tools', excerpt: columns['tools'] }];
  if (user === undefined) return [];
  const calls = turns.flatMap((turn) => turn.calls).map(readCall);
  const broken = calls.find(({ fault }) => fault !== undefined);
  const faults: readonly RowFault[] =
    broken === undefined ? [] : [{ code: 'invalid-call', excerpt: broken.fault }];
  if (tools.length === 0) return [...faults, { code: 'tools-missing', excerpt: user.role }];
  const names = tools.map(nameOf);
  // Calling what is not there may be why a side was rejected.
  const stranger = [prompt, chosen]
    .flatMap(turnsOf)
    .flatMap((turn) => turn.calls)
    .map((call) => readCall(call).name)
    .find((name) => name !== undefined && !names.includes(name));
  return stranger === undefined || names.includes(undefined)
    ? faults
    : [...faults, { code: 'undeclared-tool', excerpt: stranger }];
}

function turnsOf(content: RowContent | undefined): readonly RowTurn[] {
  return content === undefined || typeof content === 'string' ? [] : content;
}

/** The tools that a row offers, as it writes them: as JSON or as JSON text; `undefined` where that cannot be read. */
export function offeredIn(columns: ReadRow['columns']): readonly unknown[] | undefined {
  const { tools, input } = columns;
  const own = tools ?? (isPlainObject(input) ? input['tools'] : undefined) ?? [];
  const value = typeof own === 'string' ? parsed(own.trim() === '' ? '[]' : own) : own;
  if (value === null) return [];
  return Array.isArray(value) ? value : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Of a tool or a call. `undefined` where it has none, as those that a service carries out itself. */
function nameOf(value: unknown): string | undefined {
  if (!isPlainObject(value)) return undefined;
  const { function: own, name } = value;
  const inner = isPlainObject(own) ? own['name'] : undefined;
  const found = inner ?? name;
  return typeof found === 'string' ? found : undefined;
}

/** The name of what a call is for, and what is wrong with the call. */
function readCall(value: unknown): {
  readonly name?: string | undefined;
  readonly fault?: unknown;
} {
  // ShareGPT writes a call as JSON text.
  const call = typeof value === 'string' ? parsed(value) : value;
  if (Array.isArray(call)) return call.map(readCall).find(({ fault }) => fault !== undefined) ?? {};
  const name = nameOf(call);
  if (!isPlainObject(call) || name === undefined) return { fault: value };
  const { function: own } = call;
  const { arguments: given, input } = isPlainObject(own) ? own : call;
  const args = given ?? input ?? {};
  const isRead = isPlainObject(typeof args === 'string' ? parsed(args) : args);
  return isRead ? { name } : { name, fault: args };
}
