/**
 * Benchmarks: does search pay, which one, from what budget on, at what price. Tasks, methods side by side at equal budgets,
 * reports with a verdict.
 *
 * @module espalier/bench
 */

export { type Compared, compare } from './bench.ts';
export type { BenchCell } from './cell.ts';
export type { CompareOptions } from './compare-options.ts';
export { reportMarkdown } from './markdown.ts';
export type { BenchMethod, BenchModels, BenchPlan } from './methods.ts';
export { reportPage } from './page/page.ts';
export type {
  BenchBudget,
  BenchDifference,
  BenchPoint,
  BenchReport,
  Calibration,
  Verdict,
} from './report.ts';
export type { DocumentOptions } from './sections.ts';
export type { BenchInstance, BenchTask } from './task.ts';
export type { BenchTaskEntry, BenchTaskOptions } from './tasks/entry.ts';
export { recordedTask } from './tasks/recorded.ts';
export { benchTasks, taskNamed } from './tasks/tasks.ts';
