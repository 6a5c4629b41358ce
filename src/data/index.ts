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
  RowFormat,
} from './formats/format.ts';
export { type JinjaPromptOptions, jinjaPrompt } from './formats/jinja-prompt.ts';
export { llamaFactory } from './formats/llama-factory.ts';
export { llamaFactoryShareGpt } from './formats/llama-factory-sharegpt.ts';
export { type MapRowOptions, mapRow } from './formats/map-row.ts';
export { mathShepherd, readMathShepherd } from './formats/math-shepherd.ts';
export { openAiFiles } from './formats/openai.ts';
export { prm800k, readPrm800k } from './formats/prm800k.ts';
export { chatmlPrompt, plainPrompt, type RenderPrompt } from './formats/render.ts';
export { stepApoFiles, stepDpoFiles } from './formats/step-dpo.ts';
export { trl, trlReward } from './formats/trl.ts';
export { trlConversational, trlTools } from './formats/trl-conversational.ts';
export { type VerlOptions, verl } from './formats/verl.ts';
export type { PathChoice } from './labels/path-choice.ts';
export { type StepLabels, stepLabels } from './labels/step-labels.ts';
export type {
  PairFilters,
  PairNodes,
  PairRule,
  PairScore,
  PairSiblings,
  PairSource,
  PreferencePair,
} from './pairs/pair-rule.ts';
export { type PairRules, pairRules } from './pairs/pair-rules.ts';
export { type PairScores, pairScores } from './pairs/pair-scores.ts';
export { pairsOf } from './pairs/pairs-of.ts';
export { type PairRowRule, preferences } from './pairs/preferences.ts';
export { pathCompletion, stepsOf } from './path-completion.ts';
export { type OmegaPrmOptions, type OmegaPrmState, readOmegaPrm } from './readers/omega-prm.ts';
export { readToolBench, type ToolBenchOptions } from './readers/tool-bench.ts';
export {
  countEnds,
  type EndCounts,
  isEnd,
  isRight,
  type RowNotation,
  type TreeRecord,
} from './record.ts';
export { type RlRules, rlRules } from './rl/rl-rules.ts';
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
export { type SftRules, sftRules } from './sft/sft-rules.ts';
export type { Splice, SpliceOptions } from './sft/splices.ts';
export { type VerifySplicesOptions, verifySplices } from './sft/verify-splices.ts';
export { type UnpairedRules, unpairedRules } from './unpaired.ts';
export {
  type CardOptions,
  type DatasetConfig,
  type DatasetFile,
  type DatasetReport,
  type SplitShares,
  type WriteDatasetOptions,
  writeDataset,
} from './writers/write-dataset.ts';
