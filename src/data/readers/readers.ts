/**
 * Readers of published trees and rows.
 *
 * @module
 */

export { readMathShepherd } from '../formats/math-shepherd.ts';
export { readPrm800k } from '../formats/prm800k.ts';
export { type OmegaPrmState, readOmegaPrm } from './omega-prm.ts';
export { readToolBench } from './tool-bench.ts';
export type { ToolBenchAction, ToolBenchState, ToolBenchStep } from './tool-bench-step.ts';
