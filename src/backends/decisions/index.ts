/**
 * Models that answer typed questions with probabilities: behind System One and OpenAI's Decisions, and made of
 * language models.
 *
 * @module
 */

export type { DecisionPromptNames } from './codes.ts';
export { decisions } from './decisions.ts';
export {
  type DecisionsFromModelOptions,
  decisionsFromModel,
  type PromptedDecisionModel,
} from './from-model.ts';
export { type DecisionsFromScoresOptions, decisionsFromScores } from './from-scores.ts';
export { systemOne } from './system-one.ts';
