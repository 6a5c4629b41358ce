/**
 * The pair rules of papers. Each one takes all filters besides, which then stand in place of its own.
 *
 * @module
 */

export { type RStarMathOptions, rStarMath } from './r-star-math.ts';
export { agentQ, mctsDpo, stepApo, stepDpo, stepQ, toolPreference } from './sibling-rules.ts';
export { spar, trajectory, type WholeFilters } from './whole-answers.ts';
