/**
 * Finished trees into training data: rules make rows, formats give them the shape of a trainer, writers put them into
 * files, an audit looks at any dataset.
 *
 * @module
 */

import * as formats from './formats/formats.ts';
import * as stepLabels from './labels/step-labels.ts';
import * as pairRules from './pairs/pair-rules.ts';
import * as pairScores from './pairs/pair-scores.ts';
import * as readers from './readers/readers.ts';
import * as rlRules from './rl/rl-rules.ts';
import * as sftRules from './sft/sft-rules.ts';
import * as unpairedRules from './unpaired-rules.ts';

export { auditDataset } from './audit/audit-dataset.ts';
export type {
  AuditCode,
  AuditFinding,
  AuditOptions,
  AuditReport,
  AuditSet,
} from './audit/report.ts';
export type { Columns, ColumnType, ColumnValue, FileRow } from './formats/columns.ts';
export type { DatasetFormat, FormatOptions, RowFormat, RowOfKind } from './formats/format.ts';
export { jinjaPrompt } from './formats/jinja-prompt.ts';
export { type MapRowOptions, mapRow, type ValueOf, type ValuesOf } from './formats/map-row.ts';
export { chatmlPrompt, plainPrompt, type RenderPrompt } from './formats/render.ts';
export type { ValueSource } from './labels/monte-carlo.ts';
export type {
  PairFilters,
  PairNodes,
  PairRule,
  PairScore,
  PairSiblings,
  PairSource,
  PreferencePair,
} from './pairs/pair-rule.ts';
export { pairsOf } from './pairs/pairs-of.ts';
export { type PairRowRule, preferences } from './pairs/preferences.ts';
export type { PathChoice } from './path-choice.ts';
export type { EndCounts, RowNotation, TreeRecord } from './record.ts';
export type {
  Guidance,
  LabelledStep,
  PreferenceRow,
  PromptRow,
  RolloutRow,
  RowKind,
  RowProvenance,
  RowRule,
  RuleInfo,
  SftRow,
  StepwiseRow,
  TrainingRow,
  UnpairedRow,
} from './rows.ts';
export type { Splice, SpliceOptions } from './sft/splices.ts';
export { type VerifySplicesOptions, verifySplices } from './sft/verify-splices.ts';
export { type UploadOptions, uploadDataset } from './upload-dataset.ts';
export type { Histogram } from './writers/histogram.ts';
export type { ConfigReport, DatasetReport } from './writers/report.ts';
export {
  type CardOptions,
  type DatasetConfig,
  type DatasetFile,
  type WriteDatasetOptions,
  writeDataset,
} from './writers/write-dataset.ts';
export { formats, pairRules, pairScores, readers, rlRules, sftRules, stepLabels, unpairedRules };
