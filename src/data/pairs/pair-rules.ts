/**
 * The pair rules of papers. Each also takes all filters, which override its own.
 *
 * @module
 */

export { type RStarMathOptions, rStarMath } from './r-star-math.ts';
export { agentQ, mctsDpo, stepApo, stepDpo, stepQ, toolPreference } from './sibling-rules.ts';
export { spar, trajectory, type WholeFilters } from './whole-answers.ts';
