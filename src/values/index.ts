/**
 * Who values states and actions: v(s), in [0, 1].
 *
 * @module
 */

export {
  type CalibrationMap,
  calibrated,
  fitIsotonic,
  fitPlatt,
  type IsotonicMap,
  type PlattMap,
  probabilityOf,
} from './calibrate.ts';
export { type Discrimination, discrimination, type Labelled } from './calibration-auc.ts';
export {
  type Reliability,
  type ReliabilityBin,
  type ReliabilityOptions,
  reliability,
  renderReliability,
} from './calibration-report.ts';
export { labelledFrom } from './calibration-samples.ts';
export { type StatusCodes, statusCodes, statusMeanings } from './codes.ts';
export { type CompareOptions, compare } from './compare.ts';
export {
  type ComparePairOptions,
  type ComparePairText,
  type Comparison,
  comparePair,
  comparePrompts,
  type Pair,
} from './compare-pair.ts';
export {
  type CriticRankingOptions,
  type CriticRankingText,
  criticRanking,
} from './critic-ranking.ts';
export { type DebateOptions, type DebateText, debate } from './debate.ts';
export { type DecisionOptions, type DecisionTexts, decision } from './decision.ts';
export { type EnsembleOptions, ensemble, type Weight, type WeightedPart } from './ensemble.ts';
export type { NamedEvaluator, WhenPartFails } from './ensemble-parts.ts';
export { goldVerifier, oracleGuided } from './gold-verifier.ts';
export { heuristic } from './heuristic.ts';
export { type HybridWeightOptions, hybridWeight } from './hybrid-weight.ts';
export {
  type JudgeBasics,
  type JudgementScale,
  type JudgeOptions,
  judge,
  judgePrompt,
} from './judge.ts';
export type { CodesForm, CodesText } from './judge-codes.ts';
export type { CriteriaForm, CriteriaText } from './judge-criteria.ts';
export type { JudgedText } from './judge-form.ts';
export type { NumberForm, NumberText } from './judge-number.ts';
export type { ScaleForm, ScaleText } from './judge-scale.ts';
export type { SuccessForm, SuccessText } from './judge-success.ts';
export type { YesNoForm, YesNoText } from './judge-yes-no.ts';
export { type OrmOptions, orm } from './orm.ts';
export { type PrmOptions, prm, type StepAggregate } from './prm.ts';
export { type ProgressOptions, progress } from './progress.ts';
export { linearRank, type RankScore, reciprocalRank } from './rank-score.ts';
export { type RolloutOptions, rollout } from './rollout.ts';
export { type Criterion, workCriteria } from './rubric.ts';
export {
  actionShare,
  type ModelSamples,
  type PolicySamples,
  type SelfConsistencyBasics,
  type SelfConsistencyOptions,
  type SelfConsistencyText,
  selfConsistency,
} from './self-consistency.ts';
export { type SelfEvalOptions, type SelfEvalText, selfEval } from './self-eval.ts';
export type { SolutionOptions, SolutionText } from './solution-of.ts';
export { type StagedOptions, staged } from './staged.ts';
export { type RunTimeVerifier, verifier } from './verifier.ts';
export { type WithSimulationOptions, withSimulation } from './with-simulation.ts';
