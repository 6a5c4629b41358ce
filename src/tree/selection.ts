import {
  expectArray,
  expectation,
  expectBoolean,
  expectFunction,
  expectMethods,
  expectNumber,
  expectNumbers,
  expectObject,
  expectOneOf,
} from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Random } from '../contracts/context.ts';
import type { NodeStatistics, SearchNode } from '../contracts/node.ts';
import { type InFlight, virtualLoss } from './in-flight.ts';
import { betaBelief, expectAboveZero } from './posterior.ts';
import { type Explained, named } from './rules.ts';

/** The properties of the tree that a rule can see. */
export interface RuleView {
  /** γ, the discount of each edge. @defaultValue 1 */
  readonly discount?: number;
}

/** Scores the children of one parent; the highest score is selected. Pure except for the random source. */
export type SelectionRule = Explained &
  ((parent: NodeStatistics, random: Random, tree?: RuleView) => (child: NodeStatistics) => number);

/** The value that a rule uses in place of Q: normalised, or completed for unvisited children. */
export type QTransform = Pick<Explained, 'spec'> &
  ((parent: NodeStatistics, tree?: RuleView) => (child: NodeStatistics) => number);

/** Options of {@link uct}. */
export interface UctOptions {
  /** c, the weight of exploration. @defaultValue √2, for values in [0, 1] */
  readonly c?: number;
  /** The score of a child without visits, finished or in flight. @defaultValue `Infinity`: it comes first */
  readonly unvisited?: (child: NodeStatistics, tree?: RuleView) => number;
  /**
   * n₀, pseudo-visits of every child: a number from 0 up. Above 0, the formula applies to unvisited children too, with
   * their initial Q, and `unvisited` is not used.
   *
   * @defaultValue 0
   */
  readonly pseudoVisits?: number;
  /** How simulations in flight count. @defaultValue {@link virtualLoss} of 0 */
  readonly inFlight?: InFlight;
  /** What replaces Q. @defaultValue Q itself */
  readonly qtransform?: QTransform;
}

/**
 * UCB1 applied to trees: `Q + c · √(ln N(parent) / (n₀ + N(child)))`, with n₀ pseudo-visits.
 *
 * @see Kocsis and Szepesvári, "Bandit based Monte-Carlo Planning", 2006, section 2.3, with c = 2·Cp.
 */
export function uct(options: UctOptions = {}): SelectionRule {
  expectOptions('uct', options, 'c unvisited pseudoVisits inFlight qtransform');
  const { c = Math.SQRT2, pseudoVisits = 0, inFlight = virtualLoss(), qtransform } = options;
  const { unvisited = () => Number.POSITIVE_INFINITY } = options;
  expectNumbers({ c, pseudoVisits }, { min: 0 });
  expectFunctions({ unvisited, inFlight, qtransform });
  return ofTerms('uct', options, (parent, _random, tree) => {
    const logVisits = Math.log(Math.max(1, inFlight.visits(parent)));
    const transformed = qtransform?.(parent, tree);
    return (child, terms) => {
      const visits = inFlight.visits(child) + pseudoVisits;
      if (visits === 0) return sumOf(unvisited(child, tree), 0, terms);
      const value = inFlight.value(child, transformed?.(child) ?? knownValue(child, tree));
      return sumOf(value, c * Math.sqrt(logVisits / visits), terms);
    };
  });
}

/** Throws unless the functions of a bandit rule are functions. For callers without types. */
function expectFunctions({
  unvisited,
  inFlight,
  qtransform,
}: Readonly<Record<'inFlight' | 'qtransform' | 'unvisited', unknown>>): void {
  expectFunction('unvisited', unvisited);
  expectMethods('inFlight', inFlight, ['visits', 'value']);
  if (qtransform !== undefined) expectFunction('qtransform', qtransform);
}

/** The terms of a bandit rule. */
interface Terms {
  exploit: number;
  explore: number;
}

function sumOf(exploit: number, explore: number, terms: Terms | undefined): number {
  // `children.map(rule(parent))` passes an index here.
  if (typeof terms === 'object') {
    terms.exploit = exploit;
    terms.explore = explore;
  }
  return exploit + explore;
}

