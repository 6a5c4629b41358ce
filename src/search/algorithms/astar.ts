import { expectation, expectFunction, expectInteger, expectNumber } from '../../runtime/expect.ts';
import type { Heuristic } from '../../spec/evaluator.ts';
import type { SearchNode } from '../../spec/node.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type { SearchAlgorithm, SearchContext, SimulationOutcome } from '../contracts.ts';
import { Frontier } from './frontier.ts';

/** Options of {@link astar}. */
export interface AstarOptions<State> {
  /** h(s), the cost still to come. @defaultValue 1 − v(s), asked of the evaluator */
  readonly heuristic?: Heuristic<State>;
  /**
   * Whether h never overestimates. Only then does the search claim that its answer is optimal.
   *
   * @defaultValue false
   */
  readonly admissible?: boolean;
  /**
   * c(s, a) ≥ 0, the cost of the edge that leads to a node.
   *
   * @defaultValue 1 with a heuristic; 0 without, which is best-first search on the value
   */
  readonly cost?: (node: SearchNode) => number;
  /** The weight of h. Above 1 it finds faster and claims no optimality. @defaultValue 1 */
  readonly weight?: number;
  /** Which nodes are goals. @defaultValue terminal ones with a positive reward or none */
  readonly goal?: (node: SearchNode) => boolean;
  /** How many actions to ask for. @defaultValue all that the policy has */
  readonly width?: number;
}

/**
 * A*: expands the node with the least `f = g + h`, cost so far plus cost to come, until that node is a
 * goal. Equal f: the least h first, then the first proposed.
 *
 * A state that was reached before is kept only on its cheapest path; where a cheaper path comes later,
 * the state is opened again, so that h need not be consistent. With an admissible h the answer is the
 * cheapest among all paths that the policy proposes, and `result.optimal` says so.
 *
 * @see Hart, Nilsson, Raphael, "A Formal Basis for the Heuristic Determination of Minimum Cost Paths",
 * 1968; Pohl, "Heuristic search viewed as path finding in a graph", 1970, for the weight.
 */
