import { EspalierError } from '../../base/errors.ts';
import { expectation } from '../../base/expect.ts';
import { messageOf } from '../../base/failure.ts';
import { frozen } from '../../base/frozen.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { ActCall, Workspace } from '../../contracts/world.ts';
import { SearchTree } from '../../tree/tree.ts';
import { atRest, type Outside, type OutsideState } from './outside.ts';
import {
  type ChainedCall,
  type CommitPlan,
  type Committed,
  chained,
  type MadeCall,
  nextKey,
  type Wanted,
} from './plan.ts';
import type { ToolState } from './state.ts';
import type { DeclaredTool } from './tool.ts';

/** The parts of an environment that a commit uses. */
export interface Committing {
  /** The name of the environment. */
  readonly environment: string;
  readonly tools: ReadonlyMap<string, DeclaredTool>;
  /** Present if the environment has tools with an `undo`. */
  readonly outside?: Outside | undefined;
  /** Present if the environment works in workspaces. */
  readonly workspace?: Lending | undefined;
  /** Identifies the start, given the current original of the workspaces. */
  readonly originOf: (original: JsonValue) => string;
  /** Whether a call may be made; a text gives the reason for refusal. */
  readonly permit: (call: Wanted, db: unknown) => true | string;
}

/** Lends workspaces in the state after given calls. */
export interface Lending {
  at<Result>(
    calls: readonly MadeCall[],
    call: ActCall,
    use: (workspace: Workspace) => Promise<Result>,
  ): Promise<Result>;
  /** Closes them. Later requests open new ones. */
  close(): Promise<void>;
}

/** The calls of one step, and the data around it. */
export interface Turn {
  readonly calls: readonly ChainedCall[];
  readonly before: JsonValue;
  readonly after: JsonValue;
}

/** The path from the start to a node. */
export interface Path {
  readonly turns: readonly Turn[];
  readonly calls: readonly MadeCall[];
  /** Identifies the start. */
  readonly origin: string;
  /** The calls that were neither refused nor failed. */
  readonly chain: readonly ChainedCall[];
  /** The search's result at its end. */
  readonly end: Pick<CommitPlan, 'ended' | 'reward' | 'value'>;
}

/** The target of a commit. */
export type ToCommit = SearchTree<PathState, unknown> | SearchNode<PathState, unknown>;

type PathState = OutsideState & Pick<ToolState, 'ended'>;

/**
 * The path to a node, or to the best node of a tree.
 *
 * @throws EspalierError `usage` for anything else, for a node of another environment, and for a node without a state.
 */
export function pathTo(what: ToCommit, environment: string): Path {
  const node = what instanceof SearchTree ? what.best : what;
  if (typeof (node as Partial<typeof node> | null | undefined)?.kind !== 'string') {
    const wanted = 'a tree or one of its nodes, such as `result.tree` or `result.best`';
    throw expectation('what', wanted, what);
  }
  const states: PathState[] = [];
  for (let at: typeof node | undefined = node; at !== undefined; at = at.parent) {
    if (at.kind === 'proposed') {
      const message =
        'The node was never realised, so nothing leads to it. Commit one that has a state.';
      throw new EspalierError('usage', message);
    }
    expectState(at.state, environment);
    states.unshift(at.state);
  }
  const { calls, origin, ended }: PathState = states.at(-1) ?? atRest;
  const chain = chained(origin, calls);
  const links = new Map(chain.map((link) => [link.call, link]));
  const turns = states.map((state, index): Turn => {
    const above = states[index - 1];
    const made = calls.slice(above?.calls.length ?? 0, state.calls.length);
    return {
      calls: made.flatMap((call) => links.get(call) ?? []),
      before: above?.data ?? state.data,
      after: state.data,
    };
  });
  const { reward, value } = node;
  const end = {
    ...(ended !== undefined && { ended }),
    ...(reward !== undefined && { reward }),
    value,
  };
  return { turns, calls, origin, chain, end };
}

/** Why the best path of a tree is not carried out unasked. */
export function faultOfBest(
  { best, root }: SearchTree<PathState, unknown>,
  { end }: Path,
): string | undefined {
  if (end.ended === 'failed') {
    return 'The best path of the tree ended as failed. To commit it on purpose, pass its node (`tree.best`).';
  }
  if (best !== root || root.terminal) return undefined;
  return 'The search took no step: the best node of the tree is its start. `stopReason` and `failures` of its result say why.';
}

function expectState(state: unknown, environment: string): void {
  const { origin, calls } = (state ?? {}) as Partial<OutsideState>;
  if (typeof origin === 'string' && Array.isArray(calls)) return;
  const message = `The path is of another environment than \`${environment}\`: its states have no \`calls\`. Commit a tree that was searched in \`${environment}\`, or one of its nodes.`;
  throw new EspalierError('usage', message);
}

/** Publishing a workspace is recorded as a deed, like the call of a reversible tool. */
export const publishing: DeclaredTool = {
  name: '.publish',
  definition: { name: '.publish', input: {} },
  effect: 'reversible',
  timeoutMs: 600_000,
  maxOutput: 1,
  check: (input) => ({ input, parsed: input }),
  run: async (workspace, changes, call) => {
    await (workspace as Workspace).publish?.(changes as JsonValue, call);
  },
  undo: async (...[workspace, changes, , call]) => {
    await (workspace as Workspace).unpublish?.(changes as JsonValue, call);
  },
};

/** The key under which a workspace is published; `undefined` if nothing was changed in it. */
export function publishKey({ chain }: Path): string | undefined {
  const last = chain.findLast(
    ({ call: { fate, effect } }) =>
      fate === 'ran' && (effect === 'pure' || effect === 'reversible'),
  );
  return last === undefined ? undefined : nextKey(last.key, publishing.name, null);
}

/** The changes that a workspace would publish, if any. @throws Halt if they cannot be determined */
export async function changesIn(place: Workspace): Promise<JsonValue | undefined> {
  if (place.changes === undefined || place.publish === undefined) {
    const message =
      'The workspace cannot publish what was done in it. Give it `changes` and `publish`.';
    throw new EspalierError('usage', message);
  }
  try {
    return frozen(await place.changes());
  } catch (error) {
    throw new Halt(isStale(error) ? 'stale' : 'refused', messageOf(error));
  }
}

/** Ends a commit. */
export class Halt extends Error {
  override readonly name = 'Halt';
  readonly status: Committed['status'];

  constructor(status: Committed['status'], message?: string) {
    super(message);
    this.status = status;
  }
}

/** The end of a commit for an error. @throws errors about how the commit was called. */
export function haltFrom(error: unknown): Halt {
  if (error instanceof Halt) return error;
  if (EspalierError.isInstance(error) && error.code === 'usage') throw error;
  return new Halt(isStale(error) ? 'stale' : 'failed', messageOf(error));
}

/** Whether an error says that the world has changed since. */
export function isStale(error: unknown): boolean {
  return EspalierError.isInstance(error) && error.code === 'stale';
}
