import { EspalierError } from '../../base/errors.ts';
import {
  expectBoolean,
  expectFunction,
  expectInteger,
  expectMethods,
  expectText,
} from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { messageOf } from '../../base/failure.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { Environment, Notation } from '../../contracts/environment.ts';
import type { JsonValue, MaybePromise } from '../../contracts/json.ts';
import type { ActCall, Seen, World } from '../../contracts/world.ts';
import { removeLeftovers } from './leftovers.ts';
import { type Live, live } from './live.ts';
import { Pool } from './pool.ts';
import {
  actOn,
  openInTime,
  type Stage,
  type StageRules,
  sightOf,
  stageOf,
  undoOn,
} from './stage.ts';
import {
  idAfter,
  keyOfState,
  type Sight,
  sightKey,
  stateAfter,
  stepsTo,
  type WorldState,
  type WorldStep,
} from './world-state.ts';

/** Options of {@link fromWorld}. */
export interface WorldOptions<Action, Observation> {
  /** The name in trees and journals. */
  readonly name: string;
  /** The maximum number of instances: an integer from 1 up. */
  readonly instances: number;
  /** The number of states kept, for worlds with copies or snapshots. @defaultValue 64 */
  readonly snapshots?: number;
  /**
   * The timeout of each operation of a world, such as opening, acting or restoring, in milliseconds. A world that times
   * out is closed.
   *
   * @defaultValue 30,000
   */
  readonly timeoutMs?: number;
  /**
   * Whether a world is restored to a state before acting there. If not, each act runs in the single instance in its
   * current state, a state is only the text of the observations, and trees are stamped `not-restored`.
   *
   * @defaultValue true
   */
  readonly restores?: boolean;
  /** Converts states and actions to model text, and back. @defaultValue none: states cannot be shown to a model */
  readonly notation?: Notation<WorldState<Action, Observation>, Action>;
  /** The answer in a state, if it has one. */
  readonly answer?: (state: WorldState<Action, Observation>) => JsonValue | undefined;
}

/** The observation of one effect, and the state it leads to. */
interface Done<Action, Observation> {
  readonly sight: Sight<Observation>;
  readonly way?: WorldState<Action, Observation>['way'];
  readonly ends: Omit<Seen<Observation>, 'observation'>;
}

/**
 * A live world as an environment. Each step first restores an instance to the state: by a kept copy or snapshot, by
 * undoing acts, or by replaying all acts from the start, whichever is shortest. Replayed acts must lead to the same
 * observations; if not, only this step fails, as `stale`.
 *
 * A step is one effect, replayed acts included: it is journaled, and a replay opens no world. If more steps are taken
 * concurrently than there are instances, they queue.
 *
 * @param create - Opens an instance, which is then reset. The signal aborts when the instance is no longer needed; one
 * that opens anyway is closed.
 */
