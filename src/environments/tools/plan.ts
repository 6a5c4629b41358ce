import { canonicalJson, contentAddress } from '../../base/canonical-json.ts';
import type { Journal } from '../../calls/journal.ts';
import type { Clock } from '../../contracts/clock.ts';
import type { JsonValue, MaybePromise } from '../../contracts/json.ts';
import type { Effect } from './tool.ts';

/** A call of a tool on the path to a state. */
export interface MadeCall<Name = string, Input = JsonValue> {
  /** The tool. */
  readonly tool: Name;
  /** What it was given. */
  readonly input: Input;
  /** What it does to the world. */
  readonly effect: Effect;
  /**
   * What became of it: a `planned` one is run by a commit alone, a `refused` one was not permitted, and a `failed` one
   * threw, or took too long.
   */
  readonly fate: 'ran' | 'planned' | 'refused' | 'failed';
  /** The content address of what came out, or was predicted; absent where nobody knows. */
  readonly seen?: string | undefined;
  /** What tells how a workspace stood afterwards. */
  readonly fingerprint?: string | undefined;
}

/** A call that is to be permitted, its input as its schema has read it. */
export interface Wanted {
  readonly tool: string;
  readonly input: unknown;
}

/**
 * The calls that a commit makes, of the actions of an environment: those of tools, and `.publish`, which makes stay what was
 * done in a workspace.
 */
export type CommitCall<Action = any> = MadeCall<'.publish'> | CallOfTool<Action>;

/** The calls of tools among the actions of an environment. */
export type CallOfTool<Action = any> = Action extends {
  /** The tool. */
  readonly tool: infer Name extends string;
  /** What it is given. */
  readonly input: unknown;
}
  ? Name extends 'answer' | 'invalid'
    ? never
    : MadeCall<Name, Action['input']>
  : never;

/** How a path is carried out. */
export interface CommitOptions<Data = any, Action = any> {
  /**
   * Where each deed is written down before it is done. With the journal of an earlier commit of the same path from the
   * same start, what was done then is not done again; another path needs a journal of its own.
   */
  readonly journal: Journal;
  /**
   * Sees what is about to happen; `false` leaves all as it is. Needed where a call cannot be taken back. What it, `onUnknown`
   * and `onDrift` are given is frozen.
   */
  readonly approve?: (plan: CommitPlan<Data, Action>) => MaybePromise<boolean>;
  /**
   * What becomes of a call that cannot be taken back and may have happened: its process died, it threw, or it took too
   * long. `done` goes on behind it, `run` runs it again under the same `id`.
   *
   * @defaultValue `'stop'`
   */
  readonly onUnknown?: (
    call: CallOfTool<Action> & {
      /** What its run was given as `call.id`. */
      readonly id: string;
    },
  ) => MaybePromise<'done' | 'run' | 'stop'>;
  /**
   * What becomes of the calls behind one of which something else came out than was predicted, or seen in the search:
   * `go on` makes them all the same.
   *
   * @defaultValue stops, since the path was built on what a rule predicted; goes on where a model did, whose words are a
   * guess and hardly ever those that come
   */
  readonly onDrift?: (
    call: CallOfTool<Action>,
    output: JsonValue,
  ) => MaybePromise<'go on' | 'stop'>;
  /** Ends it before the next deed, also while it waits for its turn in the journal, or for somebody's answer. */
  readonly signal?: AbortSignal;
  /** The time. @defaultValue the real one */
  readonly clock?: Clock;
}

/** What a commit is about to do. */
export interface CommitPlan<Data = any, Action = any> {
  /** The calls that are still to be made, in order. */
  readonly calls: readonly CommitCall<Action>[];
  /** The data at the start of the path. */
  readonly before: Data;
  /** The data at its end, as it was predicted. */
  readonly after: Data;
  /** How the path ended in the search, as its state says. @defaultValue it can go on */
  readonly ended?: 'answered' | 'done' | 'failed' | 'pending';
  /** The reward at its end. @defaultValue there was none */
  readonly reward?: number;
  /** The backed-up value of its node, Q(s, a): in [0, 1], and 0 before the first visit. */
  readonly value: number;
  /** Of a workspace: what it is about to publish. */
  readonly changes?: JsonValue;
  /**
   * The same for people, where the workspace can tell: a diff. Of a long one the head and the tail, and control characters
   * as their codes.
   */
  readonly diff?: string;
}

/** What a commit came to. */
export interface Committed<Action = any> {
  /**
   * - `committed`: all is done; also where nothing on the path acts outside, as `message` says then.
   * - `refused`: the best path of the tree ended as failed, it was not approved, or a call is not permitted any more; also
   *   where `approve` or `permit` throws, or it was aborted before anything was done. Nothing was done.
   * - `stale`: the path goes another way by now, or what it would publish has changed. Nothing was done.
   * - `failed`: a call that can be taken back failed, and was taken back; or something else kept it from going on, such
   *   as its `signal`. What is in `done` stays.
   * - `unknown`: a call that cannot be taken back may have happened, or not.
   * - `drifted`: a call was made, and something else came out than was predicted, before the last one.
   */
  readonly status: 'committed' | 'refused' | 'stale' | 'failed' | 'unknown' | 'drifted';
  /** What is done, by an earlier commit too, with what came out. */
  readonly done: readonly (CommitCall<Action> & {
    /** What came out. */
    readonly output: JsonValue;
  })[];
  /** What is not done, or not known to be: with `unknown`, the first of them. */
  readonly notDone: readonly CommitCall<Action>[];
  /** Why it is not committed, or that there was nothing to do: one sentence for a person. */
  readonly message?: string;
}

/** What tells something apart: an output, a state, or a call. */
export function addressOf(told: JsonValue): string {
  return contentAddress(canonicalJson('state', told, 'item'));
}

/** A call with what tells it, and all calls before it that change something, apart. */
export interface ChainedCall {
  readonly call: MadeCall;
  readonly key: string;
}

/** The key of a call behind another. */
export function nextKey(before: string, tool: string, input: JsonValue): string {
  return addressOf([before, tool, input]);
}

/**
 * Calls with their keys: equal keys are equal calls behind equal calls, from one start. What reads changes nothing, and
 * has the key of the call before it; what was refused or failed is left out.
 */
export function chained(origin: string, calls: readonly MadeCall[]): readonly ChainedCall[] {
  let key = origin;
  return calls
    .filter(({ fate }) => fate === 'ran' || fate === 'planned')
    .map((call) => {
      if (call.effect !== 'read') key = nextKey(key, call.tool, call.input);
      return { call, key };
    });
}