/** A rule that is the sum of two terms, which it reports on request. */
function ofTerms(
  name: string,
  options: object,
  rule: (
    parent: NodeStatistics,
    random: unknown,
    tree?: RuleView,
  ) => (child: NodeStatistics, terms?: Terms) => number,
): SelectionRule {
  const explain = (parent: NodeStatistics, discount: number) => {
    const rate = rule(parent, undefined, { discount });
    return (child: NodeStatistics) => {
      const terms = { exploit: 0, explore: 0 };
      return { total: rate(child, terms), terms };
    };
  };
  return named(name, options, Object.assign(rule, { explain }));
}

/** Options of {@link puct}. */
export interface PuctOptions {
  /** c_init, the weight of the prior at few visits. @defaultValue 1.25 */
  readonly cInit?: number;
  /** c_base: how many visits it takes for exploration to grow; with `Infinity` it never does. @defaultValue 19652 */
  readonly cBase?: number;
  /**
   * N(parent) as a function of the parent's visits, including those in flight. If leaves are evaluated themselves, one
   * of the visits ended at the parent; some papers count only those that continued below it.
   *
   * @defaultValue all visits
   */
  readonly parentVisits?: (visits: number) => number;
  /** Q of an unvisited child. @defaultValue {@link knownValue}: its reward and its own evaluation, else 0 */
  readonly unvisited?: (child: NodeStatistics, tree?: RuleView) => number;
  /** How simulations in flight count. @defaultValue {@link virtualLoss} of 0 */
  readonly inFlight?: InFlight;
  /** What replaces Q. @defaultValue Q itself */
  readonly qtransform?: QTransform;
}

/**
 * Predictor UCB as in AlphaZero:
 * `Q + [c_init + ln((N(parent) + c_base + 1) / c_base)] · P · √N(parent) / (1 + N(child))`.
 *
 * @see Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and Go
 * through self-play", 2018, supplementary materials, "Search".
 */
export function puct(options: PuctOptions = {}): SelectionRule {
  expectOptions('puct', options, 'cInit cBase parentVisits unvisited inFlight qtransform');
  const { cInit = 1.25, cBase = 19652, inFlight = virtualLoss(), qtransform } = options;
  const { parentVisits = (visits) => visits, unvisited = knownValue } = options;
  expectNumber('cInit', cInit, { min: 0 });
  if (cBase !== Number.POSITIVE_INFINITY) expectNumber('cBase', cBase, { min: 0 });
  expectFunction('parentVisits', parentVisits);
  expectFunctions({ unvisited, inFlight, qtransform });
  return ofTerms('puct', options, (parent, _random, tree) => {
    const visitsOfParent = parentVisits(inFlight.visits(parent));
    const weight = cInit + Math.log1p((visitsOfParent + 1) / cBase);
    const scale = weight * Math.sqrt(visitsOfParent);
    const transformed = qtransform?.(parent, tree);
    return (child, terms) => {
      const qvalue = child.visits === 0 ? unvisited(child, tree) : child.value;
      const value = inFlight.value(child, transformed?.(child) ?? qvalue);
      return sumOf(value, (scale * child.prior) / (1 + inFlight.visits(child)), terms);
    };
  });
}

/**
 * Q(s, a) as far as it is known: the backed-up value or, before the first visit, the reward plus the evaluation, each 0
 * if missing. An evaluation about the action already includes the reward. The value of an end with a reward is that
 * reward.
 *
 * @param tree - `discount`: γ, which discounts the evaluation: `r + γ · v`. A tree has this property. Default 1.
 */
export function knownValue(node: NodeStatistics, tree: RuleView = {}): number {
  expectObject('node', node);
  return node.visits > 0 ? node.value : ownReturn(node, tree.discount ?? 1);
}

// So that a tree searched with `unvisited: knownValue` can name it.
named('knownValue', {}, knownValue);

/**
 * The return of a node's own first backup: its reward plus its evaluation, discounted by γ. The root has no incoming
 * edge.
 */
export function ownReturn(node: NodeStatistics, discount: number): number {
  const { depth, reward = 0, rawValue = 0, terminal, about } = node;
  if (terminal && node.reward !== undefined) return reward;
  if (about === 'action') return rawValue;
  return reward + (depth === 0 ? 1 : discount) * rawValue;
}

