/**
 * Training data from finished trees: rules make rows, formats shape them for a trainer, writers save them, and an audit
 * checks any dataset.
 *
 * @module espalier/data
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
export { readRows, type StoredRow } from './audit/read-rows.ts';
export type { AuditCode, AuditReport } from './audit/report.ts';
export type { Columns, ColumnType } from './formats/columns.ts';
export type { DatasetFormat, FormatOptions, RowFormat } from './formats/format.ts';
export { jinjaPrompt } from './formats/jinja-prompt.ts';
export { mapRow, type ValueOf } from './formats/map-row.ts';
export { chatmlPrompt, plainPrompt } from './formats/render.ts';
export type { IdlePairs, PairDepth } from './pair-depths.ts';
export type { PairFilters, PairRule, PairScore, PreferencePair } from './pairs/pair-rule.ts';
export { pairsOf } from './pairs/pairs-of.ts';
export { type PairRowRule, preferences } from './pairs/preferences.ts';
export type { TreeRecord } from './record.ts';
export type {
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
export type { Splice, SpliceOptions } from './sft/splices.ts';
export { verifySplices } from './sft/verify-splices.ts';
export { type UploadOptions, uploadDataset } from './upload-dataset.ts';
export type { Histogram } from './writers/histogram.ts';
export type { WriteDatasetOptions } from './writers/options.ts';
export type { DatasetReport } from './writers/report.ts';
export { writeDataset } from './writers/write-dataset.ts';
export { formats, pairRules, pairScores, readers, rlRules, sftRules, stepLabels, unpairedRules };
