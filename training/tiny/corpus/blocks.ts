import type { Random } from 'espalier';
import { type BlocksworldAction, type BlocksworldState, blocksworld } from 'espalier/environments';
import { type Outlook, type Position, pick } from './example.ts';

/** All states of one Blocksworld problem, with how far each is from the goal. */
export class BlocksworldMap {
  readonly #environment;
  readonly #distances: ReadonlyMap<string, number>;

  constructor(instance: BlocksworldState) {
    this.#environment = blocksworld.environment(instance);
    this.#distances = distancesFrom(this.#environment);
  }

  /** The start. */
  get start(): BlocksworldState {
    return this.#environment.reset().state;
  }

  /** The steps that are still needed. */
  distance(state: BlocksworldState): number {
    return this.#distances.get(this.#environment.key(state)) ?? Infinity;
  }

  /** A good step is one on a shortest way. `sure` means that the goal is at most four steps away. */
  position(state: BlocksworldState): Position<BlocksworldState, BlocksworldAction> {
    const { actions, step, notation } = this.#environment;
    const distance = this.distance(state);
    const legal = actions(state);
    const good = legal.filter((action) => this.distance(step(state, action).state) < distance);
    const outlook: Outlook = { legal, good, label: distance <= 4 ? 'sure' : 'likely' };
    return { notation, state, outlook };
  }

  /** What is true after a step; `undefined` where the step ends the puzzle. */
  after(
    { state }: Position<unknown, unknown>,
    action: string,
  ): Position<BlocksworldState, BlocksworldAction> | undefined {
    const { step } = this.#environment;
    const next = step(state as BlocksworldState, action as BlocksworldAction);
    return next.terminal === true ? undefined : this.position(next.state);
  }

  /** The state some steps after the start: most of the way is a shortest one. */
  walk(random: Random, depth: number): Position<BlocksworldState, BlocksworldAction> | undefined {
    let position = this.position(this.start);
    for (let taken = 0; taken < depth; taken++) {
      const { legal, good } = position.outlook;
      const step = pick(random, random.next() < 0.7 ? good : legal) as BlocksworldAction;
      const next = this.#environment.step(position.state, step);
      if (next.terminal === true) return undefined;
      position = this.position(next.state);
    }
    return position;
  }
}

/** Breadth first from the goal backwards: every step can be undone by one other step. */
function distancesFrom({
  reset,
  actions,
  step,
  key,
}: ReturnType<typeof blocksworld.environment>): ReadonlyMap<string, number> {
  const before = new Map<string, string[]>();
  const goals: string[] = [];
  const start = reset().state;
  const seen = new Set([key(start)]);
  const open = [start];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const from = key(state);
    const legal = actions(state);
    if (legal.length === 0) goals.push(from);
    for (const action of legal) {
      const next = step(state, action).state;
      const to = key(next);
      before.set(to, [...(before.get(to) ?? []), from]);
      if (!seen.has(to)) open.push(next);
      seen.add(to);
    }
  }
  return spread(goals, before);
}

function spread(goals: readonly string[], before: ReadonlyMap<string, readonly string[]>) {
  const distances = new Map(goals.map((goal) => [goal, 0]));
  let layer = goals;
  for (let distance = 1; layer.length > 0; distance++) {
    const next: string[] = [];
    for (const state of layer.flatMap((reached) => before.get(reached) ?? [])) {
      if (distances.has(state)) continue;
      distances.set(state, distance);
      next.push(state);
    }
    layer = next;
  }
  return distances;
}
