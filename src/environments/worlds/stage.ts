import { withDeadline } from '../../base/deadline.ts';
import type { MaybePromise } from '../../contracts/json.ts';
import type { ActCall, Seen, Workspace, World } from '../../contracts/world.ts';
import type { Sight } from './world-state.ts';

/** A world with its last observation, as lent by a pool. */
export interface Stage<Action, Observation> extends Workspace {
  readonly world: World<Action, Observation>;
  /** Undefined if the state was reached in another way. */
  last: Seen<Observation> | undefined;
  /** The observation at the start, if the world is there. */
  start(call: ActCall): Promise<Seen<Observation>>;
}

/** The time limit of a world, and whether it is restored. */
export interface StageRules {
  readonly name: string;
  readonly timeoutMs: number;
  readonly restores: boolean;
}

/** A world with a time limit on every operation. */
export function stageOf<Action, Observation>(
  world: World<Action, Observation>,
  rules: StageRules,
): Stage<Action, Observation> {
  const stage: Stage<Action, Observation> = {
    world,
    last: undefined,
    async start(call) {
      const { signal } = call;
      stage.last ??= await inTime({ ...rules, signal }, 'reset', (own) =>
        world.reset({ ...call, signal: own }),
      );
      return stage.last;
    },
    close: () => inTime(rules, 'close', () => world.close?.()),
  };
  return rules.restores ? Object.assign(stage, waysBack(stage, rules)) : stage;
}

/** The ways of a world to restore a state. */
function waysBack<Action, Observation>(
  stage: Stage<Action, Observation>,
  rules: StageRules,
): Workspace {
  const { world } = stage;
  const { fork, snapshot, restore, forget } = world;
  return {
    reset(call) {
      stage.last = undefined;
      return stage.start(call);
    },
    ...(fork && {
      fork: async (): Promise<Workspace> => {
        const forked = await openInTime(rules, 'fork', () => fork.call(world));
        const copy = stageOf<Action, Observation>(forked, rules);
        copy.last = stage.last;
        return copy;
      },
    }),
    ...(snapshot && { snapshot: () => inTime(rules, 'snapshot', () => snapshot.call(world)) }),
    ...(restore && {
      restore: async (kept) => {
        stage.last = undefined;
        await inTime(rules, 'restore', () => restore.call(world, kept));
      },
    }),
    ...(forget && {
      forget: (kept) => inTime(rules, 'forget', () => forget.call(world, kept)),
    }),
  };
}

/** Acts in a world. */
export async function actOn<Action, Observation>(
  stage: Stage<Action, Observation>,
  action: Action,
  { call, rules }: { readonly call: ActCall; readonly rules: StageRules },
): Promise<Seen<Observation>> {
  stage.last = await inTime({ ...rules, signal: call.signal }, 'act', (signal) =>
    stage.world.act(action, { ...call, signal }),
  );
  return stage.last;
}

/** Undoes an act. */
export async function undoOn<Action, Observation>(
  stage: Stage<Action, Observation>,
  {
    action,
    observation,
  }: { readonly action: Action; readonly observation?: Observation | undefined },
  { call, rules }: { readonly call: ActCall; readonly rules: StageRules },
): Promise<void> {
  stage.last = undefined;
  await inTime({ ...rules, signal: call.signal }, 'undo', (signal) =>
    stage.world.undo?.(action, observation, { ...call, signal }),
  );
}

/** The last observation of a world, with its fingerprint. */
export async function sightOf<Action, Observation>(
  { world, last }: Stage<Action, Observation>,
  rules: StageRules,
): Promise<Sight<Observation>> {
  if (last === undefined) throw new Error('This world has no observation.');
  const { observation } = last;
  const { fingerprint } = world;
  if (fingerprint === undefined) return { observation };
  const told = await inTime(rules, 'fingerprint', () => fingerprint.call(world));
  return { observation, fingerprint: told };
}

/** Opens a world. If it opens too late, it is closed. */
export async function openInTime<Action, Observation>(
  limits: Limits,
  what: 'create' | 'fork',
  open: (signal: AbortSignal) => MaybePromise<World<Action, Observation>>,
): Promise<World<Action, Observation>> {
  let opening: Promise<World<Action, Observation>> | undefined;
  try {
    return await inTime(limits, what, (signal) => {
      opening = (async () => open(signal))();
      return opening;
    });
  } catch (error) {
    void opening?.then((late) => late.close?.()).catch(() => {});
    throw error;
  }
}

/** The limits of one request: a time, and a signal if the search may end it earlier. */
type Limits = Pick<StageRules, 'name' | 'timeoutMs'> & { readonly signal?: AbortSignal };

/** Makes a request to a world, with a signal that aborts at the time limit. */
async function inTime<Value>(
  { name, timeoutMs, signal = new AbortController().signal }: Limits,
  what: keyof World | 'create',
  ask: (signal: AbortSignal) => MaybePromise<Value>,
): Promise<Value> {
  try {
    return await withDeadline(signal, timeoutMs, async (own) => ask(own));
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    if (signal.aborted || !isLate) throw error;
    throw new Error(
      `The world of \`${name}\` took longer than ${timeoutMs} ms to \`${what}\`, and was abandoned.`,
    );
  }
}
