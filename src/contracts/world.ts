import type { Clock } from './clock.ts';
import type { JsonValue, MaybePromise } from './json.ts';

/** What surrounds one act in a world, or one run of a tool. */
export interface ActCall {
  /** Aborts at the limit of time, and with the search. */
  readonly signal: AbortSignal;
  /** The time of the search. */
  readonly clock: Clock;
  /**
   * Names this one run, in its undo and after a crash too: an idempotency key for servers that take one, so that what
   * it made can be found again.
   */
  readonly id: string;
}

/** What an act led to. */
export interface Seen<Observation> {
  /** What is to be seen. */
  readonly observation: Observation;
  /** r(s, a). */
  readonly reward?: number;
  /** c(s, a) ≥ 0. @defaultValue 1 */
  readonly cost?: number;
  /** Nothing can follow. */
  readonly terminal?: boolean;
}

/**
 * Something live that is worked in and brought back: a folder, a repository, a database. What it can do tells how:
 * by `fork`, by `snapshot` and `restore`, or by `reset` and doing all again. One that can do none of these is worked in
 * as it stands.
 */
export interface Workspace {
  /** Brings it to its start. */
  reset?(call: ActCall): unknown;
  /** Keeps how it stands. What it returns need not outlive the process. */
  snapshot?(): MaybePromise<JsonValue>;
  /** Brings it to how it stood at a snapshot. */
  restore?(snapshot: JsonValue): MaybePromise<void>;
  /** Forgets a snapshot. */
  forget?(snapshot: JsonValue): MaybePromise<void>;
  /** Another one that stands as this one does. */
  fork?(): MaybePromise<this>;
  /** What tells how it stands: equal texts are equal states. */
  fingerprint?(): MaybePromise<string>;
  /**
   * What tells the original apart, from others and from how it stands later: a commit takes what another one has
   * published for done only where both began with the same.
   *
   * @defaultValue there is one original, and what is published from it once is done
   */
  original?(): MaybePromise<string>;
  /**
   * What makes the original stand as this copy does, such as the commits before and after: written down before
   * anything is published. Throws where that cannot be done.
   */
  changes?(): MaybePromise<JsonValue>;
  /** What would be published, for whoever approves of it: a text, such as a diff. */
  diff?(changes: JsonValue): MaybePromise<string>;
  /**
   * Makes the original stand as this copy does. Called by a commit, and by nothing else.
   *
   * @throws EspalierError `stale` where the original has changed meanwhile.
   */
  publish?(changes: JsonValue, call: ActCall): MaybePromise<void>;
  /** Takes back what a kill cut off; does nothing where it never began. */
  unpublish?(changes: JsonValue, call: ActCall): MaybePromise<void>;
  /** Gives it up. */
  close?(): MaybePromise<void>;
}

/** A live world that changes with every act: a browser, a shell, a game in another process. */
export interface World<Action = any, Observation = any> extends Workspace {
  /** Brings it to its start. */
  reset(call: ActCall): MaybePromise<Seen<Observation>>;
  /** Does something. What it throws fails the one step. */
  act(action: Action, call: ActCall): MaybePromise<Seen<Observation>>;
  /** Takes the last act back; does nothing where it never happened. */
  undo?(action: Action, observation: Observation | undefined, call: ActCall): MaybePromise<void>;
  /** A shorter way to the same state, such as one address to open. */
  shorten?(actions: readonly Action[]): readonly Action[];
  /**
   * An action as it has to be done now: what it names may have moved since.
   *
   * @param before - What was to be seen when the action was chosen.
   */
  rebind?(action: Action, before: Observation): Action;
}
