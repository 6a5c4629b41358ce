import { expectation, expectFunction } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { bindTakenOut } from '../base/taken-out.ts';
import type { Random } from '../contracts/context.ts';
import type { SearchNode } from '../contracts/node.ts';
import { isAtOrBelow } from '../tree/best-end.ts';
import type { Selection } from '../tree/selection.ts';
import type { SearchTree } from '../tree/tree.ts';
import { goingOnFrom } from '../tree/widening.ts';
import type { Simulation } from './contracts.ts';
import type { Crowd } from './crowd.ts';

/**
 * A simulation under way, with the marks that it leaves on its path. It has its own random numbers, whose source is
 * created on first use, since most simulations never draw any.
 */
export class SimulationInFlight<State, Action> implements Simulation<State, Action>, Random {
  readonly index: number;
  readonly #tree: SearchTree<State, Action>;
  readonly #marks: boolean;
  readonly #source: Random;
  readonly #crowd: Crowd<State, Action>;
  #draws: Random | undefined;
  #deepest: SearchNode<State, Action> | undefined;
  #isOver = false;

  /** @param marks - Whether other simulations can see the marks. */
  constructor(
    tree: SearchTree<State, Action>,
    {
      index,
      source,
      marks,
      crowd,
    }: {
      readonly index: number;
      readonly source: Random;
      readonly marks: boolean;
      readonly crowd: Crowd<State, Action>;
    },
  ) {
    this.#tree = tree;
    this.index = index;
    this.#source = source;
    this.#marks = marks;
    this.#crowd = crowd;
  }

  get random(): Random {
    return this;
  }

  next(): number {
    return this.#stream().next();
  }

  integer(limit: number): number {
    return this.#stream().integer(limit);
  }

  split(...labels: readonly (string | number)[]): Random {
    return this.#stream().split(...labels);
  }

  select(
    selection: Selection,
    options?: Parameters<Simulation<State, Action>['select']>[1],
  ): SearchNode<State, Action> | undefined {
    if (typeof selection !== 'function') {
      throw expectation('selection', 'a selection rule, such as `descend(uct())`', selection);
    }
    if (options !== undefined) expectOptions('simulation.select', options, 'from widening');
    const { from = this.#tree.cursor, widening } = options ?? {};
    if (widening !== undefined) expectFunction('widening', widening);
    this.#tree.expectOwn(from);
    this.#tree.rule = selection.spec;
    const view = { cursor: from, widening, discount: this.#tree.discount };
    for (;;) {
      const selected = selection(view, this);
      if (selected === undefined) return undefined;
      const node = widening === undefined ? selected : goingOnFrom(selected, widening);
      if (node === undefined) this.#tree.complete(selected);
      else if (!this.#marks || !this.#crowd.passes(node)) return this.visit(node);
      else return this.#passBy(node, () => selection(view, this));
    }
  }

  /** Selects a node other than one with a bypassed expansion, or that one if there is no other. */
  #passBy(
    first: SearchNode<State, Action>,
    select: () => SearchNode<State, Action> | undefined,
  ): SearchNode<State, Action> {
    const passed = [first];
    for (;;) {
      const node = this.#tree.without(passed, select);
      if (node === undefined) break;
      // If every path below a node is bypassed, the node itself is blocked too.
      const isBlocked =
        this.#crowd.passes(node) || node.children.some((child) => passed.includes(child));
      if (!isBlocked) return this.visit(node);
      passed.push(node);
    }
    this.#crowd.keep(first);
    return this.visit(first);
  }

  visit<Node extends SearchNode<State, Action>>(node: Node): Node {
    this.#tree.expectOwn(node);
    // A plug-in may ignore that its simulation is over; its marks would never be removed.
    if (this.#isOver) return node;
    if (!this.#marks) {
      this.#deepest = node;
      return node;
    }
    if (this.#deepest === undefined || isAtOrBelow(node, this.#deepest)) {
      this.#tree.addInFlight(node, 1, this.#deepest);
    } else {
      this.#tree.addInFlight(this.#deepest, -1);
      this.#tree.addInFlight(node, 1);
    }
    this.#deepest = node;
    return node;
  }

  /** Whether its marks have been removed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Removes its marks. @returns the last node that it visited */
  release(): SearchNode<State, Action> | undefined {
    if (this.#marks && this.#deepest !== undefined) this.#tree.addInFlight(this.#deepest, -1);
    this.#isOver = true;
    return this.#deepest;
  }

  #stream(): Random {
    this.#draws ??= this.#source.split('simulation', this.index);
    return this.#draws;
  }

  static {
    bindTakenOut(SimulationInFlight.prototype, 'select visit');
  }
}
