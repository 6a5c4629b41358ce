import { EspalierError } from '../../base/errors.ts';
import { settledOrLeft } from '../../base/unless-aborted.ts';
import type { MaybePromise } from '../../contracts/json.ts';
import type { ActCall, Workspace } from '../../contracts/world.ts';
import { type Acting, Instance, type Point, pointsOf } from './instance.ts';
import { KeptStates } from './kept-states.ts';

/** Options of a pool. */
export interface PoolOptions<W extends Workspace, Step> extends Acting<W, Step> {
  /** Opens an instance. */
  create(call: ActCall): MaybePromise<W>;
  /** The maximum number of instances. */
  readonly instances: number;
  /** The number of saved states, which need not be reached again. @defaultValue 64 */
  readonly snapshots?: number | undefined;
  /** How instances are left: in their current state, or with everything undone. */
  readonly rest: 'stay' | 'back';
}

/** Reports what was done with an instance. */
export interface Did<Step> {
  /** A step was done. */
  (step: Step): void;
  /** Its current state can also be reached by this path, which replaces the previous one. */
  cameBy(path: readonly Step[]): void;
}

/** A caller that waits for an instance; it gets `undefined` as permission to open one. */
interface Waiter<W extends Workspace, Step> {
  readonly to: readonly Point<Step>[];
  grant(instance: Instance<W, Step> | undefined): void;
  refuse(reason: unknown): void;
}

/**
 * Live workspaces that are lent to one user at a time, in the requested state. They get there by a saved copy or
 * snapshot, by undoing steps, or by repeating all steps from the start; a workspace that supports none of these is lent
 * in its current state.
 */
export class Pool<W extends Workspace, Step> {
  readonly #options: PoolOptions<W, Step>;
  readonly #kept: KeptStates<W>;
  readonly #all = new Set<Instance<W, Step>>();
  readonly #idle: Instance<W, Step>[] = [];
  readonly #waiting: Waiter<W, Step>[] = [];
  readonly #closing = new Set<Promise<void>>();
  readonly #underWay = new Set<Promise<unknown>>();
  /** The number of instances that are open, or may be opened. */
  #taken = 0;
  #opened = 0;
  /** How often all were closed. */
  #closed = 0;

  constructor(options: PoolOptions<W, Step>) {
    this.#options = options;
    this.#kept = new KeptStates(options.snapshots ?? 64);
  }

