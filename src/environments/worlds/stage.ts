import { withDeadline } from '../../base/deadline.ts';
import type { MaybePromise } from '../../contracts/json.ts';
import type { ActCall, Seen, Workspace, World } from '../../contracts/world.ts';
import type { Sight } from './world-state.ts';

/** A world with what was seen in it last, as a pool lends it. */
export interface Stage<Action, Observation> extends Workspace {
  readonly world: World<Action, Observation>;
  /** Undefined where it was brought somewhere in another way. */
  last: Seen<Observation> | undefined;
  /** What is seen at the start, where it stands there. */
  start(call: ActCall): Promise<Seen<Observation>>;
}

/** How long a world may take, and whether it is brought back. */
export interface StageRules {
  readonly name: string;
  readonly timeoutMs: number;
  readonly restores: boolean;
}

/** A world on which all that takes time has a limit. */
export function stageOf<Action, Observation>(
  world: World<Action, Observation>,
  rules: StageRules,
): Stage<Action, Observation> {
  const stage: Stage<Action, Observation> = {
    world,
    last: undefined,
    async start(call) {
      stage.last ??= await inTime(rules, call, (own) => world.reset(own));
      return stage.last;
    },
    close: () => world.close?.(),
  };
  return rules.restores ? Object.assign(stage, waysBack(stage, rules)) : stage;
}

/** The ways back that a world has. */
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
        const copy = stageOf<Action, Observation>(await fork.call(world), rules);
        copy.last = stage.last;
        return copy;
      },
    }),
    ...(snapshot && { snapshot: () => snapshot.call(world) }),
    ...(restore && {
      restore: async (kept) => {
        stage.last = undefined;
        await restore.call(world, kept);
      },
    }),
    ...(forget && { forget: (kept) => forget.call(world, kept) }),
  };
}

/** Acts in a world. */
export async function actOn<Action, Observation>(
  stage: Stage<Action, Observation>,
  action: Action,
  { call, rules }: { readonly call: ActCall; readonly rules: StageRules },
): Promise<Seen<Observation>> {
  stage.last = await inTime(rules, call, (own) => stage.world.act(action, own));
  return stage.last;
}

/** What was seen last in a world, with how it stands. */
export async function sightOf<Action, Observation>({
  world,
  last,
}: Stage<Action, Observation>): Promise<Sight<Observation>> {
  if (last === undefined) throw new Error('Nothing was seen in this world.');
  const { observation } = last;
  if (world.fingerprint === undefined) return { observation };
  return { observation, fingerprint: await world.fingerprint() };
}

/** What a world does on a signal of its own, which aborts at the limit of time. */
async function inTime<Value>(
  { name, timeoutMs }: StageRules,
  call: ActCall,
  act: (call: ActCall) => MaybePromise<Value>,
): Promise<Value> {
  try {
    const own = async (signal: AbortSignal) => act({ ...call, signal });
    return await withDeadline(call.signal, timeoutMs, own);
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    if (call.signal.aborted || !isLate) throw error;
    throw new Error(`The world of \`${name}\` took longer than ${timeoutMs} ms, and was closed.`);
  }
}
