import { isPlainObject } from '../../base/json.ts';
import type { ReadRow } from '../formats/reading.ts';
import type { RowFault } from './report.ts';

const none: readonly RowFault[] = [];

/** The columns that hosted fine-tuning takes, and the keys of its turns. */
const hostedColumns: readonly string[] = ['functions', 'messages', 'parallel_tool_calls', 'tools'];
const turnKeys: readonly string[] = [
  'audio',
  'content',
  'function_call',
  'name',
  'reasoning_content',
  'refusal',
  'role',
  'thinking',
  'tool_call_id',
  'tool_calls',
  'weight',
];

/** Whether a row could be for hosted fine-tuning, which holds files to more than other trainers do. */
export function isHosted({ columns }: ReadRow): boolean {
  return (
    'preferred_output' in columns ||
    ('messages' in columns && Object.keys(columns).every((name) => hostedColumns.includes(name)))
  );
}

/** What hosted fine-tuning refuses. */
export function hostedFaults(row: ReadRow): readonly RowFault[] {
  const { columns } = row;
  const { messages, preferred_output: better, non_preferred_output: worse } = columns;
  const long = [better, worse].find((side) => Array.isArray(side) && side.length > 1);
  if (Array.isArray(long)) {
    return [{ code: 'invalid-role', excerpt: `${long.length} turns where one belongs` }];
  }
  if (!Array.isArray(messages)) return none;
  const turns = messages.filter(isPlainObject);
  const faults: RowFault[] = [];
  const extra = isHosted(row)
    ? turns.flatMap((turn) => Object.keys(turn)).find((key) => !turnKeys.includes(key))
    : undefined;
  // Turns of ShareGPT have been told.
  if (extra !== undefined && turns.every((turn) => 'role' in turn)) {
    faults.push({ code: 'extra-key', excerpt: extra });
  }
  const wrong = turns.find(({ weight = 1 }) => weight !== 0 && weight !== 1 && weight !== null);
  const own = turns.filter(({ role }) => role === 'assistant');
  if (wrong !== undefined) faults.push({ code: 'invalid-weight', excerpt: wrong['weight'] });
  else if (own.length > 0 && own.every(({ weight }) => weight === 0)) {
    faults.push({ code: 'invalid-weight', excerpt: 'all weights are 0' });
  }
  return faults;
}
