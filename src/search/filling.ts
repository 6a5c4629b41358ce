import type { SearchNode } from '../contracts/node.ts';
import { hasFailedBelow, hasFailedToGrow } from '../tree/closing.ts';
import { isClosed, isOut } from '../tree/selection.ts';
import type { SearchTree } from '../tree/tree.ts';
import type { Simulation, SimulationOutcome } from './contracts.ts';
import type { Expansions } from './expansions.ts';

/** How often all nodes are asked in vain before there is nothing new: a model repeats itself now and then. */
const passes = 3;

type Run<State, Action> = (simulation: Simulation<State, Action>) => Promise<SimulationOutcome>;

/** Draws further samples where an algorithm has nothing left to search. */
export class Filling<State, Action> {
  readonly #tree: SearchTree<State, Action>;
  readonly #expansions: Expansions<State, Action>;
  readonly #isStopped: () => boolean;
  /** The nodes that are still asked in this pass, how many passes there were, and how large the tree was. */
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

  /** A simulation that is run again after each further node, for as long as it finds nothing to search. */
  after(run: Run<State, Action>): Run<State, Action> {
    return async (simulation) => {
      let outcome = await run(simulation);
      // The algorithm may search no more than a part of the tree, and what is bounded may have ended for that.
      while (outcome === 'exhausted' && isClosed(this.#tree.cursor) && (await this.draw())) {
        outcome = await run(simulation);
      }
      return outcome;
    };
  }

  /**
   * Asks one node after the other for a further sample, until there is a new node.
   *
   * @param isOver - Whether the algorithm has ended: then nodes are asked too that it might have asked again by itself.
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

  /** The next node to ask: none that others ask just now, and none once all were asked in vain. */
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
 * The nodes that may be asked for further actions, those with the fewest samples first: they have been expanded,
 * and nothing from where the world stands to them was put aside.
 *
 * @param all - Whether that includes nodes which their algorithm may ask again by itself.
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
