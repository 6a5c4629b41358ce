import { stepLabels } from './labels/step-labels.ts';
import type { PairFilters } from './pairs/pair-rule.ts';
import { pairRules } from './pairs/pair-rules.ts';
import { rlRules } from './rl/rl-rules.ts';
import type { RowKind, RowRule } from './rows.ts';
import { sftRules } from './sft/sft-rules.ts';
import { unpairedRules } from './unpaired.ts';

/** A rule by its name, with its defaults. */
export interface RuleEntry {
  /** The name in commands and datasets, in kebab-case. */
  readonly name: string;
  /** What its rows are. */
  readonly kind: RowKind;
  /** What it makes, in one line. */
  readonly title: string;
  /**
   * Makes it.
   *
   * @param filters - What pairs must be like besides. Other rules than those of pairs take none.
   */
  create(filters?: PairFilters): RowRule;
}

const pairs = (
  name: string,
  title: string,
  create: (filters?: PairFilters) => RowRule,
): RuleEntry => ({ name, kind: 'preference', title, create });

const plain =
  (kind: RowKind) =>
  (name: string, title: string, create: () => RowRule): RuleEntry => ({
    name,
    kind,
    title,
    create: () => create(),
  });

const steps = plain('stepwise');
const sft = plain('sft');

/** The rules that need nothing but trees, by name. */
export const rowRules: readonly RuleEntry[] = [
  pairs('agent-q', 'siblings whose mixed values differ, at every node', (filters) =>
    pairRules.agentQ({
      ...filters,
      ...(filters?.minMargin !== undefined && { theta: filters.minMargin }),
    }),
  ),
  pairs('mcts-dpo', 'best against worst sibling along the committed path', pairRules.mctsDpo),
  pairs(
    'rstar-math',
    'best against worst siblings, two by two, with right and wrong ends below',
    pairRules.rStarMath,
  ),
  pairs('spar', 'the best refinement of an answer against the answer', pairRules.spar),
  pairs(
    'step-apo',
    'siblings above against siblings below one half, with their values',
    pairRules.stepApo,
  ),
  pairs('step-dpo', 'a right step against a first wrong one', pairRules.stepDpo),
  pairs(
    'step-q',
    'along the best trajectory, its action against the worst sibling',
    pairRules.stepQ,
  ),
  pairs(
    'tool-preference',
    'along successful paths, their step against the other siblings',
    pairRules.toolPreference,
  ),
  pairs('trajectory', 'whole paths: right against wrong', pairRules.trajectory),
  steps('math-shepherd', 'the share of right ends below each step', stepLabels.mathShepherd),
  steps('omega-prm', 'the Monte-Carlo value of each prefix', stepLabels.omegaPrm),
  steps('pav', 'progress of each step under a prover', stepLabels.pav),
  steps('prm800k', 'ratings of each step, with its alternatives', stepLabels.prm800k),
  steps('rest-mcts', 'how far each step has come to a right end', stepLabels.restMcts),
  sft('agent-r', 'wrong beginnings that are noticed and mended', () => sftRules.agentR()),
  sft('best-trajectories', 'the best right paths', () => sftRules.bestTrajectories()),
  sft('judge', 'judgements that agree with the majority', () => sftRules.judge()),
  sft('refiner', 'critiques and the refinements that they led to', () => sftRules.refiner()),
  sft('traversals', 'the exploration of a search, backtracking included', () =>
    sftRules.traversals(),
  ),
  plain('unpaired')('unpaired-ends', 'whole paths, right or wrong', () => unpairedRules.ends()),
  plain('unpaired')('unpaired-siblings', 'steps with a high or a low value', () =>
    unpairedRules.siblings(),
  ),
  plain('rollout')('groups', 'all ends of a problem as one group', () => rlRules.groups()),
  plain('prompt')('prompts', 'the problems alone, with their answers', () => rlRules.prompts()),
  plain('rollout')('tree-advantages', 'paths with the advantages that the tree gives them', () =>
    rlRules.treeAdvantages(),
  ),
];

/** The names of the rules in {@link rowRules}. */
export const ruleNames: readonly string[] = rowRules.map(({ name }) => name);

/** The rule with this name; `undefined` where there is none. */
export function ruleNamed(name: string): RuleEntry | undefined {
  return rowRules.find((entry) => entry.name === name);
}
