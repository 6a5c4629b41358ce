import type { JsonValue } from '../../contracts/json.ts';
import type { Message } from '../../contracts/language-model.ts';
import { addressOf, type MadeCall } from './plan.ts';
import type { DeclaredName, ListedCall, Tool } from './tool.ts';

/**
 * An action: a tool call, discriminated by `tool`. `answer` ends the task; `invalid` is a call that no tool accepts,
 * whose observation is the problem.
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
                /** Its input; `null` if too large to keep. */
                readonly input: JsonValue;
                /** Why the call is invalid. */
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

/** A call that no tool accepts. */
export interface InvalidCall extends AnyCall {
  /** Why not. */
  readonly problem: string;
}

/** The state of a task with tools. Plain JSON. */
export interface ToolState<Data = JsonValue, Answer = JsonValue> {
  /** The data that pure tools work on; `null` with a workspace. */
  readonly data: Data;
  /** The conversation after the task: the calls and their results. */
  readonly turns: readonly Message[];
  /** The calls made, in order. */
  readonly calls: readonly MadeCall[];
  /** Identifies the start: the environment, its task, and the data or the original of the workspaces. */
  readonly origin: string;
  /** The answer, once given. */
  readonly answer?: Answer;
  /**
   * Why the state is terminal: an answer was given, nothing is left to do, the task failed, or a result is known only
   * after planned calls are carried out.
   *
   * @defaultValue not terminal
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