export function astar<State = unknown>(options: AstarOptions<State> = {}): SearchAlgorithm {
  const { heuristic, admissible = false, weight = 1, goal = isGoal } = options;
  const { cost = heuristic === undefined ? () => 0 : () => 1 } = options;
  const { width = Number.POSITIVE_INFINITY } = options;
  if (heuristic !== undefined) expectFunction('heuristic', heuristic);
  if (admissible && heuristic === undefined) {
    throw expectation('admissible', 'false without a heuristic', admissible);
  }
  expectFunction('cost', cost);
  expectFunction('goal', goal);
  expectNumber('weight', weight, { min: 0 });
  expectInteger('width', width, { min: 1, max: Number.POSITIVE_INFINITY });

  const rules: Rules = {
    heuristic: heuristic as Heuristic<unknown> | undefined,
    cost,
    weight,
    goal,
    width,
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

interface Rules {
  readonly heuristic: Heuristic<unknown> | undefined;
  readonly cost: (node: SearchNode) => number;
  readonly weight: number;
  readonly goal: (node: SearchNode) => boolean;
  readonly width: number;
  readonly optimal: boolean;
}

function isGoal({ terminal, reward }: SearchNode): boolean {
  return terminal && (reward === undefined || reward > 0);
}

/** The open and the closed set of one run. Both can be read off the tree, where g and h are noted. */
class AstarSearch<State, Action> {
  readonly #tree: SearchTree<State, Action>;
  readonly #context: SearchContext<State, Action>;
  readonly #rules: Rules;
  readonly #frontier = new Frontier<SearchNode<State, Action>>();
  /** The cheapest node of each state that was reached. */
  readonly #cheapest = new Map<string, SearchNode<State, Action>>();
  /** f of the nodes that are being expanded. */
  readonly #underWay = new Map<SearchNode<State, Action>, number>();
  #leastToGo = Number.POSITIVE_INFINITY;
  #concluded = false;

  constructor(
    tree: SearchTree<State, Action>,
    context: SearchContext<State, Action>,
    rules: Rules,
  ) {
    this.#tree = tree;
    this.#context = context;
    this.#rules = rules;
  }

  /** Reads the open and the closed set off the tree. */
  async open(): Promise<void> {
    const { cursor } = this.#tree;
    if (cursor.annotations['g'] === undefined) await this.#enter([cursor], 0);
    else for (const node of this.#tree.nodes()) if (isWithin(node, cursor)) this.#readmit(node);
  }

  async step(visit: (node: SearchNode<State, Action>) => void): Promise<SimulationOutcome> {
    // The first goal to come out is the cheapest. Another simulation may begin before that is heard of.
    if (this.#concluded) return 'waiting';
    const node = this.#frontier.pop();
    // Whoever is expanding a node may still bring something.
    if (node === undefined) return 'waiting';
    const f = this.#priority(node).f;
    if (this.#rules.goal(node)) {
      if ([...this.#underWay.values()].some((other) => other < f)) {
        this.#frontier.push(node, this.#priority(node));
        return 'waiting';
      }
      this.#tree.conclude(node, { optimal: this.#rules.optimal && this.#isSound() });
      this.#concluded = true;
      return 'solved';
    }
    visit(node);
    this.#prefer(node);
    this.#underWay.set(node, f);
    try {
      await this.#expand(node);
    } finally {
      this.#underWay.delete(node);
    }
    return 'continue';
  }

  async #expand(node: SearchNode<State, Action>): Promise<void> {
    if (node.status !== 'open') return;
    const children = await this.#context.expand(node, { count: this.#rules.width });
    await this.#context.realise(children);
    await this.#enter(children, this.#g(node));
  }

  /** Notes g and h of new nodes and opens those that are the cheapest way to their state. */
  async #enter(nodes: readonly SearchNode<State, Action>[], g: number): Promise<void> {
    const { heuristic, cost } = this.#rules;
    if (heuristic === undefined) {
      // The value of the start decides nothing, and is not paid for.
      const { cursor } = this.#tree;
      await this.#context.evaluate(nodes.filter((node) => node !== cursor));
    }
    for (const node of nodes) {
      if (node.status === 'failed' || node.status === 'pruned') continue;
      const edge = node.kind === 'root' ? 0 : numberFrom('cost', cost(node));
      const h =
        heuristic === undefined ? remainder(node) : numberFrom('heuristic', heuristic(node.state));
      this.#tree.annotate(node, { g: g + edge, h: Number.isFinite(h) ? h : null });
      this.#admit(node);
    }
  }

  #admit(node: SearchNode<State, Action>): void {
    const key = this.#context.key(node);
    const rival = key === undefined ? undefined : this.#cheapest.get(key);
    // A dead end is left as it is: it has nothing to expand, and its siblings want to be told from it.
    if (node.terminal && !this.#rules.goal(node)) return;
    const hopeless = node.annotations['h'] === null;
    if (hopeless || (rival !== undefined && this.#g(rival) <= this.#g(node))) {
      this.#tree.prune(node);
      return;
    }
    // The dearer node of this state leaves the frontier; its children will be undercut in their turn.
    if (rival !== undefined && rival.status === 'open') this.#tree.prune(rival);
    if (key !== undefined) this.#cheapest.set(key, node);
    this.#frontier.push(node, this.#priority(node));
  }

  #readmit(node: SearchNode<State, Action>): void {
    if (node.status === 'failed' || node.status === 'pruned') return;
    if (node.annotations['g'] === undefined) return;
    const key = this.#context.key(node);
    const rival = key === undefined ? undefined : this.#cheapest.get(key);
    if (key !== undefined && (rival === undefined || this.#g(node) < this.#g(rival))) {
      this.#cheapest.set(key, node);
    }
    const isDeadEnd = node.terminal && !this.#rules.goal(node);
    if (node.children.length === 0 && !isDeadEnd) this.#frontier.push(node, this.#priority(node));
  }

  #priority(node: SearchNode<State, Action>): { f: number; h: number; id: number } {
    const h = Number(node.annotations['h']);
    return { f: this.#g(node) + this.#rules.weight * h, h, id: node.id };
  }

  #g(node: SearchNode<State, Action>): number {
    return Number(node.annotations['g']);
  }

  /** Of the nodes that were worth expanding, the one with the least to go is the best so far. */
  #prefer(node: SearchNode<State, Action>): void {
    const { h } = this.#priority(node);
    if (h >= this.#leastToGo) return;
    this.#leastToGo = h;
    this.#tree.prefer(node);
  }

  /** What failed may have hidden a better path, and then nothing is proved. */
  #isSound(): boolean {
    // Below a cursor that has moved, states are missing that were reached more cheaply elsewhere.
    if (this.#tree.cursor.kind !== 'root') return false;
    for (const { status, annotations } of this.#tree.nodes()) {
      if (status === 'failed' || annotations['failedProposals'] !== undefined) return false;
    }
    return true;
  }
}

function isWithin(node: SearchNode, top: SearchNode): boolean {
  let above: SearchNode | undefined = node;
  while (above !== undefined && above.depth > top.depth) above = above.parent;
  return above === top;
}

/** 1 − v(s): nothing is left to do where a goal was rewarded. */
function remainder({ terminal, reward, rawValue }: SearchNode): number {
  return terminal && reward !== undefined ? 0 : 1 - (rawValue ?? 0);
}

function numberFrom(name: string, value: number): number {
  if (value >= 0 && (name === 'heuristic' || Number.isFinite(value))) return value;
  throw expectation(name, 'a function that returns numbers from 0 up', value);
}
