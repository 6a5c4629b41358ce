import type { Entry } from '../../contracts/entry.ts';
import type { Heuristic } from '../../contracts/evaluator.ts';
import type { SearchAlgorithm } from '../contracts.ts';

/** An algorithm that can be chosen by name. */
export interface AlgorithmEntry
  extends Entry<
    (ground: {
      /** Whether a model samples the actions and judges the values, at one call each. */
      readonly asksModel: boolean;
      /** An admissible h(s), if there is one. */
      readonly heuristic?: Heuristic<unknown>;
    }) => SearchAlgorithm
  > {
  /**
   * Whether, if no model is asked, it ends by itself with the best solution, which may not be the first it finds.
   *
   * @defaultValue false
   */
  readonly proves?: boolean;
  /** The sampling temperature for its policy. @defaultValue the policy's own */
  readonly temperature?: number;
  /** Whether answers vote: it needs an environment with an `answer`. @defaultValue false */
  readonly votes?: boolean;
  /** Whether simulations are independent of each other, so that all may run at once. @defaultValue false */
  readonly isIndependent?: boolean;
  /** The number of paths after which it ends by itself. @defaultValue as many as the budget allows */
  readonly paths?: number;
}
