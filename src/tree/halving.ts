import { expectOptions } from '../base/expect-options.ts';
import type { Random } from '../contracts/context.ts';
import type { NodeStatistics, SearchNode } from '../contracts/node.ts';
import { notesOf } from './notes.ts';
import { type CompletedOptions, completedByMixValue, withScore } from './qtransform.ts';
import { named, type Reasons } from './rules.ts';
import {
  canWiden,
  descend,
  isClosed,
  isOut,
  type Selection,
  type SelectionRule,
  type TreeView,
} from './selection.ts';
import type { SearchTree } from './tree.ts';

/** One phase of sequential halving. */
export interface HalvingPhase {
  /** How many actions are still considered. */
  readonly actions: number;
  /** The simulations of all of them, divided equally; the last phase is cut short if none are left. */
  readonly simulations: number;
}

/**
 * How sequential halving divides simulations: equally among ⌈log₂ m⌉ phases. Each phase considers half of the previous
 * phase's actions, at least two, and visits each equally often, at least once.
 *
 * @param seen - The number of actions whose first visit is already made and not repeated.
 * @see Karnin, Koren, Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", 2013; the rounding is that of mctx,
 * the reference code of Danihelka et al., 2022.
 */
export function halvingPhases(
  actions: number,
  simulations: number,
  seen = 0,
): readonly HalvingPhase[] {
  if (actions <= 1) return [{ actions, simulations }];
  const levels = Math.ceil(Math.log2(actions));
  const all = simulations + seen;
  const phases: HalvingPhase[] = [];
  let given = 0;
  for (let considered = actions; given < all; considered = halved(considered)) {
    const each = Math.max(1, Math.floor(all / (levels * considered)));
    const until = Math.min(all, given + each * considered);
    const part = until - Math.max(given, seen);
    if (part > 0) phases.push({ actions: considered, simulations: part });
    given = until;
  }
  return phases;
}

/** The number of actions of each phase, when the budget is not counted in simulations. */
export function halvingLevels(actions: number, seen = 0): readonly number[] {
  const levels = Math.max(1, Math.ceil(Math.log2(actions)));
  const counts = [actions];
  while (counts.length < levels) counts.push(halved(counts.at(-1) ?? actions));
  return seen === actions && levels > 1 ? counts.slice(1) : counts;
}

function halved(actions: number): number {
  return Math.max(2, Math.floor(actions / 2));
}

/** A draw from Gumbel(0, 1), from a number in [0, 1). */
function gumbelOf(uniform: number): number {
  return -Math.log(-Math.log(uniform === 0 ? Number.MIN_VALUE : uniform));
}

/** The state of the halving at a node. */
interface Halving {
  /** The actions that the phase considers, best first, with their visits when it began. */
  readonly lanes: readonly { readonly id: number; readonly visits: number }[];
  /** The number of nodes in the tree at that time: actions proposed later have not been dropped. */
  readonly size: number;
}

const halvings = notesOf<Halving>('halving');
const noises = notesOf<{ readonly gumbel: number }>('gumbel');

/** Draws the noise of the actions at the cursor, once each, and notes it. */
export function noteNoise<State, Action>(
  tree: SearchTree<State, Action>,
  random: Random,
  scale: number,
): void {
  for (const child of tree.cursor.children) {
    if (noises.at(child) !== undefined) continue;
    // Without noise it must not be −0, which JSON cannot hold.
    const gumbel = scale === 0 ? 0 : scale * gumbelOf(random.split('gumbel', child.id).next());
    noises.write(tree, child, { gumbel });
  }
}

/**
 * Chooses and notes the actions that a phase considers at the cursor: the best rated among those that can grow; in
 * later phases, among those of the previous phase and those proposed since.
 */
export function noteLanes<State, Action>(
  tree: SearchTree<State, Action>,
  { actions, isFirst }: { readonly actions: number; readonly isFirst: boolean },
  options: CompletedOptions,
): void {
  const { cursor } = tree;
  const rated = byRating(cursor, openChildren(cursor), options);
  const { lanes: before, size } = halvings.at(cursor) ?? none;
  const isDropped = ({ id }: SearchNode) =>
    !isFirst && id < size && before.every((lane) => lane.id !== id);
  const kept = rated.toSorted((a, b) => Number(isDropped(a)) - Number(isDropped(b)));
  const lanes = kept.slice(0, actions).map(({ id, visits }) => ({ id, visits }));
  halvings.write(tree, cursor, { lanes, size: tree.size });
}

const none: Halving = { lanes: [], size: 0 };

/** The children that can grow. */
export function openChildren<State, Action>(
  node: SearchNode<State, Action>,
): readonly SearchNode<State, Action>[] {
  return node.children.filter((child) => !isClosed(child));
}

const halvingOptions = 'valueScale maxVisitInit leastRange scored';

/**
 * The rating of Gumbel search at its root: `g(a) + ln P(a) + σ(q̂(a))`, with the noise g that was noted, and q̂ and σ as in
 * {@link completedByMixValue}. The logarithms are taken relative to the likeliest action.
 *
 * @see Danihelka, Guez, Schrittwieser, Silver, "Policy improvement by planning with Gumbel", 2022, algorithms 1 and 2.
 */
