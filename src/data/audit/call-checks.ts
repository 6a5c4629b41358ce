import type { ReadRow, RowTurn } from '../formats/reading.ts';
import { turnsOf } from './contents.ts';
import type { RowFault } from './report.ts';

const none: readonly RowFault[] = [];

/** Each result of a tool answers a call before it, and each call has its result before the conversation goes on. */
export function callFaults({ alternates, prompt, chosen, rejected }: ReadRow): readonly RowFault[] {
  // Where turns alternate, each result stands behind its call.
  if (alternates) return none;
  const asked = turnsOf(prompt);
  for (const side of [chosen, rejected].map(turnsOf)) {
    const turns = [...asked, ...side];
    if (!turns.some(({ usesTools }) => usesTools)) continue;
    const faults = faultsOf(turns);
    if (faults.length > 0) return faults;
  }
  return none;
}

function faultsOf(turns: readonly RowTurn[]): readonly RowFault[] {
  let open: readonly string[] = [];
  // All calls without ids may be answered by results without.
  let nameless = 0;
  for (const { role, calls, answers, content } of turns) {
    if (role === 'tool' || role === 'function') {
      if (answers !== undefined && open.includes(answers)) {
        open = open.filter((id) => id !== answers);
      } else if (nameless + (answers === undefined ? open.length : 0) > 0) {
        if (nameless > 0) nameless -= 1;
        else open = open.slice(1);
      } else return [{ code: 'unmatched-result', excerpt: answers ?? content }];
      continue;
    }
    if (open.length + nameless > 0) {
      return [{ code: 'unanswered-call', excerpt: open[0] ?? `${nameless} calls` }];
    }
    const ids = calls.map(idOf);
    open = ids.filter((id) => id !== undefined);
    nameless = ids.length - open.length;
  }
  return none;
}

function idOf(call: unknown): string | undefined {
  const id = typeof call === 'object' && call !== null && 'id' in call ? call.id : undefined;
  return typeof id === 'string' ? id : undefined;
}
