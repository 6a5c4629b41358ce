/**
 * Who values states and actions: v(s), in [0, 1].
 *
 * @module
 */

export { type StatusCodes, statusCodes, statusMeanings } from '../prompting/codes.ts';
export {
  actionShare,
  type ModelSamples,
  type PolicySamples,
  type SelfConsistencyBasics,
  type SelfConsistencyOptions,
  type SelfConsistencyText,
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
export {
  type CriticRankingOptions,
  type CriticRankingText,
  criticRanking,
} from './critic/critic-ranking.ts';
export { linearRank, type RankScore, reciprocalRank } from './critic/rank-score.ts';
export type { NamedEvaluator, WhenPartFails } from './evaluator-parts.ts';
export { goldVerifier, oracleGuided } from './gold-verifier.ts';
export { heuristic } from './heuristic.ts';
export type { CodesForm, CodesText } from './judge/codes-form.ts';
export { type CompareOptions, compare } from './judge/compare.ts';
export {
  type ComparePairOptions,
  type ComparePairText,
  type Comparison,
  comparePair,
  comparePrompts,
  type Pair,
} from './judge/compare-pair.ts';
export type { CriteriaForm, CriteriaText } from './judge/criteria.ts';
export { type DebateOptions, type DebateText, debate } from './judge/debate.ts';
export type { JudgedText } from './judge/form.ts';
export {
  type JudgeBasics,
  type JudgementScale,
  type JudgeOptions,
  judge,
  judgePrompt,
} from './judge/judge.ts';
export type { NumberForm, NumberText } from './judge/number.ts';
export { type Criterion, workCriteria } from './judge/rubric.ts';
export type { ScaleForm, ScaleText } from './judge/scale.ts';
export { type SelfEvalOptions, type SelfEvalText, selfEval } from './judge/self-eval.ts';
export type { SuccessForm, SuccessText } from './judge/success.ts';
export type { YesNoForm, YesNoText } from './judge/yes-no.ts';
export { type DecisionOptions, type DecisionTexts, decision } from './reward/decision.ts';
export { type OrmOptions, orm } from './reward/orm.ts';
export { type PrmOptions, prm, type StepAggregate } from './reward/prm.ts';
export { type ProgressOptions, progress } from './reward/progress.ts';
export type { SolutionOptions, SolutionText } from './reward/solution-of.ts';
export { type RolloutOptions, rollout } from './rollout/rollout.ts';
export { type WithSimulationOptions, withSimulation } from './rollout/with-simulation.ts';
export { type RunTimeVerifier, verifier } from './verifier.ts';
