import { expectJson } from '../../base/canonical-json.ts';
import { EspalierError } from '../../base/errors.ts';
import {
  expectation,
  expectFunction,
  expectInteger,
  expectOneOf,
  expectText,
} from '../../base/expect.ts';
import { expectMessages } from '../../base/expect-messages.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { StandardSchema } from '../../base/standard-schema.ts';
import type { Journal } from '../../calls/journal.ts';
import type {
  Environment,
  Notation,
  StepContext,
  Transition,
} from '../../contracts/environment.ts';
import type { JsonValue, MaybePromise } from '../../contracts/json.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { Workspace } from '../../contracts/world.ts';
import { inData, inWorkspaces } from './grounds.ts';
import {
  type AnyAction,
  callsOf,
  namedApart,
  type ToolNotation,
  toolNotation,
} from './notation.ts';
import { type ToolAction, type ToolState, telling } from './state.ts';
import { doneAt, type Progress, take, type Workshop } from './taking.ts';
import { makeTool, type Tool, type ToolSpec } from './tool.ts';
import { toolbox } from './toolbox.ts';

/** A task with tools. */
export interface ToolOptions<Db, Tools, Answer = string> {
  /** What the environment is called in trees and journals. */
  readonly name: string;
  /** What is to be done: what the user says, or the beginning of the conversation. */
  readonly task: string | readonly Message[];
  /** Declares the tools, each by a call of `tool`. None is named `answer` or `invalid`. */
  readonly tools: (
    tool: <Input, Parsed>(spec: ToolSpec<Db, Input, Parsed>) => Tool<Input>,
  ) => Tools;
  /** The form of an answer, which ends the task. @defaultValue a text */
  readonly answer?: StandardSchema<any, Answer>;
  /**
   * Whether nothing is left to do, as far as the state tells: a number from 0 to 1 is the reward of the end, and 0 is
   * none. Asked at the start and whenever the state changes.
   *
   * @defaultValue never: a branch ends with an answer
   */
  readonly done?: (db: Db) => MaybePromise<boolean | number>;
  /** Whether a call may be made. A text says why not, and the model sees it. @defaultValue each may */
  readonly permit?: (call: ToolAction<Tools, Answer>, db: Db) => boolean | string;
  /**
   * What becomes of a call that throws, is late, or cannot be made: the model is told, or the child fails.
   *
   * @defaultValue `'tell'`
   */
  readonly onError?: 'tell' | 'fail';
  /** How many workspaces there may be at a time: an integer from 1 up. @defaultValue 1 */
  readonly instances?: number;
  /** Where tools with an `undo` write down what they do before they do it. They need one. */
  readonly journal?: Journal;
}

