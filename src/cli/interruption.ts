import { EspalierError } from '../base/errors.ts';
import { aroundCalls } from '../calls/middleware/wrap.ts';
import type { Models } from './model.ts';
import { printError } from './output.ts';

/** The exit code of a command that Ctrl-C ended, as shells expect it: 128 and the number of the signal. */
export const interrupted = 130;

/** One key press can arrive twice: from the terminal, and passed on by npm. */
const onePress = 300;

/** Whether the user has asked to stop. */
export interface Interruption {
  readonly requested: boolean;
  /** Models that are no longer asked then. */
  guard(models: Partial<Models>): Models;
}

/**
 * From here on, until the process ends, the first Ctrl-C asks for a graceful end and a second one ends it
 * at once.
 */
export function listenForInterruption(): Interruption {
  let requestedAt: number | undefined;
  process.on('SIGINT', () => {
    const now = performance.now();
    if (requestedAt === undefined) {
      requestedAt = now;
      printError(
        `${process.stderr.isTTY ? '\n' : ''}Stopping when the calls in flight have ended: they are paid for. Press Ctrl-C again to stop at once.`,
      );
    } else if (now - requestedAt > onePress) {
      process.exit(interrupted);
    }
  });
  // A call that has not been sent is refused; one that is under way ends, because it is paid for.
  const guarded = aroundCalls(() => async (_asked, call, make) => {
    if (requestedAt === undefined) return make(call);
    throw new EspalierError('unavailable', 'Ended by Ctrl-C.');
  });
  return {
    get requested() {
      return requestedAt !== undefined;
    },
    guard: ({ model, judgeModel }) => ({
      model: model && guarded(model),
      ...(judgeModel !== undefined && { judgeModel: guarded(judgeModel) }),
    }),
  };
}
