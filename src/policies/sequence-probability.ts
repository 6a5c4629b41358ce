import { expectNumber } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Completion } from '../contracts/language-model.ts';

/**
 * The probability of a completion from the log-probabilities of its tokens, in [0, 1]:
 * `p = exp(Σ ln p(token) / len^λ)`, with `len` the number of tokens. `undefined` if the completion has none. Use it as
 * the option `prior` of `fromModel`.
 *
 * @see Xie et al., "Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning", 2024, for λ;
 * Chen et al., "AlphaMath Almost Zero: Process Supervision without Process", 2024, for λ = 1.
 */
export function sequenceProbability(
  options: {
    /**
     * λ, a finite number from 0 up: at 0 the probability of the complete text, at 1 the geometric mean over
     * its tokens, as in AlphaMath; 1.25 in MCTS-DPO.
     *
     * @defaultValue 1
     */
    readonly lengthPenalty?: number;
  } = {},
): (completion: Completion) => number | undefined {
  expectOptions('sequenceProbability', options, 'lengthPenalty');
  const { lengthPenalty = 1 } = options;
  expectNumber('lengthPenalty', lengthPenalty, { min: 0 });
  return ({ logprobs = [] }) => {
    if (logprobs.length === 0) return undefined;
    const sum = logprobs.reduce((total, { logprob }) => total + logprob, 0);
    // Servers round: a sum may be slightly above 0.
    return Math.min(1, Math.exp(sum / logprobs.length ** lengthPenalty));
  };
}
