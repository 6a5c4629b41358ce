/**
 * The pair rules of papers. Each one takes all filters besides, which then stand in place of its own.
 *
 * @module
 */

export { type RStarMathOptions, rStarMath } from './r-star-math.ts';
export {
  type AgentQPairOptions,
  agentQ,
  mctsDpo,
  stepApo,
  stepDpo,
  stepQ,
  toolPreference,
} from './sibling-rules.ts';
export {
  spar,
  type TrajectoryOptions,
  trajectory,
  type WholeFilters,
} from './whole-answers.ts';
