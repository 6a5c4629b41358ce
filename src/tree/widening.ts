import { expectBounds, expectNumber, expectNumbers } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { NodeStatistics, SearchNode } from '../contracts/node.ts';
import { maxChild } from './final-choice.ts';
import { named } from './rules.ts';
import { isClosed, knownValue, type WideningRule } from './selection.ts';

/**
 * Allows another child while `|children| < k · N^α`: the more a node is visited, the wider it gets.
 * Simulations in flight count as visits, and a sample without a new action counts as a child, so that a repetitive
 * policy cannot stall a search.
 *
 * @see Couëtoux et al., "Continuous Upper Confidence Trees", 2011; Chaslot et al., "Progressive
 * Strategies for Monte-Carlo Tree Search", 2008.
 */
export function progressiveWidening(
  options: {
    /** k, the width at the first visit. @defaultValue 1 */
    readonly k?: number;
    /** α in [0, 1]: how fast the width grows with visits. @defaultValue 0.5 */
    readonly alpha?: number;
  } = {},
): WideningRule {
  expectOptions('progressiveWidening', options, 'k alpha');
  const { k = 1, alpha = 0.5 } = options;
  expectNumbers({ k, alpha }, { min: 0 });
  const rule: WideningRule = ({ children, samples, visits, inFlight }) =>
    Math.max(children.length, samples) < k * Math.max(1, visits + inFlight) ** alpha;
  return named('progressiveWidening', options, rule);
}

/**
 * Allows another child while no open child has a value of at least `below`. Unvisited children count with their
 * evaluation, undiscounted: a widening rule does not get γ, and assumes 1.
 *
 * For sampling policies, such as language models, with a value that recognises lost states: instead of going deeper
 * below the best of bad children, more are drawn. When to go wider and when deeper is also the question of Inoue et
 * al., "Wider or Deeper? Scaling LLM Inference-Time Compute with Adaptive Branching Tree Search", 2025; this rule is
 * simpler, and ours.
 */
export function valueWidening(
  options: {
    /** The number of samples before the children's values are checked. @defaultValue 2 */
    readonly k?: number;
    /** The least value of a promising child. @defaultValue 0.4 */
    readonly below?: number;
    /** The maximum number of samples per node; 3 k if none of them is usable. @defaultValue 100 */
    readonly most?: number;
  } = {},
): WideningRule {
  expectOptions('valueWidening', options, 'k below most');
  const { k = 2, below = 0.4, most = 100 } = options;
  expectNumber('below', below);
  expectBounds({ k, most });
  const rule: WideningRule = ({ children, samples }) => {
    const drawn = Math.max(children.length, samples);
    if (drawn < k) return true;
    if (drawn >= (children.length === 0 ? Math.min(most, 3 * k) : most)) return false;
    return children.every((child) => isClosed(child) || knownValue(child) < below);
  };
  return named('valueWidening', options, rule);
}

/**
 * Where a simulation continues from a selected node. A node that may get no further child now, and whose children are
 * all closed, is stuck: the best end below it counts again, which costs no call, and with more visits the width may
 * grow. If it never will, nothing is left to search, and the result is `undefined`.
 */
export function goingOnFrom<State, Action>(
  node: SearchNode<State, Action>,
  widening: WideningRule,
): SearchNode<State, Action> | undefined {
  const { children, status, complete } = node;
  if (children.length === 0 || status !== 'open' || complete) return node;
  if (widening(node) || !children.every((child) => isClosed(child))) return node;
  return widening(oftenVisited(node)) ? bestEnd(node) : undefined;
}

/** The statistics of a node as if it had infinitely many visits. A node has getters, so it cannot be spread. */
function oftenVisited(node: NodeStatistics): NodeStatistics {
  const { id, depth, value, inFlight, prior, reward, rawValue, about } = node;
  const { status, exact, terminal, answer, samples, children } = node;
  const numbers = { id, depth, value, inFlight, prior, reward, rawValue, about };
  return { ...numbers, status, exact, terminal, answer, samples, children, visits: Infinity };
}

/** The end of the best explored path below a node whose children are all closed. */
export function bestEnd<State, Action>(
  node: SearchNode<State, Action>,
): SearchNode<State, Action> | undefined {
  let end: SearchNode<State, Action> | undefined;
  for (let next = bestKnown(node); next !== undefined; next = bestKnown(next)) end = next;
  return end;
}

function bestKnown<State, Action>({
  children,
}: SearchNode<State, Action>): SearchNode<State, Action> | undefined {
  return maxChild(children.filter(({ status }) => status === 'terminal' || status === 'closed'));
}
