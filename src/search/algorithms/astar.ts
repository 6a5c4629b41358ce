import {
  expectation,
  expectBounds,
  expectFunction,
  expectNumber,
  wrongResult,
} from '../../base/expect.ts';
import { expectGoal } from '../../base/expect-goal.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Heuristic } from '../../contracts/evaluator.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { notesOf } from '../../tree/notes.ts';
import { isOut } from '../../tree/selection.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type { SearchAlgorithm, SearchContext, SimulationOutcome } from '../contracts.ts';
import type { AlgorithmEntry } from './entry.ts';
import { Frontier } from './frontier.ts';
import { isGoal } from './is-goal.ts';

/** Options of {@link astar}. */
export interface AstarOptions<State> {
  /** h(s), the estimated remaining cost. @defaultValue 1 − v(s) from the evaluator */
  readonly heuristic?: Heuristic<State>;
  /**
   * Whether h never overestimates. The search claims an optimal answer only if so.
   *
   * @defaultValue false
   */
  readonly admissible?: boolean;
  /**
   * c(s, a) ≥ 0, the cost of the edge that leads to a node.
   *
   * @defaultValue the `cost` of the environment's transition; if it gives none, 1 with a heuristic and 0 without, which
   * is best-first search on the value
   */
  readonly cost?: (node: SearchNode) => number;
  /** The weight of h. Above 1 the search is faster and claims no optimality. @defaultValue 1 */
  readonly weight?: number;
  /** Whether a node is a goal. @defaultValue terminal nodes with a positive reward or no reward */
  readonly goal?: (node: SearchNode) => boolean;
  /** How many actions to ask for. @defaultValue all that the policy has */
  readonly width?: number;
  /** The longest path, in edges: an integer from 1 up. @defaultValue no limit */
  readonly maxDepth?: number;
}

/**
 * A*: expands the node with the least `f = g + h`, cost so far plus cost to come, until that node is a
 * goal. Ties go to the least h, then to the first proposed.
 *
 * A state is kept only on its cheapest path; if a cheaper path appears later, the state is reopened, so h need not be
 * consistent. With an admissible h the answer is the cheapest among all paths that the policy proposes, and
 * `result.optimal` says so.
 *
 * @see Hart, Nilsson, Raphael, "A Formal Basis for the Heuristic Determination of Minimum Cost Paths",
 * 1968; Pohl, "Heuristic search viewed as path finding in a graph", 1970, for the weight.
 */
export function astar<State = any, Action = any>(
  options: AstarOptions<State> = {},
): SearchAlgorithm<State, Action> {
  expectOptions('astar', options, 'heuristic admissible cost weight goal width maxDepth');
  const { heuristic, admissible = false, weight = 1, goal = isGoal } = options;
  const step = heuristic === undefined ? 0 : 1;
  const { cost = (node: SearchNode) => node.cost ?? step } = options;
  const { width = Number.POSITIVE_INFINITY, maxDepth = Number.POSITIVE_INFINITY } = options;
  if (heuristic !== undefined) expectFunction('heuristic', heuristic);
  if (admissible && heuristic === undefined) {
    throw expectation('admissible', 'false without a heuristic', admissible);
  }
  expectFunction('cost', cost);
  expectNumber('weight', weight, { min: 0 });
  expectBounds({ width, maxDepth });

  const rules: Rules = {
    heuristic: heuristic as Heuristic<unknown> | undefined,
    cost,
    weight,
    goal: expectGoal(goal),
    width,
    maxDepth,
    optimal: admissible && weight <= 1,
  };
  return {
    name: 'astar',
    concurrency: 'any',
    laws: [],
    async run<S, A>(tree: SearchTree<S, A>, context: SearchContext<S, A>): Promise<void> {
      const search = new AstarSearch(tree, context, rules);
      await search.open();
      await context.simulate((simulation) => search.step((node) => simulation.visit(node)));
    },
  };
}

/** What A* notes at a node. */
interface AstarNote {
  /** The cost so far. */
  readonly g: number;
  /** The cost to come; `null` for a node without hope, because JSON knows no Infinity. */
  readonly h: number | null;
  /** Only at the cursor: whether an earlier search used other costs or estimates. */
  readonly otherCosts?: boolean;
}

const notes = notesOf<AstarNote>('astar');

interface Rules {
  readonly heuristic: Heuristic<unknown> | undefined;
  readonly cost: (node: SearchNode) => number;
  readonly weight: number;
  readonly goal: (node: SearchNode) => boolean;
  readonly width: number;
  readonly maxDepth: number;
  readonly optimal: boolean;
}

/**
 * The open and closed sets of one run. Both are read from the tree, where g and h are noted, so that a resumed search
 * behaves exactly like one that was never interrupted.
 */
