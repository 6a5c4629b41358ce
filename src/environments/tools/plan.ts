import { canonicalJson, contentAddress } from '../../base/canonical-json.ts';
import type { Journal } from '../../calls/journal.ts';
import type { Clock } from '../../contracts/clock.ts';
import type { JsonValue, MaybePromise } from '../../contracts/json.ts';
import type { Effect } from './tool.ts';

/** A call of a tool on the path to a state. */
export interface MadeCall<Name = string, Input = JsonValue> {
  /** The tool. */
  readonly tool: Name;
  /** Its input. */
  readonly input: Input;
  /** What it does to the world. */
  readonly effect: Effect;
  /**
   * Its outcome: a `planned` call is run only by a commit, a `refused` one was not permitted, and a `failed` one threw
   * or timed out.
   */
  readonly fate: 'ran' | 'planned' | 'refused' | 'failed';
  /** The content address of its actual or predicted output; absent if unknown. */
  readonly seen?: string | undefined;
  /** The fingerprint of the workspace afterwards. */
  readonly fingerprint?: string | undefined;
}

/** A call to be permitted, with its parsed input. */
export interface Wanted {
  readonly tool: string;
  readonly input: unknown;
}

/**
 * The calls that a commit makes for the actions of an environment: those of tools, and `.publish`, which applies the
 * changes made in a workspace.
 */
export type CommitCall<Action = any> = MadeCall<'.publish'> | CallOfTool<Action>;

/** The calls of tools among the actions of an environment. */
export type CallOfTool<Action = any> = Action extends {
  /** The tool. */
  readonly tool: infer Name extends string;
  /** Its input. */
  readonly input: unknown;
}
  ? Name extends 'answer' | 'invalid'
    ? never
    : MadeCall<Name, Action['input']>
  : never;

/** Options of a commit. */
export interface CommitOptions<Data = any, Action = any> {
  /**
   * Records each call before it is made. With the journal of an earlier commit of the same path from the same start,
   * completed calls are not repeated; a different path needs a separate journal.
   */
  readonly journal: Journal;
  /**
   * Reviews the plan; `false` cancels the commit. Required if a call cannot be undone. The arguments of `approve`,
   * `onUnknown` and `onDrift` are frozen.
   */
  readonly approve?: (plan: CommitPlan<Data, Action>) => MaybePromise<boolean>;
  /**
   * What to do about a call that cannot be undone and may have happened, because its process died, it threw or it timed
   * out. `done` continues after it, `run` runs it again with the same `id`.
   *
   * @defaultValue `'stop'`
   */
  readonly onUnknown?: (
    call: CallOfTool<Action> & {
      /** The `call.id` of its run. */
      readonly id: string;
    },
  ) => MaybePromise<'done' | 'run' | 'stop'>;
  /**
   * What to do when the output of a call differs from the prediction, or from the search: `go on` makes the remaining
   * calls anyway.
   *
   * @defaultValue stops after a prediction by a rule, since the path was built on it; continues after a prediction by a
   * model, which is a guess whose wording rarely matches
   */
  readonly onDrift?: (
    call: CallOfTool<Action>,
    output: JsonValue,
  ) => MaybePromise<'go on' | 'stop'>;
  /** Ends the commit before the next call, also while it waits for the journal or for a callback. */
  readonly signal?: AbortSignal | undefined;
  /** The time. @defaultValue the real one */
  readonly clock?: Clock;
}

/** The plan of a commit. */
export interface CommitPlan<Data = any, Action = any> {
  /** The calls still to be made, in order. */
  readonly calls: readonly CommitCall<Action>[];
  /** The data at the start of the path. */
  readonly before: Data;
  /** The predicted data at its end. */
  readonly after: Data;
  /** How the path ended in the search. @defaultValue it can continue */
  readonly ended?: 'answered' | 'done' | 'failed' | 'pending';
  /** The reward at its end. @defaultValue none */
  readonly reward?: number;
  /** The backed-up value of its node, Q(s, a): in [0, 1], and 0 before the first visit. */
  readonly value: number;
  /** For a workspace: the changes to publish. */
  readonly changes?: JsonValue;
  /**
   * The changes as a diff for people, if the workspace provides one. Long diffs are cut in the middle, and control
   * characters are shown as codes.
   */
  readonly diff?: string;
}

/** The result of a commit. */
export interface Committed<Action = any> {
  /**
   * - `committed`: everything is done; also if nothing on the path acts outside, as `message` then says.
   * - `refused`: the best path of the tree had failed, the plan was not approved, or a call is no longer permitted;
   *   also if `approve` or `permit` throws, or on an abort before the first call. Nothing was done.
   * - `stale`: the path no longer has the same results, or the changes to publish are different. Nothing was done.
   * - `failed`: a reversible call failed, and was undone; or something else stopped the commit, such as its `signal`.
   *   Calls in `done` remain in effect.
   * - `unknown`: a call that cannot be undone may or may not have happened.
   * - `drifted`: the output of a call before the last one differed from the prediction.
   */
  readonly status: 'committed' | 'refused' | 'stale' | 'failed' | 'unknown' | 'drifted';
  /** The calls made, by earlier commits too, with their outputs. */
  readonly done: readonly (CommitCall<Action> & {
    /** The output. */
    readonly output: JsonValue;
  })[];
  /** The calls not made, or not known to be; with `unknown`, that call comes first. */
  readonly notDone: readonly CommitCall<Action>[];
  /** Why it is not committed, or that there was nothing to do, in one sentence. */
  readonly message?: string;
}

/** The content address of an output, a state or a call. */
export function addressOf(told: JsonValue): string {
  return contentAddress(canonicalJson('state', told, 'item'));
}

/** A call with a key that identifies it together with all preceding calls that change something. */
export interface ChainedCall {
  readonly call: MadeCall;
  readonly key: string;
}

/** The key of a call after another. */
export function nextKey(before: string, tool: string, input: JsonValue): string {
  return addressOf([before, tool, input]);
}

/**
 * Calls with their keys: equal keys mean equal calls after equal calls, from the same start. A read changes nothing,
 * and has the key of the call before it; refused and failed calls are left out.
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
