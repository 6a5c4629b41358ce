/**
 * Finished trees into training data: rules make rows, forms give them the shape of a trainer, writers put them into
 * files, an audit looks at any dataset.
 *
 * @module
 */

export { auditDataset } from './audit/audit-dataset.ts';
export {
  type AuditCode,
  type AuditExample,
  type AuditFact,
  type AuditFinding,
  type AuditOptions,
  type AuditReport,
  type AuditRule,
  type AuditSet,
  type AuditSeverity,
  auditRules,
} from './audit/report.ts';
export { type RuleEntry, rowRules, ruleNamed, ruleNames } from './catalogue.ts';
export { formatFamilies } from './formats/families.ts';
export type {
  Columns,
  ColumnType,
  ColumnValue,
  FileRow,
  FormatFamily,
  FormatOptions,
  ListColumn,
  MakeRowFormat,
  OptionalColumn,
  RowFormat,
  StructColumn,
} from './formats/format.ts';
export { type JinjaPromptOptions, jinjaPrompt } from './formats/jinja-prompt.ts';
export { llamaFactory } from './formats/llama-factory.ts';
export { llamaFactoryShareGpt } from './formats/llama-factory-sharegpt.ts';
export { type MapRowOptions, mapRow, type ValueOf, type ValuesOf } from './formats/map-row.ts';
export { mathShepherd, readMathShepherd } from './formats/math-shepherd.ts';
export { openAiFiles } from './formats/openai.ts';
export { prm800k, readPrm800k } from './formats/prm800k.ts';
export { chatmlPrompt, plainPrompt, type RenderPrompt } from './formats/render.ts';
export type { OfKind, RowOfKind } from './formats/row-format.ts';
export { stepApoFiles, stepDpoFiles } from './formats/step-dpo.ts';
export { trl, trlReward } from './formats/trl.ts';
export {
  type ConversationKind,
  trlConversational,
  trlTools,
} from './formats/trl-conversational.ts';
export { type VerlOptions, verl } from './formats/verl.ts';
export type { MathShepherdOptions } from './labels/math-shepherd.ts';
export type { ValueSource } from './labels/monte-carlo.ts';
export type { OmegaPrmLabelOptions } from './labels/omega-prm.ts';
export { effectiveReward, type PavOptions, type ProgressOptions } from './labels/pav.ts';
export type { Prm800kOptions } from './labels/prm800k.ts';
export { nextValue, type RestMctsLabelOptions } from './labels/rest-mcts.ts';
export { type StepLabels, stepLabels } from './labels/step-labels.ts';
export type { StepwisePaths } from './labels/stepwise-rule.ts';
export type {
  PairFilters,
  PairNodes,
  PairRule,
  PairScore,
  PairSiblings,
  PairSource,
  PreferencePair,
} from './pairs/pair-rule.ts';
export {
  type AgentQPairOptions,
  type MctsDpoPairOptions,
  type PairRules,
  pairRules,
  type StepApoOptions,
  type StepQOptions,
} from './pairs/pair-rules.ts';
export { type PairScores, pairScores } from './pairs/pair-scores.ts';
export { pairsOf } from './pairs/pairs-of.ts';
export { type PairRowRule, preferences } from './pairs/preferences.ts';
export type { RStarMathOptions } from './pairs/r-star-math.ts';
export type {
  SparOptions,
  TrajectoryOptions,
  TrajectoryPaths,
  WholeFilters,
} from './pairs/whole-answers.ts';
export type { BestPaths, PathChoice } from './path-choice.ts';
export { pathCompletion, stepsOf } from './path-completion.ts';
export { type OmegaPrmOptions, type OmegaPrmState, readOmegaPrm } from './readers/omega-prm.ts';
export { readToolBench, type ToolBenchOptions } from './readers/tool-bench.ts';
export type {
  ToolBenchAction,
  ToolBenchCall,
  ToolBenchState,
  ToolBenchStep,
} from './readers/tool-bench-step.ts';
export {
  countEnds,
  type EndCounts,
  isEnd,
  isRight,
  type RowNotation,
  type TreeRecord,
} from './record.ts';
export type { PathEstimator, StepEstimator } from './rl/estimators.ts';
export type { PromptsOptions } from './rl/prompts.ts';
export { type RlRules, rlRules } from './rl/rl-rules.ts';
export type { RolloutOptions } from './rl/rollouts.ts';
export type { Estimator, TreeAdvantagesOptions } from './rl/tree-advantages.ts';
export type {
  Guidance,
  LabelledStep,
  PreferenceRow,
  PromptRow,
  RolloutRow,
  RowKind,
  RowProvenance,
  RowRule,
  SftRow,
  StepwiseRow,
  TrainingRow,
  UnpairedRow,
} from './rows.ts';
export type { AgentROptions } from './sft/agent-r.ts';
export type { BestTrajectoriesOptions } from './sft/best-trajectories.ts';
export type { JudgeRowOptions } from './sft/judge.ts';
export { type ActionMove, type BackMove, type Move, movesThrough } from './sft/moves.ts';
export type { RefinerOptions } from './sft/refiner.ts';
export { type ResimulateOptions, resimulate } from './sft/resimulate.ts';
export { type SftRules, sftRules } from './sft/sft-rules.ts';
export type { Splice, SpliceOptions } from './sft/splices.ts';
export type { TraversalsOptions } from './sft/traversals.ts';
export { type VerifySplicesOptions, verifySplices } from './sft/verify-splices.ts';
export {
  type SiblingLabelOptions,
  type UnpairedOptions,
  type UnpairedRules,
  unpairedRules,
} from './unpaired.ts';
export { type UploadOptions, uploadDataset } from './upload-dataset.ts';
export type { Histogram, HistogramBin } from './writers/histogram.ts';
export type {
  ConfigReport,
  LabelCounts,
  RefusedRows,
  RowSources,
  SplitReport,
} from './writers/report.ts';
export {
  type CardOptions,
  type DatasetConfig,
  type DatasetFile,
  type DatasetReport,
  type SplitShares,
  type WriteDatasetOptions,
  writeDataset,
} from './writers/write-dataset.ts';
