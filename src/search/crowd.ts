import type { SearchNode } from '../contracts/node.ts';

/** What a simulation that would only wait is turned away with: it is handed back, and starts anew somewhere else. */
export const turnedAway: Error = new Error(
  'The simulation is handed back: what it waits for is slow.',
);

type Children<State, Action> = Promise<readonly SearchNode<State, Action>[]>;

/** Where nobody else may be left to end, an expansion is late once this number of others have ended in its time. */
const leastEnds = 2;

interface Expansion<State, Action> {
  readonly children: Children<State, Action>;
  /** How many simulations had ended when it began. */
  readonly began: number;
  /** Turn those away that share it. */
  readonly recall: (() => void)[];
  /** Whether others go elsewhere. */
  isPassed: boolean;
  /** Whether a simulation waits for it because there is nothing else to do. */
  isOnlyWay: boolean;
}

/**
 * The expansions under way, and who is held up by which. Once they hold up all who could bring the search on, others pass
 * those nodes by, and who waits looks once more. The clock decides nothing: a replay goes the same way.
 */
export class Crowd<State, Action> {
  readonly #expansions = new Map<SearchNode<State, Action>, Expansion<State, Action>>();
  readonly #slots: number;
  /** How many simulations have ended. */
  #ended = 0;
  /** How often there was reason to look again: a simulation ended, or there was more to pass by. */
  looks = 0;
  /** How many others have to end in the time of an expansion until it is late. */
  patience = 0;
  /** How many simulations are under way or about to start: those that wait for nothing, and those held up. */
  busy: () => number = () => Number.POSITIVE_INFINITY;
  /** Lets the next one look again of those who wait for what others bring. */
  wakeNext: () => void = () => {};
  /** Lets those go on who wait for a result because what they did cost nothing. */
  wakeResting: () => void = () => {};

  /** @param slots - How many simulations may be under way. One alone waits for its own. */
  constructor(slots: number) {
    this.#slots = slots;
  }

  has(node: SearchNode<State, Action>): boolean {
    return this.#expansions.has(node);
  }

  /** Holds up the simulation that asks for an expansion, until it has settled. */
  begin(
    node: SearchNode<State, Action>,
    expanding: Children<State, Action>,
  ): Children<State, Action> {
    const children = expanding.finally(() => void this.#expansions.delete(node));
    const began = this.#ended;
    this.#expansions.set(node, { children, began, recall: [], isPassed: false, isOnlyWay: false });
    this.wakeNext();
    this.look();
    return children;
  }

  /** Shares an expansion under way, until all wait for it and there may be something else to do. */
  join(node: SearchNode<State, Action>): Children<State, Action> | undefined {
    const expansion = this.#expansions.get(node);
    if (expansion === undefined) return undefined;
    if (this.passes(node)) throw turnedAway;
    return new Promise((resolve, reject) => {
      expansion.recall.push(() => reject(turnedAway));
      expansion.children.then(resolve, reject);
      this.look();
    });
  }

  /** Whether a simulation passes a node by rather than wait for what is under way there. */
  passes(node: SearchNode<State, Action>): boolean {
    const expansion = this.#expansions.get(node);
    return expansion?.isPassed === true && !expansion.isOnlyWay;
  }

  /** Says that there is nothing else to do than to wait for it. */
  keep(node: SearchNode<State, Action>): void {
    const expansion = this.#expansions.get(node);
    if (expansion !== undefined) expansion.isOnlyWay = true;
  }

  /** Counts a simulation as ended: what it brought may be something else to do. */
  end(): void {
    this.#ended++;
    this.looks++;
    for (const expansion of this.#expansions.values()) {
      if (!expansion.isPassed) continue;
      expansion.isOnlyWay = false;
      this.#recall(expansion);
    }
  }

  /** Has the expansions passed by that are out, where they hold up all who could bring the search on. */
  look(): void {
    if (this.#slots === 1 || !this.holdsUp(this.busy())) return;
    let isNew = false;
    for (const expansion of this.#expansions.values()) {
      if (expansion.isPassed || !this.#isLate(expansion)) continue;
      isNew = true;
      expansion.isPassed = true;
      this.#recall(expansion);
    }
    if (!isNew) return;
    this.looks++;
    this.wakeNext();
    this.wakeResting();
  }

  /** Whether expansions hold up that number. */
  holdsUp(simulations: number): boolean {
    let held = this.#expansions.size;
    for (const { recall } of this.#expansions.values()) held += recall.length;
    return held > 0 && held >= simulations;
  }

  /** Whether that number of simulations belong to late expansions, where nobody else is left to end. */
  holdsUpAll(simulations: number): boolean {
    const all = [...this.#expansions.values()];
    return simulations <= all.length && all.every((each) => this.#isLate(each, leastEnds));
  }

  #isLate({ began }: Expansion<State, Action>, most = Number.POSITIVE_INFINITY): boolean {
    const isOnly = this.#expansions.size === 1;
    return this.#ended - began >= Math.min(this.patience, isOnly ? leastEnds : most);
  }

  #recall({ recall }: Expansion<State, Action>): void {
    for (const turnAway of recall.splice(0)) turnAway();
  }
}
