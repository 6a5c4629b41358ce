import { expectJson } from '../../base/canonical-json.ts';
import { systemClock } from '../../base/clock.ts';
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
import { frozen } from '../../base/frozen.ts';
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
import type { SearchNode } from '../../contracts/node.ts';
import type { Workspace } from '../../contracts/world.ts';
import type { SearchTree } from '../../tree/tree.ts';
import { removeLeftovers } from '../worlds/leftovers.ts';
import type { Recovery } from '../worlds/live.ts';
import { commitPath, recoverDeeds } from './commit.ts';
import type { Committing } from './commit-path.ts';
import { inData, inOutside, inWorkspaces } from './grounds.ts';
import {
  type AnyAction,
  callsOf,
  namedApart,
  type ToolNotation,
  toolNotation,
} from './notation.ts';
import { Outside } from './outside.ts';
import { addressOf, type CommitOptions, type Committed } from './plan.ts';
import { type ToolAction, type ToolState, telling } from './state.ts';
import { type Progress, refusal, startOf, take, type Workshop } from './taking.ts';
import { type DeclaredName, type ListedCall, makeTool, type Tool, type ToolSpec } from './tool.ts';
import { type Toolbox, toolbox } from './toolbox.ts';

/** A task with tools. */
export interface ToolOptions<Db = any, Tools = any, Answer = any> {
  /** What the environment is called in trees and journals. */
  readonly name: string;
  /** What is to be done: what the user says, or the beginning of the conversation. */
  readonly task: string | readonly Message[];
  /** Declares the tools, each by a call of `tool`. None is named `answer` or `invalid`. */
  readonly tools: (
    tool: <Input, Parsed>(spec: ToolSpec<Db, Input, Parsed>) => Tool<Input, Parsed>,
  ) => Tools;
  /** The form of an answer, which ends the task. @defaultValue a text */
  readonly answer?: StandardSchema<unknown, Answer>;
  /**
   * Whether nothing is left to do, as far as the state tells: a number from 0 to 1 is the reward of the end, and 0 is
   * none. `'failed'` ends the branch too, with the reward 0: it was given up, or can come to nothing any more. Asked at
   * the start, and whenever the state changes with what came out of the call that changed it. What it leaves in a
   * workspace is thrown away, where that has a `fingerprint`.
   *
   * @defaultValue never: a branch ends with an answer
   */
  readonly done?: (db: Db, output?: JsonValue) => MaybePromise<boolean | number | 'failed'>;
  /**
   * Whether a call may be made, with its input as its schema has read it; what it changes there, the tool is not given. A
   * text says why not, and the model sees it.
   *
   * @defaultValue each may
   */
  readonly permit?: (
    call:
      | Omit<ListedCall<Tools>, 'also'>
      | {
          [Name in DeclaredName<Tools>]: {
            /** The tool. */
            readonly tool: Name;
            /** What it is given. */
            readonly input: Tools[Name & keyof Tools] extends Tool<unknown, infer Parsed>
              ? Parsed
              : never;
          };
        }[DeclaredName<Tools>],
    db: Db,
  ) => boolean | string;
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

/** The states of an environment. */
export type StateOf<Of> = Of extends {
  /** Takes a step. */
  step(state: infer State, action: never, context: never): unknown;
}
  ? State
  : never;

/** The actions of an environment. */
export type ActionOf<Of> = Of extends {
  /** Takes a step. */
  step(state: never, action: infer Action, context: never): unknown;
}
  ? Action
  : never;

/** A task with tools as an environment. */
export interface ToolEnvironment<Data = any, Action = any, Answer = any>
  extends Environment<ToolState<Data, Answer>, Action> {
  /** Equal where the same was done to the world, the same is planned, and the same is known. */
  key(state: ToolState<Data, Answer>): string;
  /** The answer, where one was given. */
  answer(state: ToolState<Data, Answer>): JsonValue | undefined;
  /** A conversation of calls and of what came of them. */
  readonly notation: Notation<ToolState<Data, Answer>, Action>;
  /** Not there: the states are JSON themselves. */
  readonly codec?: never;
  /**
   * Carries out what is planned on the path to a node, or to the best of a tree, in its order: all that is done for good
   * is done here, and nowhere else. A tree whose best path ended as failed is refused, and its node is not. It stops at
   * the first call that does not go as it should, and tells what is done.
   *
   * @throws EspalierError `usage`, `locked`, `storage` or `invalid-journal`, before anything is done.
   */
  commit(
    what: SearchTree<ToolState<Data, Answer>, Action> | SearchNode<ToolState<Data, Answer>, Action>,
    options: CommitOptions<Data, Action>,
  ): Promise<Committed<Action>>;
  /**
   * Takes back what a killed process has left: what a journal tells of the changes of branches, and of what a commit has
   * begun; and, where tools work in workspaces, its folders and processes. The first call of a search and a commit do so
   * by themselves.
   *
   * @param journal - Where it was written down. Left out: that of the environment; without one, no deed is known.
   */
  recover(journal?: Journal): Promise<Recovery>;
  /** Closes what is open: workspaces, and the journal of deeds. They are opened again when they are needed. */
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
 * @param state - The data at the start: JSON. Tools, `done` and `permit` are given states that cannot be changed: a change
 * throws a TypeError.
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

export function toolEnvironment(start: unknown, options: ToolOptions): ToolEnvironment {
  expectToolOptions(options);
  const { name, task, tools, answer, done, permit, onError = 'tell', instances = 1 } = options;
  const create = typeof start === 'function' ? (start as () => MaybePromise<Workspace>) : undefined;
  const data = create === undefined ? frozen(expectJson('state', start)) : null;
  const box = toolbox(tools(makeTool), answer);
  const distinct = telling(create !== undefined);
  const workspace =
    create === undefined ? undefined : inWorkspaces(box.tools, distinct, { create, instances });
  const outside = workspace === undefined ? outsideOf(options, box) : undefined;
  const inside = workspace?.ground ?? inData;
  const shop: Workshop = {
    ...{ name, box, telling: distinct, done, onError, inside },
    outside: outside === undefined ? inside : inOutside(outside),
    permit: permit as Workshop['permit'],
  };
  const originOf = (original: JsonValue) => addressOf([name, task as JsonValue, data, original]);
  const parts: Committing = {
    ...{ originOf, environment: name, tools: box.tools, outside, workspace: workspace?.lending },
    permit: (call, db) => refusal(shop, call, db) ?? true,
  };
  const notation = toolNotation(box, task);
  const close = async (): Promise<void> => {
    await workspace?.lending.close();
    await outside?.close();
  };
  return {
    name,
    async reset(context) {
      const at = { data, calls: [], origin: '' };
      const { original, done: told } = await startOf(shop, { at, context });
      return transitionTo({ ...at, origin: originOf(original), done: told }, []);
    },
    step: (state: ToolState, action: AnyAction, context) =>
      stepWith(shop, notation, { state, action, context }),
    key: distinct.key,
    answer: (state: ToolState) => state.answer,
    notation,
    commit: (what, how) => commitPath(parts, what, how),
    async recover(journal = options.journal) {
      const call = { signal: new AbortController().signal, clock: systemClock, id: '' };
      const none: Recovery = { undone: 0, failed: [] };
      const deeds = journal === undefined ? none : await recoverDeeds(parts, journal, call);
      // What was half published may be needed for taking it back: folders go last.
      const left = create === undefined ? none : await removeLeftovers();
      return { undone: deeds.undone + left.undone, failed: [...deeds.failed, ...left.failed] };
    },
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
    throw new EspalierError('usage', 'Expected no call after the end, got one.', {
      scope: 'item',
    });
  }
  const calls = callsOf(action);
  const turn = namedApart(notation.turn(action, context.completion), state.turns);
  const turns = [...state.turns, turn];
  const { data, calls: made, origin } = state;
  let at: Progress = { data, calls: made, origin };
  for (const [place, call] of calls.entries()) {
    let content = 'Not called: the task has ended.';
    if (at.ended === undefined && (at.done ?? 0) === 0) {
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
  const reward = done === 'failed' ? 0 : done || undefined;
  const end = reward === 0 ? 'failed' : 'done';
  const ended = told === 'answered' || reward === undefined ? told : end;
  return {
    state: { ...made, turns, ...(ended !== undefined && { ended }) },
    ...(ended !== undefined && { terminal: true }),
    ...(reward !== undefined && { reward }),
    ...(ended === 'answered' && { answer: true }),
  };
}

const known = 'name task tools answer done permit onError instances journal';

function expectToolOptions(options: ToolOptions): void {
  expectOptions('toolEnvironment', options, known);
  const { name, task, tools, done, permit, onError = 'tell', instances = 1 } = options;
  expectText('name', name);
  if (typeof task !== 'string') {
    if (!Array.isArray(task)) throw expectation('task', 'a text, or an array of messages', task);
    expectMessages(task, 'task');
  }
  expectFunction('tools', tools);
  if (done !== undefined) expectFunction('done', done);
  if (permit !== undefined) expectFunction('permit', permit);
  expectOneOf('onError', onError, ['tell', 'fail']);
  expectInteger('instances', instances, { min: 1 });
}

/** The world outside, where there are tools that change it: what they do has to be taken back by somebody. */
function outsideOf({ name, journal }: ToolOptions, { tools }: Toolbox): Outside | undefined {
  const changing = [...tools.values()].filter(({ effect }) => effect === 'reversible');
  if (changing.length === 0) return undefined;
  const lacking = changing.find(({ undo }) => undo === undefined);
  if (lacking !== undefined) {
    const wanted =
      'declared with an `undo`, since there is no workspace that could be brought back';
    throw expectation(`tools.${lacking.name}`, wanted, lacking.undo);
  }
  if (journal === undefined) {
    const wanted = 'given, since tools with an `undo` write down what they do';
    throw expectation('journal', wanted, journal);
  }
  return new Outside({ environment: name, tools, journal });
}
