import { expectArray } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { type Belief, gaussianBelief } from '../../tree/posterior.ts';
import { thompsonArms, widerOrDeeper } from '../../tree/wider-or-deeper.ts';
import type { SearchAlgorithm } from '../contracts.ts';
import type { AlgorithmEntry } from './entry.ts';

/**
 * AB-MCTS-A: a simulation selects by {@link widerOrDeeper}, generates one child there and backs up its score. A node
 * may be an answer and still be refined. With several arms, Thompson sampling over each arm's scores across the tree
 * picks the arm that generates.
 *
 * A repeated proposal counts its score again. Simulations in flight need no correction, because draws differ.
 *
 * @see Inoue et al., "Wider or Deeper? Scaling LLM Inference-Time Compute with Adaptive Branching Tree Search", 2025
 * (arXiv 2503.04412), section 3.3.
 */
export function abMcts(
  options: {
    /**
     * The arms to generate from, such as the models of `multiModel`; the best is found by Thompson sampling.
     * @defaultValue one arm, the policy itself
     */
    readonly arms?: readonly string[];
    /**
     * The belief about scores. @defaultValue {@link gaussianBelief}, as in the reference code; the alternative is
     * `betaBelief`
     */
    readonly belief?: Belief;
  } = {},
): SearchAlgorithm {
  expectOptions('abMcts', options, 'arms belief');
  const { arms: names = [], belief = gaussianBelief() } = options;
  expectArray('arms', names);
  const arms = thompsonArms(names, belief);
  const selection = widerOrDeeper(belief);
  return {
    name: 'ab-mcts-a',
    concurrency: 'any',
    // A simulation that learns that a policy has no further action adds no visit.
    laws: ['visits', 'values'],
    async run(tree, context) {
      await context.simulate(async (simulation) => {
        const node = simulation.select(selection);
        if (node === undefined) return 'exhausted';
        if (node.complete) return 'waiting';
        const arm = arms.choose(tree, simulation.random);
        const [child] = await context.expand(node, { count: 1, independent: true, arm });
        if (child === undefined) return 'continue';
        await context.realise([child]);
        const made = simulation.visit(tree.original(child));
        await context.evaluate([made]);
        if (made.status === 'failed') return 'continue';
        arms.note(tree, made, arm);
        tree.backup(made);
        return 'continue';
      });
    },
  };
}

/** List entry of AB-MCTS-A: one arm, the policy. */
export const abMctsEntry: AlgorithmEntry = {
  name: 'ab-mcts-a',
  title: 'Adaptive branching MCTS (AB-MCTS-A)',
  paper: 'Inoue et al., Wider or Deeper?, 2025, arXiv 2503.04412',
  create: () => abMcts(),
};
