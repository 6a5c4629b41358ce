/**
 * Evaluators of states and actions: v(s), in [0, 1].
 *
 * @module espalier/values
 */

export {
  actionShare,
  type SelfConsistencyOptions,
  selfConsistency,
} from './agreement/self-consistency.ts';
export type { Discrimination, Labelled } from './calibrate/auc.ts';
export { type CalibrationMap, calibrated, fitIsotonic, fitPlatt } from './calibrate/calibrate.ts';
export { type Reliability, reliability, renderReliability } from './calibrate/report.ts';
export { labelledFrom } from './calibrate/samples.ts';
export { ensemble } from './combine/ensemble.ts';
export { everyNth } from './combine/every-nth.ts';
export { hybridWeight } from './combine/hybrid-weight.ts';
export { type StagedOptions, staged } from './combine/staged.ts';
export { criticRanking } from './critic/critic-ranking.ts';
export type { CriticRankingOptions } from './critic/question.ts';
export type { NamedEvaluator } from './evaluator-parts.ts';
export { goldVerifier } from './gold-verifier.ts';
export { heuristic } from './heuristic.ts';
export type { PairwiseOptions } from './judge/compare-pair.ts';
export { type DebateOptions, debate } from './judge/debate.ts';
export { judge } from './judge/judge.ts';
export type { JudgeOptions } from './judge/judge-options.ts';
export { pairwise } from './judge/pairwise.ts';
export { type Criterion, workCriteria } from './judge/rubric.ts';
export { selfEval } from './judge/self-eval.ts';
export type { JudgingOptions } from './judging-options.ts';
export { type DecisionOptions, decision } from './reward/decision.ts';
export { orm } from './reward/orm.ts';
export { type PrmOptions, prm } from './reward/prm.ts';
export { type ProgressOptions, progress } from './reward/progress.ts';
export { type RolloutOptions, rollout } from './rollout/rollout.ts';
export { withSimulation } from './rollout/with-simulation.ts';
export { verifier } from './verifier.ts';
