import { DeedLog } from '../../calls/deeds.ts';
import type { Journal } from '../../calls/journal.ts';
import type { ActCall } from '../../contracts/world.ts';
import type { Recovery } from '../worlds/live.ts';
import { type Committing, publishing } from './commit-path.ts';
import { atRest } from './outside.ts';
import { deedsLeft, NotTakenBack, takeBackLeft } from './reversible.ts';

/** Undoes deeds recorded in a journal that a killed process left. */
export function recoverDeeds(
  parts: Recovering,
  journal: Journal,
  call: ActCall,
): Promise<Recovery> {
  const log = DeedLog.of(journal);
  return log.inTurn(call.signal, () => recover(parts, log, call));
}

type Recovering = Pick<Committing, 'environment' | 'outside' | 'tools' | 'workspace'>;

/** The same, with the log of the journal. */
export async function recover(parts: Recovering, log: DeedLog, call: ActCall): Promise<Recovery> {
  const { environment, outside, workspace } = parts;
  const tools = new Map([...parts.tools, [publishing.name, publishing]]);
  let undone = 0;
  try {
    if (outside !== undefined) {
      const recovery = await outside.recover(call);
      if (recovery.failed.length > 0) return recovery;
      undone = recovery.undone;
      await outside.at(atRest, call, async () => {
        undone += await takeBackLeft({ log, tools }, environment, call);
      });
    }
    if (workspace !== undefined && deedsLeft({ log, tools }, environment).length > 0) {
      await workspace.at([], call, async (place) => {
        undone += await takeBackLeft({ log, tools, workspace: place }, environment, call);
      });
      // A copy of a partly published original is not a copy of the start.
      await workspace.close();
    }
    return { undone, failed: [] };
  } catch (error) {
    if (!(error instanceof NotTakenBack)) throw error;
    return { undone, failed: [error.message] };
  }
}
