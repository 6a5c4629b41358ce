import type { JsonValue } from '../contracts/json.ts';
import type { CallSpend } from './call-spend.ts';

/** The version of the journal's lines. A journal of a later version is refused. */
export const journalVersion = 5;

/** One line of a journal. */
export type JournalLine =
  | {
      /** The first line. */
      readonly type: 'journal';
      /** The version of the format. */
      readonly version: number;
      /** The settings of the run: a journal belongs to one run. */
      readonly run: Readonly<Record<string, JsonValue>>;
    }
  | {
      /** The start of the run. */
      readonly type: 'start';
      /** The content address of the first state: a SHA-256 in base64url. */
      readonly state: string;
    }
  | {
      /**
       * The run was resumed here: earlier lines are repeated up to the call with this number, and calls that were in
       * flight are repeated.
       */
      readonly type: 'resume';
      /** The number of the next call. */
      readonly call: number;
      /**
       * The maximum cost of calls that were in flight when the previous process ended, as far as it is in no other
       * line.
       */
      readonly lost: CallSpend;
      /**
       * The amount charged to the budget for calls that the previous run had made and this one has not reached,
       * including their losses.
       */
      readonly charged: CallSpend;
      /** Whether all failed calls are repeated. */
      readonly retryFailed?: boolean | undefined;
      /** The line, from 1, at which the run diverged from the record. */
      readonly differsAt?: number | undefined;
      /** The search that was resumed: 0, or the number of times a result had been resumed in its process. */
      readonly search?: number | undefined;
    }
  | {
      /** The search had reached its end, and from here on repeats failed calls. */
      readonly type: 'retry';
      /** The number of the next call. */
      readonly call: number;
      /** Whether all of them are repeated, and not only those with a transient failure. */
      readonly all: boolean;
      /** The search that had reached its end, counted as in a `resume` line. */
      readonly search?: number | undefined;
    }
  | {
      /** A deadline ended the search here: after this number of simulations and results. */
      readonly type: 'deadline';
      /** The limit that was reached. */
      readonly ms: number;
      /** Simulations started by then, including those that were handed back and those of nested searches. */
      readonly simulations: number;
      /** Results that had taken effect by then, including failed attempts. */
      readonly results: number;
      /** The same without failed attempts, from version 5 on. */
      readonly outcomes?: number | undefined;
      /** The search that it ended, counted as in a `resume` line. */
      readonly search?: number | undefined;
    }
  | ({
      /** A stage of a deed: an effect of a tool on the outside world, recorded before it happens. */
      readonly type: 'deed';
      /** The number of the deed in its journal. */
      readonly deed: number;
    } & (
      | {
          /** It is about to be done. */
          readonly stage: 'begin';
          /** Who does it: a branch, which takes it back, or a commit. */
          readonly of: 'branch' | 'commit';
          /** The environment that the tool belongs to. */
          readonly environment: string;
          /** The tool. */
          readonly name: string;
          /** The content address of the deed and of all deeds before it on its path. */
          readonly key: string;
          /** The id of the run that is given to the tool. */
          readonly id: string;
          /** The input of the tool. */
          readonly input: JsonValue;
          /** The data of the state in which it is done. */
          readonly data?: JsonValue | undefined;
          /** What the tool needs for taking it back. */
          readonly remembered?: JsonValue | undefined;
        }
      | {
          /** It is done. */
          readonly stage: 'done';
          /** The output; absent if a person said that it is done. */
          readonly output?: JsonValue | undefined;
        }
      | {
          /** It was not done, or not taken back. */
          readonly stage: 'failed';
          /** Why. */
          readonly message: string;
        }
      | {
          /** It has been taken back. */
          readonly stage: 'undone';
        }
    ))
  | ({
      /** The number of the call in the order of issue. */
      readonly call: number;
      /** The content address of the call. */
      readonly key: string;
      /**
       * The number of the effect that requested the call, in the first line of such a call. A replay does not run the
       * effect, so it repeats the call by this number.
       */
      readonly inside?: number | undefined;
    } & (
      | {
          /** A call is about to start. */
          readonly type: 'intent';
          /** The kind of call: `generate`, `count`, `score`, `decide`, `embed`, `effect`, or another. */
          readonly kind: string;
          /** The model or the effect. */
          readonly name: string;
          /** The index of the first sample, and the number of samples. */
          readonly samples?: readonly [number, number] | undefined;
          /** Its worst case. */
          readonly reserved: CallSpend;
          /**
           * Whether the provider keeps its result, as in a batch, so that nothing is lost if the process dies. A
           * `grant` line says that it is sent on its own after all.
           */
          readonly kept?: boolean | undefined;
          /** The request. */
          readonly request: JsonValue;
        }
      | {
          /**
           * The budget allows another request of a call, or the only request of a call that was to wait in a batch. It
           * is about to be made.
           */
          readonly type: 'grant';
          /** The amount reserved. */
          readonly reserved: CallSpend;
        }
      | {
          /** A call paid for by an earlier run answers a call of this run. */
          readonly type: 'reuse';
        }
      | ({
          /** The charge of the call or the attempt. */
          readonly spend: CallSpend;
        } & (
          | {
              /** A call succeeded. */
              readonly type: 'result';
              /** The result. */
              readonly output: JsonValue;
            }
          | {
              /** An attempt failed, and is repeated if the budget allows; or a call needs a further request. */
              readonly type: 'attempt';
              /** Whether budget is requested for another request; a `grant` line follows if it is granted. */
              readonly asks?: boolean | undefined;
              /** In version 2: the amount reserved for a further request. */
              readonly reserved?: CallSpend | undefined;
              /** Why it failed, or why another request was needed. */
              readonly message: string;
            }
          | {
              /** A call failed. */
              readonly type: 'failure';
              /** Why it failed. */
              readonly message: string;
              /** Whether the process died in the middle of the call, so that its outcome is unknown. */
              readonly interrupted?: boolean | undefined;
              /** Whether it ended the search, because the model was unavailable. A resumed run repeats it. */
              readonly unavailable?: boolean | undefined;
              /** What the budget needed to hold for a call that the failed effect requested and that was refused. */
              readonly refused?: CallSpend | undefined;
              /** Whether the same request may succeed later: no connection, a busy server, too many requests. */
              readonly transient?: boolean | undefined;
              /**
               * Whether the search ended while the call was in flight. A run that continues beyond that end repeats it.
               */
              readonly abandoned?: boolean | undefined;
            }
        ))
    ));

/** The lines of one type. */
export type LineOf<Type extends JournalLine['type']> = Extract<
  JournalLine,
  { readonly type: Type }
>;
