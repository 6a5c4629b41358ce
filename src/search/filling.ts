import type { SearchNode } from '../contracts/node.ts';
import { hasFailedBelow, hasFailedToGrow } from '../tree/closing.ts';
import { isClosed, isOut } from '../tree/selection.ts';
import type { SearchTree } from '../tree/tree.ts';
import type { Simulation, SimulationOutcome } from './contracts.ts';
import type { Expansions } from './expansions.ts';

/**
 * The number of passes over all nodes without a new one after which filling gives up: a model sometimes repeats itself.
 */
const passes = 3;

type Run<State, Action> = (simulation: Simulation<State, Action>) => Promise<SimulationOutcome>;

/** Draws further samples when an algorithm has nothing left to search. */
export class Filling<State, Action> {
  readonly #tree: SearchTree<State, Action>;
  readonly #expansions: Expansions<State, Action>;
  readonly #isStopped: () => boolean;
  /**
   * The nodes still to ask in this pass; below, the number of passes so far and the size of the tree at their start.
   */
  #queue: SearchNode<State, Action>[] = [];
  #passed = 0;
  #size = 0;

  constructor(
    tree: SearchTree<State, Action>,
    expansions: Expansions<State, Action>,
    isStopped: () => boolean,
  ) {
    this.#tree = tree;
    this.#expansions = expansions;
    this.#isStopped = isStopped;
  }

  /** Wraps a simulation: as long as it finds nothing to search, a new node is drawn and it runs again. */
  after(run: Run<State, Action>): Run<State, Action> {
    return async (simulation) => {
      let outcome = await run(simulation);
      // The algorithm may search only a part of the tree, and a bounded algorithm may have ended because of its bounds.
      while (outcome === 'exhausted' && isClosed(this.#tree.cursor) && (await this.draw())) {
        outcome = await run(simulation);
      }
      return outcome;
    };
  }

  /**
   * Asks one node after another for a further sample, until there is a new node.
   *
   * @param isOver - Whether the algorithm has ended; if so, this includes nodes that it might have expanded again
   * itself.
   * @returns whether there is a new node
   */
  async draw(isOver = false): Promise<boolean> {
    const { size } = this.#tree;
    while (!this.#isStopped() && this.#tree.size === size) {
      const node = this.#next(isOver);
      if (node === undefined) return false;
      await this.#expansions.expand(node, { count: 1 }, true);
    }
    return this.#tree.size > size;
  }

  /** The next node to ask, skipping nodes being expanded; `undefined` after all passes yielded nothing. */
  #next(isOver: boolean): SearchNode<State, Action> | undefined {
    const { size } = this.#tree;
    if (size !== this.#size) {
      this.#size = size;
      this.#passed = 0;
      this.#queue = [];
    }
    if (this.#queue.length === 0 && this.#passed++ < passes) {
      this.#queue = [...fillable(this.#tree, isOver)];
    }
    const place = this.#queue.findIndex((node) => !this.#expansions.isUnderWay(node));
    return place < 0 ? undefined : this.#queue.splice(place, 1)[0];
  }
}

/**
 * The nodes that may get further actions, those with the fewest samples first: nodes that have been expanded, with no
 * pruned node between them and the cursor.
 *
 * @param all - Whether this includes nodes that the algorithm may expand again itself.
 */
function fillable<State, Action>(
  tree: SearchTree<State, Action>,
  all: boolean,
): readonly SearchNode<State, Action>[] {
  const found: SearchNode<State, Action>[] = [];
  const stack = [tree.cursor];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const hasFailed = hasFailedToGrow(node);
    if (isOut(node) && !hasFailed && !hasFailedBelow(node)) continue;
    stack.push(...node.children);
    if (hasFailed || (node.children.length > 0 && (all || node.complete))) found.push(node);
  }
  return found.sort((a, b) => a.samples - b.samples || a.id - b.id);
}
