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
        /** Its input. */
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
          /** Its input. */
          readonly input: JsonValue;
        }[];
      };
    }[DeclaredName<Tools> | 'answer' | 'invalid'];

/** A call of any tool. */
export interface AnyCall {
  /** The tool. */
  readonly tool: string;
  /** Its input. */
  readonly input: JsonValue;
}

/** A call that no tool accepts. */
export interface InvalidCall extends AnyCall {
  /** Why. */
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

/** How states with tools are compared. */
export interface Telling {
  /** The calls that determine the state of the outside world or of a workspace. */
  changes(calls: readonly MadeCall[]): readonly MadeCall[];
  /** Identifies the state of the world as far as it was changed: equal texts are equal worlds. */
  version(state: Pick<ToolState, 'calls' | 'data'>): string;
  /** Identifies the state: the state of the world, the plan, and the observations. */
  key(state: ToolState): string;
}

/** @param isLive - Whether pure tools change a workspace. */
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
    // The fingerprint of a workspace covers everything done in it; planned calls are recorded nowhere else.
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
