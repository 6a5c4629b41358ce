import type { Clock } from './clock.ts';
import type { JsonValue, MaybePromise } from './json.ts';

/** The context of one act in a world, or one run of a tool. */
export interface ActCall {
  /** Aborts at the time limit, and with the search. */
  readonly signal: AbortSignal;
  /** The time of the search. */
  readonly clock: Clock;
  /**
   * The id of this run, the same in its undo and after a crash: use it as an idempotency key, so that what it created
   * can be found again.
   */
  readonly id: string;
}

/** The result of an act. */
export interface Seen<Observation> {
  /** The observation. */
  readonly observation: Observation;
  /** r(s, a). */
  readonly reward?: number;
  /** c(s, a) ≥ 0. @defaultValue 1 */
  readonly cost?: number;
  /** Whether the episode has ended. */
  readonly terminal?: boolean;
}

/**
 * A live resource that a search works in and restores: a folder, a repository, a database. It is restored by `fork`, by
 * `snapshot` and `restore`, or by `reset` and replay, whichever it supports. Without any of these, it is never
 * restored.
 */
export interface Workspace {
  /** Resets it to its start. */
  reset?(call: ActCall): unknown;
  /** Saves the current state. The snapshot need not outlive the process. */
  snapshot?(): MaybePromise<JsonValue>;
  /** Restores a snapshot. */
  restore?(snapshot: JsonValue): MaybePromise<void>;
  /** Discards a snapshot. */
  forget?(snapshot: JsonValue): MaybePromise<void>;
  /** An independent copy of the current state. */
  fork?(): MaybePromise<this>;
  /** Identifies the current state: equal texts are equal states. */
  fingerprint?(): MaybePromise<string>;
  /**
   * Identifies the original and its version: a commit treats changes published by another one as done only if both
   * started from the same original.
   *
   * @defaultValue a single original, to which changes are published once
   */
  original?(): MaybePromise<string>;
  /**
   * The changes from the original to this copy, such as the commits before and after; recorded before anything is
   * published. `undefined` if there are none: then nothing is published. Throws if they cannot be determined.
   */
  changes?(): MaybePromise<JsonValue | undefined>;
  /** The changes as text for review, such as a diff. */
  diff?(changes: JsonValue): MaybePromise<string>;
  /**
   * Applies the changes to the original. Called only by a commit.
   *
   * @throws EspalierError `stale` if the original has changed meanwhile.
   */
  publish?(changes: JsonValue, call: ActCall): MaybePromise<void>;
  /** Undoes an interrupted publish; does nothing if it never started. */
  unpublish?(changes: JsonValue, call: ActCall): MaybePromise<void>;
  /** Releases it. */
  close?(): MaybePromise<void>;
}

/** A live environment that changes with every act: a browser, a shell, a game in another process. */
export interface World<Action = any, Observation = any> extends Workspace {
  /** Resets it to its start. */
  reset(call: ActCall): MaybePromise<Seen<Observation>>;
  /** Performs an action. An error fails only this step. */
  act(action: Action, call: ActCall): MaybePromise<Seen<Observation>>;
  /** Undoes the last act; does nothing if it never happened. */
  undo?(action: Action, observation: Observation | undefined, call: ActCall): MaybePromise<void>;
  /** A shorter way to the same state, such as one address to open. */
  shorten?(actions: readonly Action[]): readonly Action[];
  /**
   * The action adapted to the current observation, because the things that it refers to may have moved.
   *
   * @param before - The observation when the action was chosen.
   */
  rebind?(action: Action, before: Observation): Action;
}
