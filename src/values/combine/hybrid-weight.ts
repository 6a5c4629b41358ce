import { expectation } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';

/**
 * The weight of a model's judgement relative to the backed-up value, `w(N) = c / (N + c)`: 1 before the first visit,
 * and falling towards 0. The blend is `w · v(s) + (1 − w) · Q(s)`, as `mixedWithEvaluation` makes it.
 *
 * @see Liang et al., "I-MCTS: Enhancing Agentic AutoML via Introspective Monte Carlo Tree Search", 2025, hybrid
 * reward. The default is that of their code.
 * @throws EspalierError `usage` if `c` is not above 0.
 */
export function hybridWeight(
  options: {
    /** c > 0: the number of visits the judgement is worth. @defaultValue 0.2 */
    readonly c?: number;
  } = {},
): (visits: number) => number {
  expectOptions('hybridWeight', options, 'c');
  const { c = 0.2 } = options;
  if (!(Number.isFinite(c) && c > 0)) throw expectation('c', 'a finite number above 0', c);
  return (visits) => c / (visits + c);
}
