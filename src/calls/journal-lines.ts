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
      /** What the run was asked to do: a journal belongs to one such run. */
      readonly run: Readonly<Record<string, JsonValue>>;
    }
  | {
      /** Where the run starts. */
      readonly type: 'start';
      /** The content address of the first state: a SHA-256 in base64url. */
      readonly state: string;
    }
  | {
      /**
       * From here on the run is a new one: what comes before is repeated up to the call with this number, and what was
       * under way is asked again.
       */
      readonly type: 'resume';
      /** The number of the call that comes next. */
      readonly call: number;
      /** What may have been paid for when the process before ended, and is in no other line. */
      readonly lost: CallSpend;
      /** What the budget is charged for calls that the run before had made and this one has not come to, their losses included. */
      readonly charged: CallSpend;
      /** Whether every call that failed is asked again. */
      readonly retryFailed?: boolean | undefined;
      /** The line, from 1, at which the run asked something else than what is written there. */
      readonly differsAt?: number | undefined;
      /** The search that was resumed: 0, or how often a result had been resumed in its process. */
      readonly search?: number | undefined;
    }
  | {
      /** The search had come to its end, and asks again from here on for calls that had failed. */
      readonly type: 'retry';
      /** The number of the call that comes next. */
      readonly call: number;
      /** Whether all of them are asked for again, and not only those that waiting may mend. */
      readonly all: boolean;
      /** The search that came to its end, counted as in a `resume` line. */
      readonly search?: number | undefined;
    }
  | {
      /** A deadline ended the search here: after this number of simulations and results. */
      readonly type: 'deadline';
      /** The limit that was met. */
      readonly ms: number;
      /** Simulations started by then, also those that were handed back, and those of searches within. */
      readonly simulations: number;
      /** Results that had taken effect by then, attempts that failed included. */
      readonly results: number;
      /** Results without those attempts, from version 5 on. */
      readonly outcomes?: number | undefined;
      /** The search that it ended, counted as in a `resume` line. */
      readonly search?: number | undefined;
    }
  | ({
      /** A step in the life of a deed: what a tool does outside of the search, written down before it is done. */
      readonly type: 'deed';
      /** The number of the deed in its journal. */
      readonly deed: number;
    } & (
      | {
          /** It is about to be done. */
          readonly stage: 'begin';
          /** Who does it: a branch, which takes it back, or a commit. */
          readonly of: 'branch' | 'commit';
          /** The environment whose tool it is. */
          readonly environment: string;
          /** The tool. */
          readonly name: string;
          /** The content address of the deed and of all deeds before it on its path. */
          readonly key: string;
          /** What the run is called towards the tool. */
          readonly id: string;
          /** What the tool is given. */
          readonly input: JsonValue;
          /** The data of the state in which it is done. */
          readonly data?: JsonValue | undefined;
          /** What the tool wants to remember for taking it back. */
          readonly remembered?: JsonValue | undefined;
        }
      | {
          /** It is done. */
          readonly stage: 'done';
          /** What came out; absent where it is a person who says that it is done. */
          readonly output?: JsonValue | undefined;
        }
      | {
          /** It was not done, or not taken back, as it should have been. */
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
    } & (
      | {
          /** A call is about to start. */
          readonly type: 'intent';
          /** What kind of call it is: `generate`, `count`, `score`, `decide`, `embed`, `effect`, or another. */
          readonly kind: string;
          /** The model or the effect. */
          readonly name: string;
          /** The index of the first sample and how many there are. */
          readonly samples?: readonly [number, number] | undefined;
          /** Its worst case. */
          readonly reserved: CallSpend;
          /**
           * Whether its model keeps what it comes to, as in a batch: where the process dies, nothing is lost. A `grant` line
           * says that it is bought by itself after all.
           */
          readonly kept?: boolean | undefined;
          /** What is asked. */
          readonly request: JsonValue;
        }
      | {
          /** The budget holds another request of a call, or the only one of a call that was to wait in a batch, which is about to be made. */
          readonly type: 'grant';
          /** What was set aside. */
          readonly reserved: CallSpend;
        }
      | {
          /** A call that an earlier run has paid for answers one of this run. */
          readonly type: 'reuse';
        }
      | ({
          /** What the call, or the attempt, was charged. */
          readonly spend: CallSpend;
        } & (
          | {
              /** A call succeeded. */
              readonly type: 'result';
              /** What came back. */
              readonly output: JsonValue;
            }
          | {
              /** An attempt failed, and is made again where the budget holds another; or a call takes a further request. */
              readonly type: 'attempt';
              /** Whether the budget is asked for what another request may cost; a `grant` line follows where it holds that. */
              readonly asks?: boolean | undefined;
              /** In version 2: what was set aside for a further request. */
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
              /** Whether it ended the search, because the model could not be reached. A resumed run asks again. */
              readonly unavailable?: boolean | undefined;
              /** Whether the same request may succeed later: no connection, a busy server, too many requests. */
              readonly transient?: boolean | undefined;
              /** Whether the search ended while the call was under way. A run that goes beyond that end asks again. */
              readonly abandoned?: boolean | undefined;
            }
        ))
    ));

/** The line of a type. */
export type LineOf<Type extends JournalLine['type']> = Extract<
  JournalLine,
  { readonly type: Type }
>;
