import type { SearchNode } from '../contracts/node.ts';

/** Rejects a simulation that could only wait: it is handed back, and starts again elsewhere. */
export const turnedAway: Error = new Error(
  'The simulation is handed back: what it waits for is slow.',
);

type Children<State, Action> = Promise<readonly SearchNode<State, Action>[]>;

/**
 * If no other simulations may be left to finish, an expansion is late once this many others have ended since it began.
 */
const leastEnds = 2;

interface Expansion<State, Action> {
  readonly children: Children<State, Action>;
  /** The number of simulations that had ended when it began. */
  readonly began: number;
  /** Functions that turn away the simulations that share it. */
  readonly recall: (() => void)[];
  /** Whether other simulations bypass it. */
  isPassed: boolean;
  /** Whether a simulation waits for it because there is nothing else to do. */
  isOnlyWay: boolean;
}

/**
 * The expansions in flight, and the simulations that each holds up. Once they hold up every simulation that could make
 * progress, other simulations bypass those nodes and waiting ones look again. Decisions never depend on the clock, so a
 * replay repeats them.
 */
export class Crowd<State, Action> {
  readonly #expansions = new Map<SearchNode<State, Action>, Expansion<State, Action>>();
  readonly #slots: number;
  /** The number of simulations that have ended. */
  #ended = 0;
  /** Counts the reasons to look again: a simulation ended, or more expansions are bypassed. */
  looks = 0;
  /** The number of other simulations that must end during an expansion before it is late. */
  patience = 0;
  /**
   * The number of simulations in flight or about to start that are not waiting for a result: those making progress and
   * those held up.
   */
  busy: () => number = () => Number.POSITIVE_INFINITY;
  /** Lets the next simulation that waits for results of others look again. */
  wakeNext: () => void = () => {};
  /** Wakes the simulations that rest because they made no call. */
  wakeResting: () => void = () => {};

  /** @param slots - The maximum number of simulations in flight. With one, it always waits for its own expansion. */
  constructor(slots: number) {
    this.#slots = slots;
  }

  has(node: SearchNode<State, Action>): boolean {
    return this.#expansions.has(node);
  }

  /** Registers an expansion, which holds up the simulation that requested it until it settles. */
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

  /** Waits for an expansion in flight, until it is bypassed because it holds up every simulation. */
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

  /** Whether simulations bypass a node rather than wait for its expansion. */
  passes(node: SearchNode<State, Action>): boolean {
    const expansion = this.#expansions.get(node);
    return expansion?.isPassed === true && !expansion.isOnlyWay;
  }

  /** Records that there is nothing else to do than wait for it. */
  keep(node: SearchNode<State, Action>): void {
    const expansion = this.#expansions.get(node);
    if (expansion !== undefined) expansion.isOnlyWay = true;
  }

  /** Counts a simulation as ended: its result may have made other work available. */
  end(): void {
    this.#ended++;
    this.looks++;
    for (const expansion of this.#expansions.values()) {
      if (!expansion.isPassed) continue;
      expansion.isOnlyWay = false;
      this.#recall(expansion);
    }
  }

  /** Bypasses late expansions if they hold up every simulation that could make progress. */
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

  /** Whether expansions hold up at least this many simulations. */
  holdsUp(simulations: number): boolean {
    let held = this.#expansions.size;
    for (const { recall } of this.#expansions.values()) held += recall.length;
    return held > 0 && held >= simulations;
  }

  /** Whether this many simulations all belong to late expansions, with no others left to finish. */
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
