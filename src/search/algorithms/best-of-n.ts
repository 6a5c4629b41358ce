import { canonicalJson } from '../../base/canonical-json.ts';
import { expectation, expectFunction, expectInteger, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { placeOf } from '../../base/stats/place-of.ts';
import type { Random } from '../../contracts/context.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { isClosed, isOut, subtree } from '../../tree/selection.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type {
  SearchAlgorithm,
  SearchContext,
  Simulation,
  SimulationOutcome,
} from '../contracts.ts';
import { answerOf } from '../election.ts';
import type { AlgorithmEntry } from './entry.ts';
import { adaptiveConsistency, esc, type StoppingRule } from './stopping-rules.ts';

/** Options of {@link bestOfN}. */
export interface BestOfNOptions {
  /** The number of trajectories. @defaultValue as many as the budget allows */
  readonly n?: number;
  /** The longest trajectory, in edges. @defaultValue 64 */
  readonly maxDepth?: number;
  /**
   * Which end is chosen: the one with the `best` score; by `majority`, one with the most frequent answer, which is
   * self-consistency and needs no evaluator; or by a vote `weighted` by score. Votes need an environment with an
   * `answer`.
   *
   * @defaultValue `'best'`
   */
  readonly choose?: 'best' | 'majority' | 'weighted';
  /**
   * When a vote is settled before `n` is reached: {@link esc} or {@link adaptiveConsistency}.
   *
   * @defaultValue never
   */
  readonly until?: StoppingRule;
}

/**
 * Best of N: draws N independent trajectories from the policy and keeps the one with the best end. The
 * baseline that every search has to beat at equal cost.
 *
 * Each step draws one action, independently of earlier draws; equal actions share one node, so visits count draws. If
 * the policy lists actions instead of sampling them, the first draws at a node cover all of them.
 *
 * `choose: 'majority'` is self-consistency, which `until` can stop early. `n: 1` is one chain of thought, greedy if the
 * policy samples at temperature 0; its end is chosen regardless of its value, without asking the evaluator.
 *
 * @see Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", 2023, for votes; Li et
 * al., "Making Language Models Better Reasoners with Step-Aware Verifier", 2023, for weighted ones.
 */
export function bestOfN(options: BestOfNOptions = {}): SearchAlgorithm {
  expectOptions('bestOfN', options, 'n maxDepth choose until');
  const { until, choose = until === undefined ? 'best' : 'majority' } = options;
  const { n = Number.POSITIVE_INFINITY, maxDepth = 64 } = options;
  expectInteger('n', n, { min: 1, max: Number.POSITIVE_INFINITY });
  expectInteger('maxDepth', maxDepth, { min: 1, max: Number.POSITIVE_INFINITY });
  expectOneOf('choose', choose, ['best', 'majority', 'weighted']);
  if (until !== undefined) expectFunction('until', until);
  if (until !== undefined && choose === 'best') {
    throw expectation('choose', "'majority' or 'weighted' beside `until`", choose);
  }

  return {
    name: 'best-of-n',
    concurrency: 'any',
    laws: ['visits', 'values', 'simulations'],
    async run<State, Action>(
      tree: SearchTree<State, Action>,
      context: SearchContext<State, Action>,
    ): Promise<void> {
      // Voting without an environment that has answers is refused here, before anything is spent.
      if (choose !== 'best') context.conclude({ votes: [] });
      const poll = new Poll(tree, context, until);
      // If all ends have equal votes, or there is only one, a score would decide nothing.
      const isUnscored = choose === 'majority' || (choose === 'best' && n === 1);
      const draw = { tree, context, poll, maxDepth, isUnscored, idle: new Idle(context) };
      if (poll.decisive === undefined) {
        await context.simulate((simulation) => drawOne(draw, simulation), { limit: n });
      }
      if (choose !== 'best') context.conclude({ votes: votesOf(tree, choose, poll.decisive) });
    },
  };
}

interface Draw<State, Action> {
  readonly tree: SearchTree<State, Action>;
  readonly context: SearchContext<State, Action>;
  readonly poll: Poll<State, Action>;
  readonly maxDepth: number;
  /** Whether no end needs a score. */
  readonly isUnscored: boolean;
  readonly idle: Idle;
}

/** Ends the search after this many failed, free draws in a row: no budget would end it. */
const mostIdle = 50;

/** Counts consecutive draws that failed and cost nothing, such as calls that a server refuses. */
class Idle {
  readonly #context: Pick<SearchContext<unknown, unknown>, 'remaining'>;
  #left: string;
  #draws = 0;

  constructor(context: Pick<SearchContext<unknown, unknown>, 'remaining'>) {
    this.#context = context;
    this.#left = this.#now();
  }

  /** Records a failed draw. */
  lost(): SimulationOutcome {
    const left = this.#now();
    this.#draws = left === this.#left ? this.#draws + 1 : 1;
    this.#left = left;
    return this.#draws < mostIdle ? 'continue' : 'exhausted';
  }

  #now(): string {
    const { tokens, usd } = this.#context.remaining;
    return `${tokens} ${usd}`;
  }
}

/** One trajectory. */
async function drawOne<State, Action>(
  { tree, context, poll, maxDepth, isUnscored, idle }: Draw<State, Action>,
  simulation: Simulation<State, Action>,
): Promise<SimulationOutcome> {
  if (isClosed(tree.cursor)) return 'exhausted';
  const end = await walk(tree, context, { simulation, maxDepth });
  if (end === undefined) return idle.lost();
  if (!isUnscored) await context.evaluate([end]);
  if (end.status === 'failed') return idle.lost();
  tree.backup(end, { outcome: isUnscored ? 0 : undefined });
  return poll.add(end) ? 'solved' : 'continue';
}

