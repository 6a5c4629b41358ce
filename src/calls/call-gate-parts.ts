import type { Batches } from '../contracts/batch.ts';
import type { Clock } from '../contracts/clock.ts';
import type { ModelWarning } from '../contracts/language-model.ts';
import type { CallReport } from './call-in-flight.ts';
import type { Journal } from './journal.ts';
import type { Sequencer } from './sequencer.ts';

/** What a gate works with. */
export interface CallGateParts {
  readonly sequencer: Sequencer;
  readonly journal: Journal;
  readonly clock: Clock;
  /** Aborts every call in flight. */
  readonly signal: AbortSignal;
  /** The maximum number of calls in flight. @defaultValue no limit */
  readonly limit?: number | undefined;
  readonly onCall: (report: CallReport) => void;
  /** Called with features that a model does not support. */
  readonly onWarning: (warning: ModelWarning) => void;
  /** Whether a recorded deadline is still ahead: a call without a recorded result then never gets one. */
  readonly deadlineAhead: () => boolean;
  /** Receives the calls that can wait. @defaultValue nothing waits */
  readonly batches?: Batches | undefined;
  /** Ends the search as the recorded deadline did. */
  readonly expire?: () => void;
  /** Whether all failed calls are repeated, and not only those with a transient failure. */
  readonly retryFailed?: boolean | undefined;
}