class AstarSearch<State, Action> {
  readonly #tree: SearchTree<State, Action>;
  readonly #context: SearchContext<State, Action>;
  readonly #rules: Rules;
  readonly #frontier = new Frontier<SearchNode<State, Action>>();
  /** The cheapest node of each state reached. */
  readonly #cheapest = new Map<string, SearchNode<State, Action>>();
  /** f of the nodes that are being expanded. */
  readonly #underWay = new Map<SearchNode<State, Action>, number>();

  constructor(
    tree: SearchTree<State, Action>,
    context: SearchContext<State, Action>,
    rules: Rules,
  ) {
    this.#tree = tree;
    this.#context = context;
    this.#rules = rules;
  }

  /** Reads the open and closed sets from the tree. */
  async open(): Promise<void> {
    const { cursor } = this.#tree;
    if (!isEntered(cursor)) return this.#enter([cursor], 0);
    const within = new Set<SearchNode<State, Action>>([cursor]);
    for (const node of this.#tree.nodes()) {
      if (node.parent !== undefined && within.has(node.parent)) within.add(node);
      if (within.has(node)) this.#readmit(node);
    }
    // Proposed children whose steps were interrupted, or are to be retried.
    for (const node of within) if (isEntered(node)) await this.#enter(node.children, gOf(node));
  }

  async step(visit: (node: SearchNode<State, Action>) => void): Promise<SimulationOutcome> {
    const node = this.#frontier.pop();
    // A node being expanded may still add to the frontier.
    if (node === undefined) return 'waiting';
    const { f } = this.#priority(node);
    if (this.#rules.goal(node)) {
      if ([...this.#underWay.values()].some((other) => other < f)) {
        this.#frontier.push(node, this.#priority(node));
        return 'waiting';
      }
      const optimal = this.#rules.optimal && this.#isSound(gOf(node));
      this.#context.conclude({ node, optimal });
      return 'continue';
    }
    visit(node);
    this.#prefer(node);
    this.#underWay.set(node, f);
    try {
      if (!node.complete) await this.#context.expand(node, { count: this.#rules.width });
      await this.#enter(node.children, gOf(node));
    } finally {
      this.#underWay.delete(node);
    }
    return 'continue';
  }

  /** Notes g and h of new nodes and opens those that are on the cheapest path to their state. */
  async #enter(nodes: readonly SearchNode<State, Action>[], g: number): Promise<void> {
    const fresh = nodes.filter((node) => !isEntered(node));
    await this.#context.realise(fresh);
    for (const node of fresh) if (this.#isAnotherWay(node)) this.#tree.reopen(node);
    if (this.#rules.heuristic === undefined) {
      // The value of the start decides nothing, so it is not paid for.
      const { cursor } = this.#tree;
      await this.#context.evaluate(fresh.filter((node) => node !== cursor));
    }
    for (const node of fresh) {
      if (isOut(node)) continue;
      this.#note(node, g + this.#edge(node));
      this.#admit(node);
    }
  }

  /** Whether a node was merged into a sibling that is reached at a different cost. */
  #isAnotherWay(node: SearchNode<State, Action>): boolean {
    const original = this.#tree.original(node);
    return original !== node && this.#edge(original) !== this.#edge(node);
  }

  #edge(node: SearchNode<State, Action>): number {
    return node.kind === 'root' ? 0 : numberFrom('cost', this.#rules.cost(node));
  }

  /** Notes g and h. @returns whether the same values were already noted */
  #note(node: SearchNode<State, Action>, g: number): boolean {
    const { heuristic } = this.#rules;
    const estimate =
      heuristic === undefined ? remainder(node) : numberFrom('heuristic', heuristic(node.state));
    const h = Number.isFinite(estimate) ? estimate : null;
    const known = notes.at(node);
    if (known?.g === g && known.h === h) return true;
    notes.write(this.#tree, node, { ...known, g, h });
    return false;
  }

  #admit(node: SearchNode<State, Action>): void {
    const key = this.#context.key(node);
    const rival = key === undefined ? undefined : this.#cheapest.get(key);
    // A dead end is not pruned: it cannot be expanded anyway, and training data needs it to contrast with its siblings.
    if (node.terminal && !this.#rules.goal(node)) return;
    if (this.#isCutOff(node)) return;
    const isHopeless = hOf(node) === Number.POSITIVE_INFINITY;
    if (isHopeless || (rival !== undefined && gOf(rival) <= gOf(node))) {
      this.#tree.prune(node, isHopeless ? 'hopeless' : 'dominated');
      return;
    }
    // The more expensive node of this state leaves the frontier; its descendants are superseded in turn.
    if (rival !== undefined && rival.status === 'open') this.#tree.prune(rival, 'dominated');
    if (key !== undefined) this.#cheapest.set(key, node);
    this.#frontier.push(node, this.#priority(node));
  }

  /** Closes a node at the depth limit, unless it is a goal. Such a node does not dominate other paths to its state. */
  #isCutOff(node: SearchNode<State, Action>): boolean {
    const { maxDepth, goal } = this.#rules;
    const isTooDeep = node.depth >= maxDepth && !goal(node);
    if (isTooDeep) this.#tree.complete(node);
    return isTooDeep;
  }

