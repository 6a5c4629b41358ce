/**
 * Test doubles, tiny problems with known solutions, and conformance suites for plug-ins, for any test runner.
 *
 * @module espalier/testing
 */

export { banditTree } from './bandit-tree.ts';
export { type ChainTask, chainTask } from './chain-task.ts';
export type { AlgorithmClaims } from './contracts/algorithm/claims.ts';
export { describeAlgorithm } from './contracts/describe-algorithm.ts';
export { describeEnvironment, type EnvironmentClaims } from './contracts/describe-environment.ts';
export { describeEvaluator, type EvaluatorClaims } from './contracts/describe-evaluator.ts';
export { describeLanguageModel } from './contracts/describe-language-model.ts';
export { describePolicy, type PolicyClaims } from './contracts/describe-policy.ts';
export type { LanguageModelClaims } from './contracts/language-model/claims.ts';
export { type Emulator, emulator } from './emulator/emulator.ts';
export type { Fault } from './emulator/faults.ts';
export type { EmulatorOptions } from './emulator/options.ts';
export type { EmulatedAnswer, EmulatedQuestion } from './emulator/question.ts';
export { type ManualClock, manualClock } from './manual-clock.ts';
export { plainContext } from './plain-context.ts';
export type { Problem } from './problem.ts';
export { type ScriptedModel, type ScriptedModelOptions, scriptedModel } from './scripted-model.ts';
export { type SyntheticState, syntheticTree } from './synthetic-tree.ts';
export { type MdpTable, tableMdp } from './table-mdp.ts';
export type { TestRunner } from './test-runner.ts';
export { ticTacToe } from './tic-tac-toe.ts';