export function fromWorld<Action, Observation>(
  create: (signal: AbortSignal) => MaybePromise<World<Action, Observation>>,
  options: WorldOptions<Action, Observation>,
): Live<Environment<WorldState<Action, Observation>, Action>> {
  const known = 'name instances snapshots timeoutMs restores notation answer';
  expectOptions('fromWorld', options, known);
  const { name, instances, snapshots = 64, restores = true, notation, answer } = options;
  const { timeoutMs = 30_000 } = options;
  expectBoolean('restores', restores);
  expectFunction('create', create);
  expectText('name', name);
  expectInteger('instances', instances, { min: 1 });
  expectInteger('snapshots', snapshots, { min: 0 });
  expectInteger('timeoutMs', timeoutMs, { min: 1 });
  const rules = { name, timeoutMs, restores };
  const pool = new Pool<Stage<Action, Observation>, WorldStep<Action, Observation>>({
    create: async ({ signal }) => {
      const world = await openInTime({ ...rules, signal }, 'create', create);
      expectMethods('the world', world, ['reset', 'act']);
      return stageOf(world, rules);
    },
    instances: restores ? instances : 1,
    snapshots,
    keyOf: ({ id, sight = '' }) => `${id} ${sight}`,
    act: (stage, step, call) => again(stage, step, { call, rules }),
    undo: async (stage, { taken, observation }, call) => {
      if (taken !== undefined) await undoOn(stage, { ...taken, observation }, { call, rules });
    },
    undoes: ({ world }) => restores && world.undo !== undefined,
    rest: 'stay',
  });

  const environment: Environment<WorldState<Action, Observation>, Action> = {
    name,
    ...(!restores && { stamps: ['not-restored'] }),
    ...(notation !== undefined && { notation }),
    ...(answer !== undefined && { answer }),
    key: keyOfState,
    async reset(context) {
      const { sight, ends } = await inEffect(
        context,
        { name: `${name}.reset`, id: 'start' },
        (call) =>
          pool.at([], call, async (stage, did) => {
            const { observation: _, ...seen } = await stage.start(call);
            const found = await sightOf(stage, rules);
            did.cameBy(stepsTo({ start: found, steps: [] }));
            return { sight: found, ends: seen };
          }),
      );
      return { state: { start: sight, steps: [] }, ...ends };
    },
    async step(state, action, context) {
      const path = stepsTo(state);
      const asked = { name: `${name}.step`, id: idAfter(path.at(-1), action) };
      const { sight, way, ends } = await inEffect(context, asked, (call) =>
        pool.at(path, call, async (stage, did): Promise<Done<Action, Observation>> => {
          const bound = boundNow(stage, action, path.at(-1)?.observation);
          const { observation: _, ...seen } = await actOn(stage, bound, { call, rules });
          const found = await sightOf(stage, rules);
          const { world } = stage;
          const isShortened = restores && world.undo === undefined;
          const shorten = isShortened ? world.shorten?.bind(world) : undefined;
          const next = stateAfter(state, { action, ...found }, shorten);
          did.cameBy(stepsTo(next));
          return { sight: found, ends: seen, ...(next.way !== undefined && { way: next.way }) };
        }),
      );
      const steps = [...state.steps, { action, ...sight }];
      return { state: { start: state.start, steps, ...(way && { way }) }, ...ends };
    },
  };
  return live(environment, { close: () => pool.close(), recover: removeLeftovers });
}

/** Runs as one effect. Staleness is part of its result, so that a replay reproduces it. */
async function inEffect<Action, Observation>(
  context: CallContext,
  { name, id }: { readonly name: string; readonly id: string },
  run: (call: ActCall) => Promise<Done<Action, Observation>>,
): Promise<Done<Action, Observation>> {
  const effect = { name, repeatable: true, pure: true };
  const outcome = await context.effect(effect, id, async ({ signal, clock }) => {
    try {
      return await run({ signal, clock, id });
    } catch (error) {
      if (!EspalierError.isInstance(error) || error.code !== 'stale') throw error;
      return { stale: messageOf(error) };
    }
  });
  if ('stale' in outcome) throw new EspalierError('stale', outcome.stale);
  return outcome;
}

/** Repeats a step. Returns whether it led to the same observation. */
async function again<Action, Observation>(
  stage: Stage<Action, Observation>,
  { taken, sight, before }: WorldStep<Action, Observation>,
  { call, rules }: { readonly call: ActCall; readonly rules: StageRules },
): Promise<boolean> {
  if (taken === undefined) await stage.start(call);
  else {
    await actOn(stage, boundNow(stage, taken.action, before), { call, rules });
  }
  return sight === undefined || sightKey(await sightOf(stage, rules)) === sight;
}

/** An action adapted to the current observation. */
function boundNow<Action, Observation>(
  { world }: Stage<Action, Observation>,
  action: Action,
  before: Observation | undefined,
): Action {
  return before === undefined ? action : (world.rebind?.(action, before) ?? action);
}