/** A task with tools as an environment. */
export interface ToolEnvironment<Data, Action, Answer = string>
  extends Environment<ToolState<Data, Answer>, Action> {
  /** Equal where the same was done to the world, the same is planned, and the same is known. */
  key(state: ToolState<Data, Answer>): string;
  /** The answer, where one was given. */
  answer(state: ToolState<Data, Answer>): JsonValue | undefined;
  /** A conversation of calls and of what came of them. */
  readonly notation: Notation<ToolState<Data, Answer>, Action>;
  /** Not there: the states are JSON themselves. */
  readonly codec?: never;
  /** Closes the workspaces. They are opened again when they are needed. */
  close(): Promise<void>;
  /** Does the same. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A task with tools that work in workspaces: each branch works in one that stands as its calls have made it.
 *
 * @param create - Opens a workspace.
 */
export function toolEnvironment<
  Place extends Workspace,
  Tools extends Readonly<Record<string, Tool>>,
  Answer = string,
>(
  create: () => MaybePromise<Place>,
  options: ToolOptions<NoInfer<Place>, Tools, Answer>,
): ToolEnvironment<null, ToolAction<Tools, Answer>, Answer>;

/**
 * A task with tools that work on data.
 *
 * A branch of a search changes nothing for good. What is `pure` returns another state; what is `irreversible` is
 * planned and predicted, and never run.
 *
 * @param state - The data at the start: JSON.
 * @throws EspalierError `usage` where an option or a tool cannot be.
 * @example
 * ```ts
 * const counter = toolEnvironment({ n: 0 }, {
 *   name: 'counter',
 *   task: 'Count to 3.',
 *   tools: (tool) => ({
 *     add: tool({
 *       input: z.object({ by: z.number() }), effect: 'pure',
 *       run: ({ n }, { by }) => ({ state: { n: n + by }, output: n + by }),
 *     }),
 *   }),
 *   done: ({ n }) => n === 3,
 * });
 * ```
 */
export function toolEnvironment<Db, Tools extends Readonly<Record<string, Tool>>, Answer = string>(
  state: Db,
  options: ToolOptions<NoInfer<Db>, Tools, Answer>,
): ToolEnvironment<Db, ToolAction<Tools, Answer>, Answer>;

export function toolEnvironment(
  start: unknown,
  options: ToolOptions<any, Readonly<Record<string, Tool>>, any>,
): ToolEnvironment<any, any, any> {
  expectToolOptions(options);
  const { name, task, tools, answer, done, permit, onError = 'tell', instances = 1 } = options;
  const create = typeof start === 'function' ? (start as () => MaybePromise<Workspace>) : undefined;
  const data = create === undefined ? structuredClone(expectJson('state', start)) : null;
  const box = toolbox(tools(makeTool), answer);
  const distinct = telling(create !== undefined);
  const live =
    create === undefined ? undefined : inWorkspaces(box.tools, distinct, { create, instances });
  const ground = live?.ground ?? inData;
  const shop: Workshop = {
    ...{ name, box, telling: distinct, done, onError, inside: ground, outside: ground },
    permit: permit as Workshop['permit'],
  };
  expectUndo(shop);
  const notation = toolNotation(box, task);
  const close = async (): Promise<void> => live?.pool.close();
  return {
    name,
    async reset(context) {
      const state: ToolState = { data, turns: [], calls: [] };
      const reward = await doneAt(shop, { at: state, context });
      return transitionTo({ ...state, done: reward }, state.turns);
    },
    step: (state: ToolState, action: AnyAction, context) =>
      stepWith(shop, notation, { state, action, context }),
    key: distinct.key,
    answer: (state: ToolState) => state.answer,
    notation,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Makes the calls of a turn, one after the other. */
async function stepWith(
  shop: Workshop,
  notation: ToolNotation,
  taken: {
    readonly state: ToolState;
    readonly action: AnyAction;
    readonly context: StepContext;
  },
): Promise<Transition<ToolState>> {
  const { state, action, context } = taken;
  if (state.ended !== undefined) {
    throw new EspalierError('usage', 'Expected no call behind the end, got one.', {
      scope: 'item',
    });
  }
  const calls = callsOf(action);
  const turn = namedApart(notation.turn(action, context.completion), state.turns);
  const turns = [...state.turns, turn];
  let at: Progress = { data: state.data, calls: state.calls };
  for (const [place, call] of calls.entries()) {
    let content = 'Not called: the task has ended.';
    if (at.ended === undefined) {
      const conversation = [...notation.prompt(state), ...turns.slice(state.turns.length)];
      const { observation, ...then } = await take(shop, call, { at, conversation, context });
      at = then;
      content = observation;
    }
    const { id = '' } = turn.toolCalls?.[place] ?? {};
    turns.push({ role: 'tool', content, toolCallId: id });
  }
  return transitionTo(at, turns);
}

function transitionTo(
  { done = 0, ended: told, ...made }: Progress,
  turns: readonly Message[],
): Transition<ToolState> {
  const ended = told !== 'answered' && done > 0 ? 'done' : told;
  return {
    state: { ...made, turns, ...(ended !== undefined && { ended }) },
    ...(ended !== undefined && { terminal: true }),
    ...(done > 0 && { reward: done }),
    ...(ended === 'answered' && { answer: true }),
  };
}

const known = 'name task tools answer done permit onError instances journal';

function expectToolOptions(options: ToolOptions<any, any, any>): void {
  expectOptions('toolEnvironment', options, known);
  const { name, task, tools, done, permit, onError = 'tell', instances = 1 } = options;
  expectText('name', name);
  if (typeof task !== 'string') expectMessages(task);
  expectFunction('tools', tools);
  if (done !== undefined) expectFunction('done', done);
  if (permit !== undefined) expectFunction('permit', permit);
  expectOneOf('onError', onError, ['tell', 'fail']);
  expectInteger('instances', instances, { min: 1 });
}

/** What is reversible has to be taken back by somebody. */
function expectUndo({ box, outside }: Workshop): void {
  for (const { name, effect, undo } of box.tools.values()) {
    if (effect !== 'reversible' || outside.isLive || undo !== undefined) continue;
    throw expectation(
      `tools.${name}`,
      'declared with an `undo`, since there is no workspace that could be brought back',
      undo,
    );
  }
}
