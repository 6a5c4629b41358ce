import { contentAddress } from '../../base/canonical-json.ts';
import { EspalierError } from '../../base/errors.ts';
import type { JsonValue, MaybePromise } from '../../contracts/json.ts';
import type { ActCall, Workspace } from '../../contracts/world.ts';
import { closeCopy, copyOf, type Kept, type KeptStates } from './kept-states.ts';

/** The operations on the instances of a pool. */
export interface Acting<W extends Workspace, Step> {
  /** Identifies a step, with everything that its outcome is compared by. */
  keyOf(step: Step): string;
  /** Repeats a step. Returns whether the outcome was the same, or a sentence that says why not. */
  act(world: W, step: Step, call: ActCall): MaybePromise<boolean | string>;
  /** Undoes a step; does nothing if it never happened. It is not aborted. */
  undo?(world: W, step: Step, call: ActCall): MaybePromise<void>;
  /** Whether this workspace can undo steps. @defaultValue whether there is an `undo` */
  undoes?(world: W): boolean;
}

/** A step on the path to a state. */
export interface Point<Step> {
  readonly step: Step;
  /** Identifies the whole path up to here. */
  readonly place: string;
}

/** The base, where every path begins. */
const base = '';

/** A path as points. */
export function pointsOf<Step>(
  path: readonly Step[],
  keyOf: (step: Step) => string,
): readonly Point<Step>[] {
  let place = base;
  return path.map((step) => {
    place = contentAddress(`${place} ${keyOf(step)}`);
    return { step, place };
  });
}

/** A way to reach a state: return to an earlier point, then repeat the rest. */
interface Way {
  /** The number of points before those that are repeated. */
  readonly from: number;
  /** The number of steps that are repeated or undone. */
  readonly cost: number;
  go(call: ActCall): Promise<void>;
}

/** One workspace of a pool, and its current state. It has one user at a time. */
export class Instance<W extends Workspace, Step> {
  readonly #number: number;
  readonly #acting: Acting<W, Step>;
  readonly #kept: KeptStates<W>;
  readonly #forgotten: JsonValue[] = [];
  #world: W;
  /** Undefined if its state is unknown. */
  #points: Point<Step>[] | undefined = [];
  /** Kept permanently if there is no `reset`. */
  #base: Kept<W> | undefined;
  #isBroken = false;
  #isClosed = false;

  constructor(
    world: W,
    parts: {
      readonly number: number;
      readonly acting: Acting<W, Step>;
      readonly kept: KeptStates<W>;
    },
  ) {
    this.#world = world;
    this.#number = parts.number;
    this.#acting = parts.acting;
    this.#kept = parts.kept;
  }

  get world(): W {
    return this.#world;
  }

