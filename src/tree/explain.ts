import { EspalierError } from '../base/errors.ts';
import { expectMethods, expectNode } from '../base/expect.ts';
import type { ChildNode, SearchNode } from '../contracts/node.ts';
import { spendingDown } from './bg-mcts.ts';
import { maxChild, robustChild } from './final-choice.ts';
import { sequentialHalving, visitingAsImproved } from './halving.ts';
import { unobserved, virtualLoss } from './in-flight.ts';
import { type Belief, betaBelief, gaussianBelief } from './posterior.ts';
import {
  byMinMax,
  byParentAndSiblings,
  completedByMixValue,
  mixedWithEvaluation,
} from './qtransform.ts';
import { type Explained, type Reasons, type RuleSpec, revived } from './rules.ts';
import { descend, knownValue, puct, thompson, uct } from './selection.ts';
import type { SearchTree } from './tree.ts';
import { progressiveWidening, valueWidening } from './widening.ts';
import { widerOrDeeper } from './wider-or-deeper.ts';

/**
 * Explains a rule's current choice at a node: the rating of each child, in order.
 *
 * @param rule - The rule to explain. Default: the one the tree was searched with, which a saved tree names.
 * @throws EspalierError `usage` if the tree names no rule, or its rule was given a function or cannot explain itself.
 */
export function explain<State, Action>(
  tree: SearchTree<State, Action>,
  node: SearchNode<State, Action>,
  rule: Explained = ruleOf(tree),
): readonly (Reasons & {
  /** The child. */
  readonly node: ChildNode<State, Action>;
})[] {
  const { spec, explain: explainAt } = rule;
  if (explainAt === undefined) {
    const name = spec === undefined ? 'one of the user' : `\`${spec.name}\``;
    throw new EspalierError('usage', `Expected \`rule\` to have an \`explain\`, got ${name}.`);
  }
  expectNode('node', node);
  const reasonsOf = explainAt(node, tree.discount);
  return node.children.map((child) => ({ node: child, ...reasonsOf(child) }));
}

function ruleOf<State, Action>(tree: SearchTree<State, Action>): Explained {
  expectMethods('tree', tree, ['backup']);
  const { rule } = tree;
  if (rule !== undefined) return ruleFrom(rule);
  throw new EspalierError('usage', 'Expected `rule` to be given, because the tree names none.');
}

/** Every rule that can be recreated from its name and options. */
const rules: Readonly<Record<string, (options: never) => unknown>> = {
  betaBelief,
  byMinMax,
  byParentAndSiblings: () => byParentAndSiblings,
  completedByMixValue,
  descend: ({ rule, ...options }: { readonly rule: never }) => descend(rule, options),
  gaussianBelief,
  knownValue: () => knownValue,
  maxChild: () => maxChild,
  mixedWithEvaluation: ({ weight }: { readonly weight: number }) => mixedWithEvaluation(weight),
  progressiveWidening,
  puct,
  robustChild: () => robustChild,
  sequentialHalving,
  spendingDown,
  thompson,
  uct,
  unobserved: () => unobserved,
  valueWidening,
  virtualLoss,
  visitingAsImproved,
  widerOrDeeper: ({ belief }: { readonly belief: Belief }) => widerOrDeeper(belief),
};

/** The rule with this name and these options. */
function ruleFrom(spec: RuleSpec): Explained {
  const make = Object.hasOwn(rules, spec.name) ? rules[spec.name] : undefined;
  if (make !== undefined) return make(revived(spec, ruleFrom) as never) as Explained;
  throw new EspalierError('usage', `Expected the name of a known rule, got \`${spec.name}\`.`);
}
