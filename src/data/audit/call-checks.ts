import type { ReadRow, RowTurn } from '../formats/reading.ts';
import { turnsOf } from './contents.ts';
import type { RowFault } from './report.ts';

const none: readonly RowFault[] = [];

/** Each result of a tool answers a call before it, and each call has its result before the conversation goes on. */
export function callFaults({ alternates, prompt, chosen, rejected }: ReadRow): readonly RowFault[] {
  // If turns alternate, each result follows its call.
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
  /** The ids of calls without a result so far; `undefined` for a call without one. */
  let open: readonly (string | undefined)[] = [];
  for (const { role, calls, answers, content } of turns) {
    const isResult = role === 'tool' || role === 'function';
    const place = isResult ? answered(open, answers) : -1;
    if (isResult && place < 0) return [{ code: 'unmatched-result', excerpt: answers ?? content }];
    if (!isResult && open.length > 0) {
      return [{ code: 'unanswered-call', excerpt: open[0] ?? `${open.length} calls` }];
    }
    open = isResult ? open.toSpliced(place, 1) : calls.map(idOf);
  }
  return none;
}

/** Which call a result answers: without an id, any one that is open does. */
function answered(open: readonly (string | undefined)[], id: string | undefined): number {
  if (id === undefined) return open.length - 1;
  return open.includes(id) ? open.indexOf(id) : open.indexOf(undefined);
}

function idOf(call: unknown): string | undefined {
  const id = typeof call === 'object' && call !== null && 'id' in call ? call.id : undefined;
  return typeof id === 'string' ? id : undefined;
}
