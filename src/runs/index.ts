/**
 * Run folders: what was asked, every paid call, the trees, what was found.
 *
 * @module
 */

export {
  type GenerateOptions,
  type GenerateProblem,
  type GenerateProgress,
  type GenerateReport,
  generate,
  type TreePlan,
} from './generate.ts';
export { type RecordDescription, readRecords } from './records.ts';
export {
  openRun,
  type ProblemOutcome,
  type RunFolder,
  readRun,
  type SavedRun,
} from './run-folder.ts';
export type { StoredTree, TreeEntry, TreeKey } from './trees-file.ts';