/** All ends in the order in which they were drawn, and those that decide the vote by the stopping rule. */
class Poll<State, Action> {
  /** The draws that decide; `undefined` while none do. */
  decisive: readonly SearchNode<State, Action>[] | undefined;
  readonly #ends: SearchNode<State, Action>[] = [];
  readonly #answers: (string | undefined)[] = [];
  readonly #answerOf: (end: SearchNode<State, Action>) => string | undefined;
  readonly #until: StoppingRule | undefined;

  /** Adds the ends drawn earlier, perhaps by a search that this one continues. */
  constructor(
    tree: SearchTree<State, Action>,
    { environment }: SearchContext<State, Action>,
    until: StoppingRule | undefined,
  ) {
    this.#answerOf = (end) => {
      const answer = answerOf(end, environment, tree);
      return answer === undefined ? undefined : canonicalJson('answer', answer);
    };
    this.#until = until;
    if (until === undefined) return;
    const below = new Set(subtree(tree.cursor));
    for (const { leaf, return: worth } of tree.log) {
      const end = tree.node(leaf);
      if (worth !== undefined && end.children.length === 0 && below.has(end)) this.add(end);
    }
  }

  /** @returns whether enough have been drawn */
  add(end: SearchNode<State, Action>): boolean {
    if (this.#until === undefined || this.decisive !== undefined) return false;
    this.#ends.push(end);
    this.#answers.push(this.#answerOf(end));
    const count = this.#until(this.#answers);
    if (count > 0) this.decisive = this.#ends.slice(-count);
    return count > 0;
  }
}

/** Draws a trajectory to its end; `undefined` if a draw failed, which ends only this trajectory. */
async function walk<State, Action>(
  tree: SearchTree<State, Action>,
  context: SearchContext<State, Action>,
  {
    simulation,
    maxDepth,
  }: { readonly simulation: Simulation<State, Action>; readonly maxDepth: number },
): Promise<SearchNode<State, Action> | undefined> {
  let node = tree.cursor;
  while (isInner(node) && node.depth < maxDepth) {
    const next = drawByPrior(await draw(node, context), simulation.random);
    if (next === undefined) return undefined;
    await context.realise([next]);
    node = simulation.visit(tree.original(next));
  }
  return node;
}

/** The ends of all trajectories: each votes as often as it was drawn, weighted by its score if scores count. */
function votesOf<State, Action>(
  tree: SearchTree<State, Action>,
  choose: 'majority' | 'weighted',
  decisive: readonly SearchNode<State, Action>[] | undefined,
) {
  return [...subtree(tree.cursor)]
    .filter(({ visits, children }) => visits > 0 && children.length === 0)
    .map((node) => {
      const draws = decisive?.filter((end) => end === node).length ?? node.visits;
      const score = choose === 'majority' ? 1 : (tree.score(node, 1) ?? 0);
      return { node, weight: Math.min(draws * Math.max(0, score), Number.MAX_VALUE) };
    });
}

/** Whether the trajectory can continue. Fully explored nodes may be visited again. */
function isInner({ status }: SearchNode): boolean {
  return status === 'open' || status === 'closed';
}

/**
 * The actions to continue with, usually one. A policy without independent samples offers each action once; once it has
 * no more, draws are from all of them.
 */
async function draw<State, Action>(
  node: SearchNode<State, Action>,
  context: SearchContext<State, Action>,
): Promise<readonly SearchNode<State, Action>[]> {
  const drawn = node.complete ? [] : await context.expand(node, { count: 1, independent: true });
  if (drawn.length > 0 || !node.complete) return drawn;
  return node.children.filter((child) => !isOut(child));
}

/** Draws one of the nodes in proportion to its prior: a policy may return more actions than the one requested. */
function drawByPrior<State, Action>(
  nodes: readonly SearchNode<State, Action>[],
  random: Random,
): SearchNode<State, Action> | undefined {
  if (nodes.length < 2) return nodes[0];
  const priors = nodes.map(({ prior }) => prior);
  const share = random.next() * priors.reduce((sum, prior) => sum + prior, 0);
  return nodes.at(placeOf(priors, share));
}

/** List entries of best-of-N and its special cases: a single path, and votes with stopping rules. */
export const bestOfNEntries: readonly AlgorithmEntry[] = [
  {
    name: 'adaptive-consistency',
    title: 'votes, until the first answer is sure to stay ahead',
    paper: "Aggarwal et al., Let's Sample Step by Step: Adaptive-Consistency, 2023",
    paths: 40,
    votes: true,
    create: () => bestOfN({ n: 40, until: adaptiveConsistency() }),
  },
  {
    name: 'best-of-n',
    title: 'independent trajectories, of which the best is taken',
    isIndependent: true,
    create: () => bestOfN(),
  },
  {
    name: 'chain-of-thought',
    title: 'one trajectory, as the policy samples it',
    paper:
      'Wei et al., Chain-of-Thought Prompting Elicits Reasoning in Large Language Models, 2022',
    paths: 1,
    create: () => bestOfN({ n: 1 }),
  },
  {
    name: 'esc',
    title: 'votes, until five in a row agree',
    paper: 'Li et al., Escape Sky-high Cost: Early-stopping Self-Consistency, 2024',
    paths: 40,
    votes: true,
    create: () => bestOfN({ n: 40, until: esc() }),
  },
  {
    name: 'greedy',
    title: 'one trajectory at temperature 0',
    temperature: 0,
    paths: 1,
    create: () => bestOfN({ n: 1 }),
  },
  {
    name: 'self-consistency',
    title: 'independent trajectories that vote for their answers',
    paper:
      'Wang et al., Self-Consistency Improves Chain of Thought Reasoning in Language Models, 2023',
    isIndependent: true,
    votes: true,
    create: () => bestOfN({ choose: 'majority' }),
  },
];
