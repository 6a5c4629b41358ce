import { canonicalJson } from '../base/canonical-json.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { NodeId, SearchNode } from '../contracts/node.ts';

/** The explicit result of an algorithm, which goes beyond the best terminal node. */
export interface Conclusion<State, Action> {
  /** The node that it settled on. */
  readonly node: SearchNode<State, Action>;
  /** Whether nothing better exists among the actions that were proposed. */
  readonly optimal: boolean;
  /** The answers of a vote, if there was one; the node has the first of them. */
  readonly shares?:
    | readonly {
        /** The answer. */
        readonly answer: JsonValue;
        /** Its share of the total weight, in [0, 1]. */
        readonly share: number;
        /** Its nodes, heaviest first, ties in voting order. */
        readonly nodes: readonly NodeId[];
      }[]
    | undefined;
}

/** A node that votes for its answer. */
export interface Ballot {
  readonly node: NodeId;
  readonly answer: JsonValue;
  readonly weight: number;
}

/**
 * Counts a vote. The class with the greatest weight comes first; ties go to the class voted for first.
 *
 * @see Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", 2023, section 2.
 */
export function tally(ballots: readonly Ballot[]): NonNullable<Conclusion<never, never>['shares']> {
  const classes = new Map<string, Ballot[]>();
  for (const ballot of ballots) {
    const key = canonicalJson('answer', ballot.answer);
    const alike = classes.get(key);
    if (alike === undefined) classes.set(key, [ballot]);
    else alike.push(ballot);
  }
  const sum = ballots.reduce((all, { weight }) => all + weight, 0);
  // Weights whose sum overflows are scaled down together.
  const unit = Number.isFinite(sum) ? 1 : Number.MAX_VALUE;
  const weightOf = (some: readonly Ballot[]) =>
    some.reduce((all, { weight }) => all + weight / unit, 0);
  const total = weightOf(ballots);
  return [...classes]
    .map(([key, alike]) => ({
      answer: JSON.parse(key) as JsonValue,
      share: total === 0 ? 0 : weightOf(alike) / total,
      nodes: alike.toSorted((a, b) => b.weight - a.weight).map(({ node }) => node),
    }))
    .sort((a, b) => b.share - a.share);
}
