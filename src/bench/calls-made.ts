import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { addSpend, type CallSpend, nothing } from '../calls/call-spend.ts';
import { readJournal } from '../calls/journal-file.ts';
import { JournalIndex, type RecordedCall } from '../calls/journal-index.ts';
import { journalFileOf, type ProblemOutcome } from '../runs/run-folder.ts';

/** What its journal says of the calls of a search. */
export interface CallsMade {
  /** What they were charged, those under way at its end included; without what killed processes have lost. */
  readonly charged: CallSpend;
  /** How many of the calls charged failed. */
  readonly failed: number;
  /** Why the first of those that failed did, whether it was charged or not; absent if none did. */
  readonly reason?: string;
}

/** The calls of a search of the run in a folder. */
export function callsMade(
  path: string,
  of: Pick<ProblemOutcome, 'attempt' | 'problem'>,
): CallsMade {
  const journal = join(path, 'journals', journalFileOf(of));
  if (!existsSync(journal)) return { charged: nothing, failed: 0 };
  const calls = new JournalIndex(readJournal(journal).lines).calls.map(lastLife);
  const failed = calls.filter(hasFailed);
  const reason = failed[0]?.end?.failure?.message;
  return {
    charged: sumOf(calls),
    failed: sumOf(failed).calls,
    ...(reason !== undefined && { reason }),
  };
}

/** A call as it was last made, or the one whose answer it took over. */
function lastLife(call: RecordedCall): RecordedCall {
  let life = call;
  while (life.next !== undefined) life = life.next;
  return life.reused ?? life;
}

/** What was under way when its search ended has not failed. */
function hasFailed({ end }: RecordedCall): boolean {
  return end?.failure !== undefined && end.failure.abandoned !== true;
}

function sumOf(calls: readonly RecordedCall[]): CallSpend {
  return calls.reduce((sum, { cost }) => addSpend(sum, cost), nothing);
}
