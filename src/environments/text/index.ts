/**
 * Reasoning in text: questions that a model answers step by step, and what their answers are compared by.
 *
 * @module
 */

export { type AnswerOracle, type AnswerOracleOptions, answerOracle } from './answer-oracle.ts';
export { extractAnswer } from './extract-answer.ts';
export { isSameAnswer, type SameAnswerOptions } from './is-same-answer.ts';
export {
  notationFor,
  type ReasoningEnvironment,
  type ReasoningOptions,
  reasoning,
} from './reasoning.ts';
export type { ReasoningNotations } from './reasoning-notation.ts';
export type { ReasoningState } from './reasoning-state.ts';
