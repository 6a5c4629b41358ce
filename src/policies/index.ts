/**
 * Policies, which propose actions: π(a | s).
 *
 * @module espalier/policies
 */

export type { Texts } from '../prompting/prompts.ts';
export { callTools } from './call-tools.ts';
export { type FromModelOptions, fromModel } from './from-model/from-model.ts';
export type { SamplingOptions } from './from-model/settings.ts';
export { greedy } from './greedy.ts';
export { introspective } from './introspective.ts';
export { journaled } from './journaled.ts';
export { mostFrequent } from './most-frequent.ts';
export { type MultiActionOptions, multiAction } from './multi-action.ts';
export type { ActionKind } from './multi-action-prompts.ts';
export { multiModel } from './multi-model.ts';
export { type PlanStepOptions, planStep } from './plan-step.ts';
export { type SelfRefineOptions, selfRefine } from './self-refine.ts';
export { sequenceProbability } from './sequence-probability.ts';
export { type SiblingsOptions, siblings } from './siblings.ts';
export { subQuestion } from './sub-question.ts';
export { uniform } from './uniform.ts';
