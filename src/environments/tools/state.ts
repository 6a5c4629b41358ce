import type { JsonValue } from '../../contracts/json.ts';
import type { Message } from '../../contracts/language-model.ts';
import { addressOf, type MadeCall } from './plan.ts';
import type { DeclaredName, ListedCall, Tool } from './tool.ts';

/**
 * An action: a call of a tool, told apart by `tool`. `answer` ends the task, and `invalid` is a call that no tool can
 * take, whose observation is the problem.
 */
export type ToolAction<Tools, Answer = string> =
  | ListedCall<Tools>
  | {
      [Name in DeclaredName<Tools> | 'answer' | 'invalid']: {
        /** The tool. */
        readonly tool: Name;
        /** What it is given. */
        readonly input: Name extends 'answer'
          ? Answer
          : Name extends 'invalid'
            ? {
                /** The tool that was called. */
                readonly tool: string;
                /** What it was given; `null` where that is too much to keep. */
                readonly input: JsonValue;
                /** Why it cannot be called. */
                readonly problem: string;
              }
            : Tools[Name & keyof Tools] extends Tool<infer Input>
              ? Input
              : never;
        /** The further calls of the same turn, in order. */
        readonly also?: readonly {
          /** The tool. */
          readonly tool: string;
          /** What it is given. */
          readonly input: JsonValue;
        }[];
      };
    }[DeclaredName<Tools> | 'answer' | 'invalid'];

/** A call of whatever tool. */
export interface AnyCall {
  /** The tool. */
  readonly tool: string;
  /** What it is given. */
  readonly input: JsonValue;
}

/** A call that no tool can take. */
export interface InvalidCall extends AnyCall {
  /** Why not. */
  readonly problem: string;
}

/** What a task with tools has come to. Plain JSON. */
export interface ToolState<Data = JsonValue, Answer = JsonValue> {
  /** What pure tools work on; `null` where a workspace holds it. */
  readonly data: Data;
  /** The conversation behind the task: the calls, and what came of them. */
  readonly turns: readonly Message[];
  /** What was called, in order. */
  readonly calls: readonly MadeCall[];
  /** Tells the start apart: the environment, its task, and the data or the original of the workspaces. */
  readonly origin: string;
  /** The answer, once it is given. */
  readonly answer?: Answer;
  /**
   * Why nothing can follow: an answer was given, nothing is left to do, the task has failed, or what was to be read is
   * known only after planned calls were carried out.
   *
   * @defaultValue something can
   */
  readonly ended?: 'answered' | 'done' | 'failed' | 'pending';
}

/** What tells states of tools apart. */
export interface Telling {
  /** The calls that have made the world outside, or a workspace, stand as it does. */
  changes(calls: readonly MadeCall[]): readonly MadeCall[];
  /** What tells how the world stands, as far as it was changed: equal texts are equal worlds. */
  version(state: Pick<ToolState, 'calls' | 'data'>): string;
  /** What tells the state apart: how the world stands, what is planned, and what is known. */
  key(state: ToolState): string;
}

/** @param isLive - Whether a workspace holds what pure tools change. */
export function telling(isLive: boolean): Telling {
  const isChange = ({ fate, effect }: MadeCall) =>
    fate === 'planned' ||
    (fate === 'ran' && (effect === 'reversible' || (isLive && effect === 'pure')));
  const changes = (calls: readonly MadeCall[]) => calls.filter(isChange);
  const world = ({ data, calls }: Pick<ToolState, 'calls' | 'data'>): JsonValue => {
    const made = changes(calls).map(({ tool, input, fate, seen = null, fingerprint = null }) => ({
      ...{ call: { tool, input, seen }, fate, fingerprint },
    }));
    const last = made.findLastIndex(({ fate }) => fate === 'ran');
    const stand = made[last]?.fingerprint ?? null;
    // How a workspace stands says all that was done in it; what is planned stands nowhere else.
    const chain = made.filter(({ fate }) => stand === null || fate === 'planned');
    return { data, stand, chain: chain.map(({ call }) => call) };
  };
  return {
    changes,
    version: (state) => addressOf(world(state)),
    key(state) {
      const known = state.calls.map(({ tool, input, fate, seen = null }) =>
        addressOf({ tool, input, fate, seen }),
      );
      const { answer = null, ended = null } = state;
      return addressOf({ world: world(state), known: [...new Set(known)].sort(), answer, ended });
    },
  };
}
