import type { NodeId } from '../contracts/node.ts';
import type { TreeJson } from './tree-json.ts';

/** The outcome of one simulation. */
export interface LoggedSimulation {
  /** The node at which it ended. */
  readonly leaf: NodeId;
  /** The return backed up to the root; `undefined` if nothing was backed up. */
  readonly return: number | undefined;
  /** Calls that took effect since the previous simulation ended. */
  readonly calls: number;
  /** Tokens read and written by those calls. */
  readonly tokens: number;
}

/**
 * The simulations of a tree in the order in which they ended. Stored as columns of numbers, without an object per
 * simulation.
 */
export class SimulationLog {
  readonly #leaves: NodeId[] = [];
  readonly #returns: number[] = [];
  readonly #calls: number[] = [];
  readonly #tokens: number[] = [];
  /**
   * The number of simulations in flight; below, the nodes from which they have backed up and the returns at the root.
   */
  #underWay = 0;
  readonly #backedUpFrom: NodeId[] = [];
  readonly #backedUp: number[] = [];

  /** The number of simulations. */
  get size(): number {
    return this.#leaves.length;
  }

  /** The outcome of each. */
  *[Symbol.iterator](): Generator<LoggedSimulation, void, undefined> {
    for (const [index, leaf] of this.#leaves.entries()) {
      const value = this.#returns[index] ?? Number.NaN;
      const [calls = 0, tokens = 0] = [this.#calls[index], this.#tokens[index]];
      yield { leaf, return: Number.isNaN(value) ? undefined : value, calls, tokens };
    }
  }

  /** @internal */
  start(): void {
    this.#underWay++;
  }

  /** @internal Backups outside a simulation, such as in a tree read from other data, are not logged. */
  backUp(leaf: NodeId, value: number): void {
    if (this.#underWay === 0) return;
    this.#backedUpFrom.push(leaf);
    this.#backedUp.push(value);
  }

  /** @internal */
  end(leaf: NodeId, { calls, tokens }: Pick<LoggedSimulation, 'calls' | 'tokens'>): void {
    const place = this.#backedUpFrom.indexOf(leaf);
    this.add({ leaf, return: this.#backedUp[place], calls, tokens });
    if (place >= 0 && this.#underWay > 1) {
      this.#backedUpFrom.splice(place, 1);
      this.#backedUp.splice(place, 1);
    }
    this.handBack();
  }

  /** @internal */
  handBack(): void {
    this.#underWay--;
    if (this.#underWay > 0) return;
    // Setting the length to 0 would free memory that the next simulation needs again.
    while (this.#backedUp.length > 0) {
      this.#backedUpFrom.pop();
      this.#backedUp.pop();
    }
  }

  /** @internal */
  add({ leaf, return: value = Number.NaN, calls, tokens }: LoggedSimulation): void {
    addTo(this.#calls, calls, this.size);
    addTo(this.#tokens, tokens, this.size);
    this.#leaves.push(leaf);
    this.#returns.push(value);
  }

  /** @internal */
  toJSON(): NonNullable<TreeJson['log']> {
    return {
      leaves: this.#leaves.slice(),
      returns: this.#returns.map((value) => (Number.isNaN(value) ? null : value)),
      ...(this.#calls.length > 0 && { calls: filled(this.#calls, this.size) }),
      ...(this.#tokens.length > 0 && { tokens: filled(this.#tokens, this.size) }),
    };
  }
}

/** Searches without models spend nothing and need no column. */
function addTo(column: number[], amount: number, index: number): void {
  if (amount === 0) return;
  while (column.length < index) column.push(0);
  column.push(amount);
}

function filled(column: readonly number[], size: number): readonly number[] {
  return Array.from({ length: size }, (_, index) => column[index] ?? 0);
}