/**
 * Thompson sampling: a draw from `Beta(α + N·Q, β + N·(1 − Q))`, the belief about a child's success
 * after N visits of mean Q. Values must lie in [0, 1]. Simulations in flight need no correction, because draws differ.
 *
 * @see Thompson, "On the likelihood that one unknown probability exceeds another…", 1933; Chapelle and
 * Li, "An Empirical Evaluation of Thompson Sampling", 2011, algorithm 2.
 */
export function thompson(
  options: {
    /** Pseudo-counts of success and failure before any visit, above 0. @defaultValue `[1, 1]`, the uniform prior */
    readonly pseudoCounts?: readonly [number, number];
  } = {},
): SelectionRule {
  expectOptions('thompson', options, 'pseudoCounts');
  const { pseudoCounts = [1, 1] } = options;
  expectArray('pseudoCounts', pseudoCounts);
  const [a, b] = pseudoCounts;
  expectAboveZero({ 'pseudoCounts[0]': a, 'pseudoCounts[1]': b });
  const belief = betaBelief({ a, b });
  const seen = ({ visits, value }: NodeStatistics) => ({ count: visits, mean: value, squares: 0 });
  const rule: SelectionRule = (_parent, random) => (child) => belief.draw(random, seen(child));
  // A draw cannot be repeated, so the mean of its distribution is reported.
  const explain = () => (child: NodeStatistics) => belief.explain(seen(child));
  return named('thompson', options, Object.assign(rule, { explain }));
}

/** The view of a tree that a selection gets. */
export interface TreeView<State = unknown, Action = unknown> extends RuleView {
  /** The position of the real world, where selection starts. The root, until the search advances. */
  readonly cursor: SearchNode<State, Action>;
  /**
   * Whether a node with children may get another one and so can be selected. An incomplete node that may not at the
   * moment, and has only closed children, can be selected too.
   *
   * @defaultValue never
   */
  readonly widening?: WideningRule | undefined;
}

/** Chooses the leaf of a simulation; `undefined` when nothing is left to learn. */
export type Selection = Explained &
  (<State, Action>(
    tree: TreeView<State, Action>,
    random: Random,
  ) => SearchNode<State, Action> | undefined);

/** Options of {@link descend} and {@link flat}. */
export interface SelectionOptions {
  /**
   * Whether to revisit terminal nodes and closed subtrees. Textbook visit counts need it; with language models it
   * wastes simulations, because a known outcome teaches nothing.
   *
   * @defaultValue false
   */
  readonly revisit?: boolean;
  /** How ties are broken: by the highest prior and then the first child, or at random. @defaultValue `'first'` */
  readonly ties?: 'first' | 'random';
  /** Whether a node with children may get another one. @defaultValue the rule of the {@link TreeView} */
  readonly widening?: WideningRule;
}

/** Whether a node that has children may get another. Pure. */
export type WideningRule = Pick<Explained, 'spec'> & ((node: NodeStatistics) => boolean);

/** The options of a selection. @throws EspalierError `usage` for a wrong one. */
function checked(owner: string, options: SelectionOptions): SelectionOptions {
  expectOptions(owner, options, 'revisit ties widening');
  const { revisit = false, ties = 'first', widening } = options;
  expectBoolean('revisit', revisit);
  expectOneOf('ties', ties, ['first', 'random']);
  if (widening !== undefined) expectFunction('widening', widening);
  return options;
}

/** Walks down from the cursor, taking the child with the highest score, to a node that can grow. */
export function descend(rule: SelectionRule, options: SelectionOptions = {}): Selection {
  expectFunction('rule', rule);
  const { revisit = false, ties = 'first' } = checked('descend', options);
  const { explain } = rule;
  const select = <State, Action>(tree: TreeView<State, Action>, random: Random) => {
    const { widening = tree.widening } = options;
    let node = tree.cursor;
    if (isClosed(node, revisit)) return undefined;
    while (node.children.length > 0 && !canWiden(node, widening)) {
      const children: readonly SearchNode<State, Action>[] = node.children;
      const score = rule(node, random, tree);
      if (typeof score !== 'function') {
        throw expectation('rule', 'a function that returns one that scores a child', score);
      }
      const next = choose(children, score, { revisit, ties, random });
      if (next === undefined) break;
      node = next;
    }
    return node;
  };
  return named('descend', { ...options, rule }, Object.assign(select, explain && { explain }));
}

