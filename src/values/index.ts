/**
 * Who values states and actions: v(s), in [0, 1].
 *
 * @module
 */

export {
  actionShare,
  type SelfConsistencyOptions,
  selfConsistency,
} from './agreement/self-consistency.ts';
export { type Discrimination, discrimination, type Labelled } from './calibrate/auc.ts';
export {
  type CalibrationMap,
  calibrated,
  fitIsotonic,
  fitPlatt,
  type IsotonicMap,
  type PlattMap,
  probabilityOf,
} from './calibrate/calibrate.ts';
export {
  type Reliability,
  type ReliabilityBin,
  type ReliabilityOptions,
  reliability,
  renderReliability,
} from './calibrate/report.ts';
export { labelledFrom } from './calibrate/samples.ts';
export {
  type EnsembleOptions,
  ensemble,
  type Weight,
  type WeightedPart,
} from './combine/ensemble.ts';
export { type HybridWeightOptions, hybridWeight } from './combine/hybrid-weight.ts';
export { type StagedOptions, staged } from './combine/staged.ts';
export { criticRanking } from './critic/critic-ranking.ts';
export type { CriticRankingOptions } from './critic/question.ts';
export type { NamedEvaluator, WhenPartFails } from './evaluator-parts.ts';
export { goldVerifier, oracleGuided } from './gold-verifier.ts';
export { heuristic } from './heuristic.ts';
export { compare } from './judge/compare.ts';
export type { CompareOptions } from './judge/compare-pair.ts';
export { type DebateOptions, debate } from './judge/debate.ts';
export { judge } from './judge/judge.ts';
export type { JudgeOptions, JudgingOptions } from './judge/judge-options.ts';
export { type Criterion, workCriteria } from './judge/rubric.ts';
export { type SelfEvalOptions, selfEval } from './judge/self-eval.ts';
export { type DecisionOptions, decision } from './reward/decision.ts';
export { type OrmOptions, orm } from './reward/orm.ts';
export { type PrmOptions, prm, type StepAggregate } from './reward/prm.ts';
export { type ProgressOptions, progress } from './reward/progress.ts';
export type { SolutionOptions, SolutionText } from './reward/solution-of.ts';
export { type RolloutOptions, rollout } from './rollout/rollout.ts';
export { type WithSimulationOptions, withSimulation } from './rollout/with-simulation.ts';
export { type RunTimeVerifier, verifier } from './verifier.ts';
