import { sentenceOf } from '../../base/failure.ts';
import { frozen } from '../../base/frozen.ts';
import type { MaybePromise } from '../../contracts/json.ts';
import type { ActCall, Workspace } from '../../contracts/world.ts';
import { Pool } from '../worlds/pool.ts';
import type { Lending } from './commit-path.ts';
import type { Outside } from './outside.ts';
import { addressOf, type MadeCall } from './plan.ts';
import { briefly, type Ran, runTool, type Unforeseen } from './running.ts';
import type { Telling, ToolState } from './state.ts';
import type { Asked, DeclaredTool } from './tool.ts';

/** The reward if nothing is left to do, 0 if something is, and `failed` if the task can no longer succeed. */
export type Done = number | 'failed';

/** The outcome of a call in a branch, as recorded in journals. */
export type Outcome = (
  | Ran
  | { readonly refused: string }
  | Unforeseen
  | { readonly stale: string }
) & {
  readonly done?: Done;
  /** The fingerprint of the workspace afterwards. */
  readonly fingerprint?: string;
};

/** What determines the state of the world. */
export type Standing = Pick<ToolState, 'calls' | 'data' | 'origin'>;

/** The world, as long as it is in a given state. */
export interface Place {
  /** The data or workspace that tools work on; data are frozen. */
  db(): unknown;
  /** Runs a tool there. */
  run(asked: Asked, call: ActCall): Promise<Ran>;
  /** The fingerprint of the current state. */
  fingerprint?(): MaybePromise<string>;
  /** Identifies the original that it is a copy of. */
  original?(): MaybePromise<string>;
  /** Discards it, because an inspection has changed it. */
  giveUp?(): void;
}

/** A place where tools work. */
export interface Ground {
  /** Whether tools work on a live workspace instead of the data of the state. */
  readonly isLive: boolean;
  /** Runs something with the world in the given state. */
  at(state: Standing, call: ActCall, use: (place: Place) => Promise<Outcome>): Promise<Outcome>;
}

/** Tools work on the data of states. */
export const inData: Ground = {
  isLive: false,
  at(state, _, use) {
    const db = frozen(state.data);
    return use({
      db: () => db,
      run: ({ tool, parsed }, call) => runTool(tool, { db, parsed }, call),
    });
  },
};

/** Tools with an `undo` work on the outside world. */
export function inOutside(outside: Outside): Ground {
  return {
    isLive: false,
    at: (state, given, use) =>
      outside.at(state, given, (act) => {
        const db = frozen(state.data);
        return use({
          db: () => db,
          run: (asked, call) =>
            asked.tool.undo === undefined
              ? runTool(asked.tool, { db, parsed: asked.parsed }, call)
              : act(asked, state, call),
        });
      }),
  };
}

/** An instance is discarded because its state is unknown. */
class GivenUp extends Error {
  override readonly name = 'GivenUp';
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super('A call left a workspace in between two states.');
    this.outcome = outcome;
  }
}

/** Tools work in live workspaces. */
export function inWorkspaces<W extends Workspace>(
  tools: ReadonlyMap<string, DeclaredTool>,
  telling: Telling,
  options: {
    readonly create: () => MaybePromise<W>;
    readonly instances: number;
    readonly snapshots?: number | undefined;
  },
): { readonly ground: Ground; readonly lending: Lending } {
  const pool = new Pool<W, MadeCall>({
    ...options,
    rest: 'stay',
    keyOf: ({ tool, input, seen, fingerprint }) =>
      addressOf([tool, input, seen ?? null, fingerprint ?? null]),
    async act(world, step, call) {
      const tool = tools.get(step.tool);
      if (tool === undefined) return false;
      const asked = tool.check(step.input);
      const name = `\`${tool.name}\` with the input ${briefly(step.input)}`;
      if ('problem' in asked) {
        return `${name} is no longer accepted: ${sentenceOf(asked.problem)} Search again.`;
      }
      const ran = await runTool(tool, { db: world, parsed: asked.parsed }, call);
      if ('error' in ran) {
        return `${name} failed: ${sentenceOf(ran.error)} Try again once it works, or continue from an earlier state.`;
      }
      const { fingerprint, seen } = step;
      const isSame =
        fingerprint === undefined
          ? seen === addressOf(ran.output)
          : fingerprint === (await world.fingerprint?.());
      return isSame || `${name} gave another result. Continue from an earlier state.`;
    },
  });

  const pathOf = (calls: readonly MadeCall[]) =>
    telling.changes(calls).filter(({ fate }) => fate === 'ran');
  const at: Ground['at'] = async (state, call, use) => {
    try {
      return await pool.at(pathOf(state.calls), call, (world, did) => useOf(world, did, use));
    } catch (error) {
      if (error instanceof GivenUp) return error.outcome;
      throw error;
    }
  };
  return {
    ground: { isLive: true, at },
    lending: {
      at: (calls, call, use) => pool.at(pathOf(calls), call, (world) => use(world)),
      close: () => pool.close(),
    },
  };
}

async function useOf<W extends Workspace>(
  world: W,
  did: (step: MadeCall) => void,
  use: (place: Place) => Promise<Outcome>,
): Promise<Outcome> {
  let ran: { readonly asked: Asked; readonly came: Ran } | undefined;
  let isGivenUp: boolean | undefined;
  const outcome = await use({
    db: () => world,
    async run(asked, call) {
      const came = await runTool(asked.tool, { db: world, parsed: asked.parsed }, call);
      ran = { asked, came };
      if ('data' in came)
        return { error: 'It returned a state, but here the state is in a workspace.' };
      return came;
    },
    ...(world.fingerprint !== undefined && { fingerprint: () => world.fingerprint?.() ?? '' }),
    ...(world.original !== undefined && { original: () => world.original?.() ?? '' }),
    giveUp() {
      isGivenUp = true;
    },
  });
  if (isGivenUp) throw new GivenUp(outcome);
  if (ran === undefined) return outcome;
  const {
    asked: { tool, input },
    came,
  } = ran;
  const mayChange = tool.effect !== 'read';
  // A tool that timed out may still be running.
  if ('error' in outcome && (mayChange || 'late' in came)) throw new GivenUp(outcome);
  if (!mayChange || 'error' in came) return outcome;
  const { fingerprint } = outcome;
  did({
    ...{ tool: tool.name, input, effect: tool.effect, fate: 'ran' },
    seen: addressOf(came.output),
    fingerprint,
  });
  return outcome;
}