export function gumbelRating(
  options: CompletedOptions = {},
): (parent: SearchNode) => (child: SearchNode) => Reasons {
  const transform = completedByMixValue(options);
  return (parent) => {
    const sigma = transform(parent);
    const most = Math.max(...parent.children.map(logit));
    return (child) => {
      const gumbel = noises.at(child)?.gumbel ?? 0;
      const prior = logit(child) - most;
      const value = sigma(child);
      return { total: gumbel + prior + value, terms: { gumbel, prior, value } };
    };
  };
}

/**
 * Visits children as often as the improved policy would: the highest of `π′(a) − N(a) / (1 + Σ N)`, with `π′ =
 * softmax(ln P + σ(q̂))`. Deterministic. Simulations in flight count as visits.
 *
 * @see Danihelka et al., 2022, section 5, "Planning at non-root nodes".
 */
export function visitingAsImproved(options: CompletedOptions = {}): SelectionRule {
  expectOptions('visitingAsImproved', options, halvingOptions);
  const policy = improvedPolicy(options);
  const count = visitsOf(options);
  const reasonsAt = (parent: NodeStatistics) => {
    const improved = policy(parent);
    const all = 1 + parent.children.reduce((sum, child) => sum + count(child), 0);
    return (child: NodeStatistics): Reasons => {
      const terms = { policy: improved(child), visits: -count(child) / all };
      return { total: terms.policy + terms.visits, terms };
    };
  };
  const rule: SelectionRule = (parent) => {
    const reasons = reasonsAt(parent);
    return (child) => reasons(child).total;
  };
  return named('visitingAsImproved', options, Object.assign(rule, { explain: reasonsAt }));
}

/**
 * The improved policy `π′ = softmax(ln P + σ(q̂))` at a node: at least as good as the prior, if the values are right.
 *
 * @see Danihelka et al., 2022, equation 11.
 */
export function improvedPolicy(
  options: CompletedOptions = {},
): (parent: NodeStatistics) => (child: NodeStatistics) => number {
  const transform = completedByMixValue(options);
  return (parent) => {
    const sigma = transform(parent);
    const rate = (child: NodeStatistics) =>
      isOut(child) ? -Infinity : logit(child) + sigma(child);
    const most = Math.max(...parent.children.map(rate));
    const weight = (child: NodeStatistics) => Math.exp(rate(child) - most);
    const sum = parent.children.reduce((total, child) => total + weight(child), 0);
    return (child) => (isOut(child) ? 0 : weight(child) / sum);
  };
}

/**
 * Sequential halving at the cursor: takes the action of the phase with the fewest visits since it began, ties going to
 * the better rated, and {@link visitingAsImproved} below it. The ranking is frozen when the phase begins, so that
 * concurrent simulations spread like sequential ones. If the cursor may get another action, it does; if no action can
 * grow any more, {@link visitingAsImproved} applies from the cursor on.
 */
export function sequentialHalving(options: CompletedOptions = {}): Selection {
  expectOptions('sequentialHalving', options, halvingOptions);
  const interior = visitingAsImproved(options);
  const below = descend(interior);
  const rating = gumbelRating(options);
  const select: Selection = <State, Action>(
    view: TreeView<State, Action>,
    random: Parameters<Selection>[1],
  ) => {
    let next: SearchNode<State, Action> | undefined;
    let least = Number.POSITIVE_INFINITY;
    if (canWiden(view.cursor, view.widening)) return view.cursor;
    const children = new Map(view.cursor.children.map((child) => [child.id, child]));
    for (const { id, visits } of (halvings.at(view.cursor) ?? none).lanes) {
      const child = children.get(id);
      if (child === undefined || isClosed(child)) continue;
      const made = child.visits + child.inFlight - visits;
      if (made < least) [next, least] = [child, made];
    }
    return below({ ...view, cursor: next ?? view.cursor, widening: view.widening }, random);
  };
  const explain: Selection['explain'] = (parent, discount) =>
    halvings.at(parent) === undefined
      ? (interior.explain?.(parent, discount) ?? rating(parent))
      : rating(parent);
  return named('sequentialHalving', options, Object.assign(select, { explain }));
}

/**
 * The final choice of Gumbel search: the highest {@link gumbelRating} among the most visited and the fully explored
 * children.
 */
export function gumbelChoice<State, Action>(
  parent: SearchNode<State, Action>,
  options: CompletedOptions = {},
): SearchNode<State, Action> | undefined {
  const count = visitsOf(options);
  const sound = parent.children.filter((child) => !isOut(child) && count(child) > 0);
  const most = Math.max(...sound.map(count));
  const known = (child: SearchNode) => child.status !== 'open';
  return byRating(
    parent,
    sound.filter((child) => known(child) || count(child) === most),
    options,
  )[0];
}

/** The children of a node, highest {@link gumbelRating} first, ties going to the first. */
function byRating<State, Action>(
  parent: SearchNode<State, Action>,
  children: readonly SearchNode<State, Action>[],
  options: CompletedOptions = {},
): readonly SearchNode<State, Action>[] {
  const reasons = gumbelRating(options)(parent);
  const rated = children.map((child) => ({ child, rating: reasons(child).total }));
  return rated.sort((a, b) => b.rating - a.rating).map(({ child }) => child);
}

function visitsOf({ scored = false }: CompletedOptions): (node: NodeStatistics) => number {
  return (node) => (scored ? withScore(node).visits : node.visits) + node.inFlight;
}

function logit({ prior }: NodeStatistics): number {
  return Math.log(Math.max(prior, Number.MIN_VALUE));
}