  /**
   * Lends an instance in the state at the end of a path, first come, first served.
   *
   * @param use - Uses it, and reports each step with `did`. If it throws, the instance is closed; until it settles, the
   * instance stays lent.
   * @throws EspalierError `stale` if a repeated step of the path has another outcome.
   */
  at<Result>(
    path: readonly Step[],
    call: ActCall,
    use: (world: W, did: Did<Step>) => Promise<Result>,
  ): Promise<Result> {
    const using = this.#use(pointsOf(path, this.#options.keyOf), call, use);
    const settled = using.then(
      () => {},
      () => {},
    );
    this.#underWay.add(settled);
    void settled.then(() => this.#underWay.delete(settled));
    return using;
  }

  /** Closes all instances. Waiting callers are refused; later requests open new ones. */
  async close(): Promise<void> {
    this.#closed++;
    for (const { refuse } of this.#waiting.splice(0)) refuse(closedMeanwhile());
    // Changes that must be undone are undone first.
    if (this.#options.rest === 'back') await Promise.all(this.#underWay);
    for (const instance of this.#all) this.#drop(instance);
    await Promise.all([...this.#closing, this.#kept.close()]);
  }

  async #use<Result>(
    to: readonly Point<Step>[],
    call: ActCall,
    use: (world: W, did: Did<Step>) => Promise<Result>,
  ): Promise<Result> {
    const instance = await this.#instanceFor(to, call);
    let isUsed = false;
    try {
      await instance.bringTo(to, call);
      isUsed = true;
      const did = Object.assign((step: Step) => instance.did(step), {
        cameBy: (path: readonly Step[]) => instance.standsAt(path),
      });
      const result = await use(instance.world, did);
      if (this.#all.has(instance)) await instance.keep();
      isUsed = false;
      return result;
    } catch (error) {
      if (isUsed || instance.isBroken) await this.#discard(instance, call);
      throw error;
    } finally {
      await this.#release(instance, call);
    }
  }

  async #instanceFor(to: readonly Point<Step>[], call: ActCall): Promise<Instance<W, Step>> {
    call.signal.throwIfAborted();
    const granted = this.#nearest(to) ?? (this.#mayOpen() ? undefined : await this.#turn(to, call));
    if (granted !== undefined && granted.distanceTo(to) < Number.POSITIVE_INFINITY) return granted;
    if (granted !== undefined) {
      // It can no longer reach the state, so another instance replaces it.
      this.#close(granted);
    }
    return this.#open(call);
  }

  /** Takes the idle instance with the shortest way. */
  #nearest(to: readonly Point<Step>[]): Instance<W, Step> | undefined {
    const ways = this.#idle.map((instance) => ({ instance, length: instance.distanceTo(to) }));
    const [nearest] = ways.toSorted((one, other) => one.length - other.length);
    if (nearest !== undefined) this.#idle.splice(this.#idle.indexOf(nearest.instance), 1);
    return nearest?.instance;
  }

  /** Whether there is room for another instance, and reserves it. */
  #mayOpen(): boolean {
    if (this.#taken >= this.#options.instances) return false;
    this.#taken++;
    return true;
  }

  #turn(to: readonly Point<Step>[], call: ActCall): Promise<Instance<W, Step> | undefined> {
    return settledOrLeft(call.signal, ({ resolve, reject }) => {
      const waiter: Waiter<W, Step> = { to, grant: resolve, refuse: reject };
      this.#waiting.push(waiter);
      return () => {
        const index = this.#waiting.indexOf(waiter);
        if (index >= 0) this.#waiting.splice(index, 1);
        reject(call.signal.reason);
      };
    });
  }

  async #open(call: ActCall): Promise<Instance<W, Step>> {
    let instance: Instance<W, Step> | undefined;
    const closed = this.#closed;
    try {
      const world = await this.#options.create(call);
      const parts = { number: this.#opened++, acting: this.#options, kept: this.#kept };
      instance = new Instance<W, Step>(world, parts);
      this.#all.add(instance);
      await instance.begin(call);
      if (closed !== this.#closed) throw closedMeanwhile();
      return instance;
    } catch (error) {
      if (instance === undefined) this.#leave();
      else this.#drop(instance);
      throw error;
    }
  }

  /** Passes an instance to the next waiting caller, or leaves it idle. */
  async #release(instance: Instance<W, Step>, call: ActCall): Promise<void> {
    if (!this.#all.has(instance)) return;
    if (this.#options.rest === 'back' && this.#waiting.length === 0) {
      try {
        await instance.back(call);
      } catch (error) {
        this.#drop(instance);
        throw error;
      }
    }
    this.#idle.push(instance);
    this.#passOn();
  }

  /** Closes an instance that threw, after undoing its changes if that is how instances are left. */
  async #discard(instance: Instance<W, Step>, call: ActCall): Promise<void> {
    try {
      if (this.#options.rest === 'back') await instance.back(call);
    } catch {
      // The caller gets the original error.
    } finally {
      this.#drop(instance);
    }
  }

  #drop(instance: Instance<W, Step>): void {
    if (this.#close(instance)) this.#leave();
  }

  /** Closes an instance, and keeps its room. Returns whether it was open. */
  #close(instance: Instance<W, Step>): boolean {
    if (!this.#all.delete(instance)) return false;
    const index = this.#idle.indexOf(instance);
    if (index >= 0) this.#idle.splice(index, 1);
    const closing = instance.close();
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
    return true;
  }

  #leave(): void {
    this.#taken--;
    this.#passOn();
  }

  /** Serves waiting callers in order. */
  #passOn(): void {
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      const instance = this.#nearest(first.to);
      if (instance === undefined && !this.#mayOpen()) return;
      this.#waiting.shift();
      first.grant(instance);
    }
  }
}

function closedMeanwhile(): EspalierError {
  return new EspalierError('usage', 'The environment was closed while a step was in progress.');
}
