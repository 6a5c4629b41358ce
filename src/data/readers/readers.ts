/**
 * Readers of published trees and rows.
 *
 * @module
 */

export { readMathShepherd } from '../formats/math-shepherd.ts';
export { readPrm800k } from '../formats/prm800k.ts';
export { type OmegaPrmOptions, type OmegaPrmState, readOmegaPrm } from './omega-prm.ts';
export { readToolBench, type ToolBenchOptions } from './tool-bench.ts';
export type {
  ToolBenchAction,
  ToolBenchCall,
  ToolBenchState,
  ToolBenchStep,
} from './tool-bench-step.ts';