  /** Whether an operation threw, so that its state is unknown. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Brings it to its base for the first time. */
  async begin(call: ActCall): Promise<void> {
    if (this.#world.reset !== undefined) return void (await this.#world.reset(call));
    this.#base = await this.#keepNow();
    if (this.#isClosed && this.#base !== undefined) await closeCopy(this.#base);
  }

  /** The number of steps needed to reach a state; `Infinity` if it cannot. */
  distanceTo(to: readonly Point<Step>[]): number {
    return this.#stays ? 0 : (this.#wayTo(to)?.cost ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Brings it to a state.
   *
   * @throws EspalierError `stale` if a repeated step has another outcome.
   */
  async bringTo(to: readonly Point<Step>[], call: ActCall): Promise<void> {
    call.signal.throwIfAborted();
    if (this.#stays) {
      this.#points = [...to];
      return;
    }
    const way = this.#wayTo(to);
    if (way === undefined) return;
    await this.#soundly(() => way.go(call));
    this.#points = to.slice(0, way.from);
    for (const point of to.slice(way.from)) {
      call.signal.throwIfAborted();
      await this.#repeat(point, call);
    }
    if (way.from < to.length) await this.keep();
  }

  /** Notes that a step was done. */
  did(step: Step): void {
    const before = this.#points?.at(-1)?.place ?? base;
    const place = contentAddress(`${before} ${this.#acting.keyOf(step)}`);
    this.#points?.push({ step, place });
  }

  /** Notes another path to its current state. */
  standsAt(path: readonly Step[]): void {
    this.#points = [...pointsOf(path, (step) => this.#acting.keyOf(step))];
  }

  /** Undoes everything. */
  async back(call: ActCall): Promise<void> {
    await this.#soundly(() => this.#undoTo(0, call));
  }

  /** Saves its current state, if it can be restored. */
  async keep(): Promise<void> {
    const place = this.#points?.at(-1)?.place;
    const known = place === undefined ? undefined : this.#kept.find(this.#number, place);
    if (known !== undefined) this.#kept.touch(known);
    else if (place !== undefined) {
      const kept = await this.#soundly(() => this.#keepNow());
      if (kept !== undefined && this.#isClosed) await closeCopy(kept);
      else if (kept !== undefined) this.#kept.add(this.#number, place, kept);
    }
    for (const snapshot of this.#forgotten.splice(0)) {
      await this.#soundly(async () => this.#world.forget?.(snapshot));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#kept.drop(this.#number);
    const worlds = [this.#world, this.#base?.copy].filter((world) => world !== undefined);
    await Promise.all(worlds.map((copy) => closeCopy({ copy, tail: Promise.resolve() })));
  }

  /** Whether it can only be used in its current state. */
  get #stays(): boolean {
    const { reset } = this.#world;
    const canReturn = this.#copies || this.#snaps || reset !== undefined;
    return !canReturn && !this.#undoes;
  }

  get #undoes(): boolean {
    const { undo, undoes } = this.#acting;
    return undo !== undefined && (undoes === undefined || undoes(this.#world));
  }

  get #copies(): boolean {
    return this.#world.fork !== undefined;
  }

  get #snaps(): boolean {
    return this.#world.snapshot !== undefined && this.#world.restore !== undefined;
  }

  async #keepNow(): Promise<Kept<W> | undefined> {
    const tail = Promise.resolve();
    if (this.#copies) return { copy: (await this.#world.fork?.()) as W, tail };
    if (!this.#snaps) return undefined;
    const snapshot = (await this.#world.snapshot?.()) as JsonValue;
    return { snapshot, forgotten: this.#forgotten, tail };
  }

  /** The shortest way; of equal ones the one that disturbs the workspace least. */
  #wayTo(to: readonly Point<Step>[]): Way | undefined {
    const ways = [this.#wayFromHere(to), this.#wayFromKept(to), this.#wayFromStart(to)];
    return ways
      .filter((way) => way !== undefined)
      .toSorted((one, other) => one.cost - other.cost)
      .at(0);
  }

  #wayFromHere(to: readonly Point<Step>[]): Way | undefined {
    const here = this.#points;
    if (here === undefined) return undefined;
    const apart = here.findIndex(({ place }, index) => place !== to[index]?.place);
    const from = apart === -1 ? here.length : apart;
    if (from < here.length && !this.#undoes) return undefined;
    const cost = here.length - from + (to.length - from);
    return { from, cost, go: (call) => this.#undoTo(from, call) };
  }

  #wayFromKept(to: readonly Point<Step>[]): Way | undefined {
    for (let from = to.length; from >= 0; from--) {
      const place = to[from - 1]?.place;
      const kept = place === undefined ? this.#base : this.#kept.find(this.#number, place);
      if (kept !== undefined) {
        return { from, cost: to.length - from, go: () => this.#restore(kept) };
      }
    }
    return undefined;
  }

  #wayFromStart(to: readonly Point<Step>[]): Way | undefined {
    if (this.#world.reset === undefined) return undefined;
    // One more than from the base that was kept.
    return {
      from: 0,
      cost: to.length + 1,
      go: async (call) => void (await this.#world.reset?.(call)),
    };
  }

  async #restore(kept: Kept<W>): Promise<void> {
    this.#kept.touch(kept);
    if (kept.copy === undefined) return this.#world.restore?.(kept.snapshot as JsonValue);
    const copy = await copyOf(kept, kept.copy);
    if (this.#isClosed) return closeCopy({ copy, tail: Promise.resolve() });
    const old = this.#world;
    this.#world = copy;
    await closeCopy({ copy: old, tail: Promise.resolve() });
  }

  /** Undoes steps, last one first, until `count` are left. */
  async #undoTo(count: number, call: ActCall): Promise<void> {
    const points = this.#points ?? [];
    const unhurried = { ...call, signal: new AbortController().signal };
    while (points.length > count) {
      const last = points.at(-1);
      if (last !== undefined) await this.#acting.undo?.(this.#world, last.step, unhurried);
      points.pop();
    }
  }

  async #repeat(point: Point<Step>, call: ActCall): Promise<void> {
    const points = this.#points ?? [];
    // Before it is done, so that a half-done step is undone too.
    points.push(point);
    const came = await this.#soundly(async () => this.#acting.act(this.#world, point.step, call));
    if (came === true) return;
    const count = points.length;
    if (!this.#undoes) this.#points = undefined;
    else await this.#soundly(() => this.#undoTo(count - 1, call));
    const told = `Step ${count} on the path to this state had another outcome than before.`;
    const why = came === false ? 'Continue from an earlier state.' : came;
    throw new EspalierError('stale', `${told} ${why}`);
  }

  /** Runs something that leaves the instance broken if it throws. */
  async #soundly<Value>(act: () => Promise<Value>): Promise<Value> {
    try {
      return await act();
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }
}
