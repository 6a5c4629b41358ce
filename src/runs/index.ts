/**
 * Run folders: requests, paid calls, trees and results.
 *
 * @module espalier/runs
 */

export type { BatchOptions, BatchProgress } from './batch-desk.ts';
export { generate } from './generate.ts';
export type { GenerateOptions, GenerateProgress, GenerateReport } from './generate-options.ts';
export type { PartRequest } from './part-request.ts';
export { readRecords } from './records.ts';
export {
  openRun,
  type ProblemOutcome,
  type RunFolder,
  readRun,
  type SavedRun,
} from './run-folder.ts';
export type { TreeEntry } from './trees-file.ts';