/**
 * Takes the node with the highest score among all below the cursor that can grow, whatever the path. With widening,
 * nodes whose children are all closed are included, as in {@link descend}: visits make room for more children.
 */
export function flat(
  score: (node: NodeStatistics, parent: NodeStatistics | undefined, random: Random) => number,
  options: SelectionOptions = {},
): Selection {
  expectFunction('score', score);
  const { revisit = false, ties = 'first' } = checked('flat', options);
  const select = <State, Action>(tree: TreeView<State, Action>, random: Random) => {
    const { widening = tree.widening } = options;
    const isOpenEnded = (node: SearchNode<State, Action>) =>
      widening !== undefined &&
      !node.complete &&
      (widening(node) || node.children.every((child) => isClosed(child, revisit)));
    const candidates = [...subtree(tree.cursor)].filter(
      (node) => node.children.length === 0 || isOpenEnded(node),
    );
    const { cursor } = tree;
    const scoreOf = (node: SearchNode<State, Action>) =>
      score(node, node === cursor ? undefined : node.parent, random);
    return choose(candidates, scoreOf, { revisit, ties, random });
  };
  return named('flat', { ...options, score }, select);
}

/** A node and all its descendants, parents first. The stack is explicit, because paths may be long. */
export function* subtree<State, Action>(
  top: SearchNode<State, Action>,
): Generator<SearchNode<State, Action>, void, undefined> {
  const stack = [top];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    yield node;
    for (const child of node.children.toReversed()) stack.push(child);
  }
}

/** Whether a node has failed or was pruned. */
export function isOut({ status }: Pick<NodeStatistics, 'status'>): boolean {
  return status === 'failed' || status === 'pruned';
}

/** How many simulations ended at a node. */
export function endedAt({ visits, children }: NodeStatistics): number {
  return children.reduce((left, child) => left - child.visits, visits);
}

/** Whether another visit would teach nothing. Terminal nodes are closed once visited. */
export function isClosed(node: NodeStatistics, revisit = false): boolean {
  expectObject('node', node);
  if (isOut(node)) return true;
  if (revisit) return false;
  return node.status === 'closed' || (node.status === 'terminal' && node.visits > 0);
}

/** Whether an open node is at the moment below the width that its rule allows. */
export function canWiden(
  node: NodeStatistics & { readonly complete: boolean },
  widening: WideningRule | undefined,
): boolean {
  return widening !== undefined && node.status === 'open' && !node.complete && widening(node);
}

/**
 * The least tried of sibling nodes, so that concurrent simulations spread. Ties go to the best known value, then to the
 * likeliest.
 */
export function leastTried<State, Action>(
  nodes: readonly SearchNode<State, Action>[],
  tree: RuleView = {},
): SearchNode<State, Action> | undefined {
  expectArray('nodes', nodes);
  let best: SearchNode<State, Action> | undefined;
  for (const node of nodes as readonly (SearchNode<State, Action> | null | undefined)[]) {
    if (!node) throw expectation('nodes', 'nodes of a tree', node);
    if (isOut(node)) continue;
    if (best === undefined || byTrials(node, best, tree) > 0) best = node;
  }
  return best;
}

function byTrials(a: SearchNode, b: SearchNode, tree: RuleView): number {
  return (
    b.visits + b.inFlight - (a.visits + a.inFlight) ||
    knownValue(a, tree) - knownValue(b, tree) ||
    a.prior - b.prior
  );
}

interface Choice {
  readonly revisit: boolean;
  readonly ties: 'first' | 'random';
  readonly random: Random;
}

/** Each child is scored once: a second random draw would change the winner. */
function choose<Node extends NodeStatistics>(
  nodes: readonly Node[],
  score: (node: Node) => number,
  { revisit, ties, random }: Choice,
): Node | undefined {
  let best: Node | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  let equals = 0;
  for (const node of nodes) {
    if (isClosed(node, revisit)) continue;
    const own = score(node);
    if (best === undefined || own > highest) {
      best = node;
      highest = own;
      equals = 1;
    } else if (own === highest) {
      equals++;
      const wins = ties === 'random' ? random.next() * equals < 1 : node.prior > best.prior;
      if (wins) best = node;
    }
  }
  return best;
}