  #readmit(node: SearchNode<State, Action>): void {
    const { parent, status } = node;
    if (status === 'pruned' || !isEntered(node)) return;
    const isStart = node === this.#tree.cursor || parent === undefined;
    const isNoted = this.#note(node, isStart ? gOf(node) : gOf(parent) + this.#edge(node));
    // Nodes pruned under other costs or estimates may be on the cheapest path under these.
    if (!isNoted) this.#distrust(this.#tree.cursor);
    if (node.terminal && !this.#rules.goal(node)) return;
    if (node.children.length === 0 && this.#isCutOff(node)) return;
    const key = this.#context.key(node);
    const rival = key === undefined ? undefined : this.#cheapest.get(key);
    if (key !== undefined && (rival === undefined || gOf(node) < gOf(rival))) {
      this.#cheapest.set(key, node);
    }
    if (node.children.length === 0) this.#frontier.push(node, this.#priority(node));
  }

  #distrust(cursor: SearchNode<State, Action>): void {
    notes.write(this.#tree, cursor, { g: gOf(cursor), h: hOf(cursor), otherCosts: true });
  }

  #priority(node: SearchNode<State, Action>): { f: number; h: number; id: number } {
    const h = hOf(node);
    return { f: gOf(node) + this.#rules.weight * h, h, id: node.id };
  }

  /** Among expanded nodes, the one with the smallest h is the best so far. */
  #prefer(node: SearchNode<State, Action>): void {
    const { preferred } = this.#tree;
    const isBetter =
      preferred === undefined ||
      !isEntered(preferred) ||
      this.#priority(node).h < this.#priority(preferred).h;
    if (isBetter) this.#tree.prefer(node);
  }

  /** Whether no failed or unseen node may hide a cheaper path than the one found. */
  #isSound(cost: number): boolean {
    const { cursor } = this.#tree;
    // If the cursor has moved, states that were reached more cheaply outside its subtree are missing below it.
    if (cursor.kind !== 'root' || notes.at(cursor)?.otherCosts === true) return false;
    for (const node of this.#tree.nodes()) {
      if (mayHide(node) && leastCost(node) < cost) return false;
    }
    return true;
  }
}

/** Whether g and h of a node are known. */
function isEntered(node: SearchNode): boolean {
  return notes.at(node) !== undefined;
}

function gOf(node: SearchNode): number {
  return notes.at(node)?.g ?? Number.NaN;
}

function hOf(node: SearchNode): number {
  return notes.at(node)?.h ?? Number.POSITIVE_INFINITY;
}

/** Whether a node may hide unexplored paths. A state without actions hides none. */
function mayHide(node: SearchNode): boolean {
  const { status, complete, children, failure, failedProposals, duplicateOf } = node;
  if (failedProposals.length > 0) return true;
  if (status === 'failed') return !(complete && failure?.kind === 'empty');
  // Closed without being explored, by a search with a smaller depth limit or one that set it aside.
  if (status === 'closed') return children.length === 0;
  return status === 'pruned' && !isEntered(node) && duplicateOf === undefined;
}

/**
 * A lower bound on the cost of a path through a node: f of its nearest ancestor, itself included, with known g and h.
 */
function leastCost(node: SearchNode): number {
  let known: SearchNode | undefined = node;
  while (known !== undefined && !isEntered(known)) known = known.parent;
  return known === undefined ? 0 : gOf(known) + hOf(known);
}

/** 1 − v(s), or 0 at a rewarded end. */
function remainder({ terminal, reward, rawValue }: SearchNode): number {
  return terminal && reward !== undefined ? 0 : 1 - (rawValue ?? 0);
}

function numberFrom(name: string, value: number): number {
  // A value from a plug-in may pass the comparison without being a number.
  if (typeof value === 'number' && value >= 0 && (name === 'heuristic' || Number.isFinite(value)))
    return value;
  throw wrongResult(name, value, { returns: 'numbers from 0 up' });
}

/** List entry of A*. The heuristics passed to it are admissible. */
export const astarEntry: AlgorithmEntry = {
  name: 'astar',
  title: 'A*, and best-first search on the values if there is no heuristic',
  paper:
    'Hart, Nilsson, Raphael, A Formal Basis for the Heuristic Determination of Minimum Cost Paths, 1968',
  proves: true,
  create: ({ heuristic }) =>
    heuristic === undefined ? astar() : astar({ heuristic, admissible: true }),
};
