import type { SearchNode } from '../contracts/node.ts';

/** What a simulation that would only wait is turned away with: it is handed back, and starts anew somewhere else. */
export const turnedAway: Error = new Error(
  'The simulation is handed back: what it waits for is slow.',
);

interface Expansion {
  /** How many simulations had ended when it began. */
  readonly began: number;
  /** How many simulations it holds up: the one that asked for it, and those that share it. */
  held: number;
  /** Turns those away that share it. */
  readonly recall: (() => void)[];
  /** Whether a simulation waits for it because there is nothing else to do. */
  isOnlyWay: boolean;
}

/**
 * Who is held up by which expansion. One that is slow, or never settles, holds up the simulation that asked for it; others
 * pass its node by. What is slow is told by what else has ended meanwhile, and not by the clock: a replay tells the same.
 */
export class Crowd {
  readonly #expansions = new Map<SearchNode, Expansion>();
  readonly #slots: number;
  /** How many simulations have ended. */
  #ended = 0;
  /** How many simulations other than the one that asks are under way or about to start. */
  others: () => number = () => Number.POSITIVE_INFINITY;
  /** How many simulations have to end before the last one that is free passes by. */
  patience = 0;

  constructor(slots: number) {
    this.#slots = slots;
  }

  has(node: SearchNode): boolean {
    return this.#expansions.has(node);
  }

  /** Holds up the simulation that asks for an expansion. Returns how to say that it has settled. */
  begin(node: SearchNode): () => void {
    const began = this.#ended;
    this.#expansions.set(node, { began, held: 1, recall: [], isOnlyWay: false });
    return () => void this.#expansions.delete(node);
  }

  /** Shares an expansion, for as long as it is not slow. */
  join<Result>(node: SearchNode, result: Promise<Result>): Promise<Result> {
    const expansion = this.#expansions.get(node);
    if (expansion === undefined) return result;
    if (this.passes(node)) throw turnedAway;
    expansion.held++;
    return new Promise((resolve, reject) => {
      expansion.recall.push(() => reject(turnedAway));
      result.then(resolve, reject);
    });
  }

  /** Whether a simulation passes a node by rather than wait for what is under way there. */
  passes(node: SearchNode): boolean {
    const expansion = this.#expansions.get(node);
    if (expansion === undefined) return false;
    if (this.#isSlow(expansion)) return true;
    const isEarly = this.#ended - expansion.began < this.patience;
    return !isEarly && !expansion.isOnlyWay && this.isLast;
  }

  /** Says that there is nothing else to do than to wait for it. */
  keep(node: SearchNode): void {
    const expansion = this.#expansions.get(node);
    if (expansion !== undefined) expansion.isOnlyWay = true;
  }

  /** Counts a simulation as ended. */
  end(): void {
    this.#ended++;
    for (const expansion of this.#expansions.values()) {
      expansion.isOnlyWay = false;
      if (expansion.recall.length === 0 || !this.#isSlow(expansion)) continue;
      expansion.held = 1;
      for (const recall of expansion.recall.splice(0)) recall();
    }
  }

  /** How many expansions every slot has had time for another simulation beside. */
  get late(): number {
    let late = 0;
    for (const { began } of this.#expansions.values()) {
      if (this.#ended - began >= this.#slots) late++;
    }
    return late;
  }

  /** Whether every slot has had time for two simulations since it began. */
  #isSlow({ began }: Expansion): boolean {
    return this.#ended - began >= 2 * this.#slots;
  }

  /** Whether expansions hold up all other simulations: then nobody else would bring the search on. */
  get isLast(): boolean {
    let held = 0;
    for (const expansion of this.#expansions.values()) held += expansion.held;
    const others = this.others();
    return others > 0 && held >= others;
  }
}
