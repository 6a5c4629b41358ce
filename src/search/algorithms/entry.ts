import type { Entry } from '../../contracts/entry.ts';
import type { Heuristic } from '../../contracts/evaluator.ts';
import type { SearchAlgorithm } from '../contracts.ts';

/** An algorithm by its name. */
export interface AlgorithmEntry
  extends Entry<
    (ground: {
      /** Whether actions are samples of a model, and values its judgements, each of which costs a call. */
      readonly asksModel: boolean;
      /** h(s), which never overestimates, where there is one. */
      readonly heuristic?: Heuristic<unknown>;
    }) => SearchAlgorithm
  > {
  /**
   * Whether it ends by itself with the best solution, given a heuristic: the first one it finds is not always that.
   *
   * @defaultValue false
   */
  readonly proves?: boolean;
  /** At which temperature its policy is to sample. @defaultValue the policy's own */
  readonly temperature?: number;
  /** Whether answers vote: it needs an environment with an `answer`. @defaultValue false */
  readonly votes?: boolean;
  /** Whether no simulation looks at what others found: all may be under way at once. @defaultValue false */
  readonly isIndependent?: boolean;
  /** After how many paths it ends by itself. @defaultValue as many as the budget holds */
  readonly paths?: number;
}
