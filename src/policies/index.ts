/**
 * Who proposes actions: π(a | s).
 *
 * @module
 */

export { type FromModelOptions, fromModel, repairPrompt } from './from-model/from-model.ts';
export type { FromModelTexts } from './from-model/prompts.ts';
export type { SamplingOptions } from './from-model/settings.ts';
export { type GreedyOptions, greedy } from './greedy.ts';
export {
  type IntrospectiveOptions,
  type IntrospectiveTexts,
  introspective,
} from './introspective.ts';
export { type JournaledOptions, journaled } from './journaled.ts';
export { type MostFrequentOptions, mostFrequent } from './most-frequent.ts';
export { actionKind, type MultiActionOptions, multiAction } from './multi-action.ts';
export type { ActionKind, MultiActionTexts } from './multi-action-prompts.ts';
export { type MultiModelOptions, multiModel } from './multi-model.ts';
export {
  type PlanStepOptions,
  type PlanStepSamples,
  type PlanStepTexts,
  planStep,
} from './plan-step.ts';
export type { PriorRule } from './priors.ts';
export { type SelfRefineOptions, type SelfRefineTexts, selfRefine } from './self-refine.ts';
export { type SequenceProbabilityOptions, sequenceProbability } from './sequence-probability.ts';
export { type SiblingsOptions, type SiblingsTexts, siblings } from './siblings.ts';
export { type SubQuestionOptions, type SubQuestionTexts, subQuestion } from './sub-question.ts';
export { uniform } from './uniform.ts';
