import { expectJson } from '../../base/canonical-json.ts';
import { systemClock } from '../../base/clock.ts';
import { EspalierError } from '../../base/errors.ts';
import {
  describeValue,
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
import { commitPath } from './commit.ts';
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
import { recoverDeeds } from './recover.ts';
import { type ToolAction, type ToolState, telling } from './state.ts';
import { type Progress, refusal, startOf, take, type Workshop } from './taking.ts';
import { type DeclaredName, type ListedCall, makeTool, type Tool, type ToolSpec } from './tool.ts';
import { type Toolbox, toolbox } from './toolbox.ts';

/** Options of {@link toolEnvironment}. */
export interface ToolOptions<Db = any, Tools = any, Answer = any> {
  /** The name in trees and journals. */
  readonly name: string;
  /** The task: the user's message, or the beginning of the conversation. */
  readonly task: string | readonly Message[];
  /** Declares the tools, each by a call of `tool`. None is named `answer` or `invalid`. */
  readonly tools: (
    tool: <Input, Parsed>(spec: ToolSpec<Db, Input, Parsed>) => Tool<Input, Parsed>,
  ) => Tools;
  /** The schema of an answer, which ends the task. @defaultValue a text */
  readonly answer?: StandardSchema<unknown, Answer>;
  /**
   * Whether the task is done, judging by the state: a number above 0, up to 1, ends the branch with that reward; 0 does
   * not end it. `'failed'` ends it with reward 0: it gave up, or can no longer succeed. Called at the start, and after
   * each change of the state, with the output of the call that changed it. Changes it makes in a workspace are
   * discarded if that has a `fingerprint`.
   *
   * @defaultValue never: a branch ends with an answer
   */
  readonly done?: (db: Db, output?: JsonValue) => MaybePromise<boolean | number | 'failed'>;
  /**
   * Whether a call may be made, given its parsed input; changes to that input do not reach the tool. A text is the
   * reason for refusal, shown to the model.
   *
   * @defaultValue all calls may be made
   */
  readonly permit?: (
    call:
      | Omit<ListedCall<Tools>, 'also'>
      | {
          [Name in DeclaredName<Tools>]: {
            /** The tool. */
            readonly tool: Name;
            /** Its input. */
            readonly input: Tools[Name & keyof Tools] extends Tool<unknown, infer Parsed>
              ? Parsed
              : never;
          };
        }[DeclaredName<Tools>],
    db: Db,
  ) => boolean | string;
  /**
   * What happens when a call throws, times out or is invalid: the model is told, or the child fails.
   *
   * @defaultValue `'tell'`
   */
  readonly onError?: 'tell' | 'fail';
  /** The maximum number of open workspaces: an integer from 1 up. @defaultValue 1 */
  readonly instances?: number;
  /** Records calls of tools with an `undo` before they are made. Required for such tools. */
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
  /** Equal for states with the same changes to the world, the same plan and the same observations. */
  key(state: ToolState<Data, Answer>): string;
  /** The answer, if given. */
  answer(state: ToolState<Data, Answer>): JsonValue | undefined;
  /** A conversation of calls and their results. */
  readonly notation: Notation<ToolState<Data, Answer>, Action>;
  /** Absent: states are JSON. */
  readonly codec?: never;
  /**
   * Carries out the calls planned on the path to a node, or to the best node of a tree, in order. Irreversible calls
   * are made only here. A tree whose best path has failed is refused, but an explicit node is not. It stops at the
   * first call that goes wrong, and reports what is done.
   *
   * @throws EspalierError `usage`, `locked`, `storage` or `invalid-journal`, before anything is done.
   */
  commit(
    what: SearchTree<ToolState<Data, Answer>, Action> | SearchNode<ToolState<Data, Answer>, Action>,
    options: CommitOptions<Data, Action>,
  ): Promise<Committed<Action>>;
  /**
   * Cleans up after a killed process: undoes changes that the journal records for branches and unfinished commits, and
   * removes folders and processes of workspaces. The first call of a search and a commit do this automatically.
   *
   * @param journal - The journal to recover from. Default: the environment's.
   * @throws EspalierError `usage` without a journal, unless the environment has workspaces.
   */
  recover(journal?: Journal): Promise<Recovery>;
  /** Closes workspaces and the journal. They are reopened when needed. */
  close(): Promise<void>;
  /** Same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A task with tools that work in workspaces: each branch sees a workspace in the state that its calls produced.
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
 * A branch of a search has no lasting effects. `pure` tools return a new state; `irreversible` ones are planned and
 * predicted, and never run.
 *
 * @param state - The data at the start: JSON. Tools, `done` and `permit` get frozen states: changing one throws a
 * TypeError.
 * @throws EspalierError `usage` for an invalid option or tool.
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
      if (journal === undefined && create === undefined) {
        const wanted = 'given to `recover`, because only a journal says what is to be undone';
        throw expectation('journal', wanted, journal);
      }
      const call = { signal: new AbortController().signal, clock: systemClock, id: '' };
      const none: Recovery = { undone: 0, failed: [] };
      const deeds = journal === undefined ? none : await recoverDeeds(parts, journal, call);
      // Partly published files may be needed for undoing, so folders are removed last.
      const left = create === undefined ? none : await removeLeftovers();
      return { undone: deeds.undone + left.undone, failed: [...deeds.failed, ...left.failed] };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Makes the calls of a turn, one after another. */
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
  // What a model writes always is a call: a policy in code has proposed this.
  if (typeof Object(action).tool !== 'string') {
    const keys = Object.keys(Object(action)).join(', ');
    const got = keys === '' ? describeValue(action) : `an object with \`${keys}\``;
    const message = `Expected an action to be a call \`{ tool, input }\`, got ${got}.`;
    throw new EspalierError('usage', message, { scope: 'item' });
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

/** The outside world, if there are tools that change it: their calls must be undone. */
function outsideOf({ name, journal }: ToolOptions, { tools }: Toolbox): Outside | undefined {
  const changing = [...tools.values()].filter(({ effect }) => effect === 'reversible');
  if (changing.length === 0) return undefined;
  const lacking = changing.find(({ undo }) => undo === undefined);
  if (lacking !== undefined) {
    const wanted = 'declared with an `undo`, since there is no workspace that could be restored';
    throw expectation(`tools.${lacking.name}`, wanted, lacking.undo);
  }
  if (journal === undefined) {
    const wanted = 'given, since tools with an `undo` record what they do';
    throw expectation('journal', wanted, journal);
  }
  return new Outside({ environment: name, tools, journal });
}
