/**
 * The rules that label the steps of solutions, to train process reward models on.
 *
 * @module
 */

export { mathShepherd } from './math-shepherd.ts';
export { omegaPrm } from './omega-prm.ts';
export { type PavOptions, pav } from './pav.ts';
export { prm800k } from './prm800k.ts';
export { restMcts } from './rest-mcts.ts';
export type { StepLabelOptions } from './stepwise-rule.ts';
