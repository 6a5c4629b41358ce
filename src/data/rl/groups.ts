import { expectNumber } from '../../base/expect.ts';
import type { RolloutRow, RowRule } from '../rows.ts';
import { expectSampling, type RolloutOptions, rolloutRow, rolloutsOf } from './rollouts.ts';
import { samplingOf } from './sampling-of.ts';
import { zScores } from './z-scores.ts';

/**
 * All scored ends of the trees of a problem as one group of GRPO: `grpo` is the z-score of R among them.
 *
 * Each end counts once, however often it was visited. Ends that a search has drawn are marked `search`: they are no
 * samples of the policy, and the mean of their returns is not its value.
 *
 * @see Shao et al., "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models", 2024,
 * section 4.1.2.
 * @throws EspalierError `usage` where an option is out of its range.
 */
export function groups(options: RolloutOptions = {}): RowRule<RolloutRow> {
  const { epsilon = 1e-6 } = options;
  expectNumber('epsilon', epsilon, { min: Number.MIN_VALUE });
  expectSampling(options.sampling);
  return {
    name: 'groups',
    kind: 'rollout',
    *rows(trees) {
      const rollouts = rolloutsOf(trees);
      const sampling = options.sampling ?? samplingOf(trees);
      const scores = zScores(
        rollouts.map(({ reward }) => reward),
        epsilon,
      );
      for (const [place, rollout] of rollouts.entries()) {
        yield rolloutRow(rollout, {
          rule: 'groups',
          sampling,
          advantages: { grpo: scores[place] ?? 0 },
          stepAdvantages: {},
        });
      }
    },
  };
}
