import type { Heuristic } from '../../../contracts/evaluator.ts';
import type { SearchNode } from '../../../contracts/node.ts';
import type { SearchAlgorithm } from '../../../search/contracts.ts';
import type { Subject } from '../../test-runner.ts';

/** The claims about an algorithm, for `describeAlgorithm`. The algorithm itself declares its conservation laws. */
export interface AlgorithmClaims {
  /** Makes a new algorithm. */
  readonly create: () => SearchAlgorithm;
  /**
   * The rule whose hand-computed visit counts it reproduces: `uct` with c = √2, or `puct` with c_init = 1.25 and c_base
   * = 19652; each with mean backup, all actions added at once, and ends revisited.
   *
   * @defaultValue none
   */
  readonly visitCounts?: 'uct' | 'puct';
  /** Whether it finds the best-rewarded end of a small problem. @defaultValue true */
  readonly findsBest?: boolean;
  /**
   * Whether its visits concentrate on the optimal action. It must then revisit ends.
   *
   * @defaultValue false
   */
  readonly converges?: boolean;
  /** Creates it as a search for cheapest paths with these rules. @defaultValue it is not such a search */
  readonly costSearch?: (rules: {
    /** h(s). */
    readonly heuristic: Heuristic<string>;
    /** Whether h never overestimates. */
    readonly admissible: boolean;
    /** c(s, a) of the edge that leads to a node. */
    readonly cost: (node: SearchNode) => number;
    /** The weight of h. @defaultValue 1 */
    readonly weight?: number;
  }) => SearchAlgorithm;
  /** The names of tests that do not apply, by reason: one sentence for the report. @defaultValue none */
  readonly exempt?: Readonly<Record<string, readonly string[]>>;
}

/** An algorithm under test. */
export type AlgorithmSubject = Subject<AlgorithmClaims>;
