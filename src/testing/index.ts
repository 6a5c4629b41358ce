/**
 * Test doubles, tiny problems with known truths, and the contracts of plug-ins as test suites. For any
 * test runner.
 *
 * @module
 */

export { type BanditTree, type BanditTreeOptions, banditTree } from './bandit-tree.ts';
export {
  type ChainReaderOptions,
  type ChainState,
  type ChainTask,
  type ChainTaskOptions,
  chainTask,
} from './chain-task.ts';
export type { AlgorithmClaims, CostRules } from './contracts/algorithm/claims.ts';
export { describeAlgorithm } from './contracts/describe-algorithm.ts';
export { describeEnvironment, type EnvironmentClaims } from './contracts/describe-environment.ts';
export { describeEvaluator, type EvaluatorClaims } from './contracts/describe-evaluator.ts';
export { describeLanguageModel } from './contracts/describe-language-model.ts';
export { describePolicy, type PolicyClaims } from './contracts/describe-policy.ts';
export type { LanguageModelClaims } from './contracts/language-model/claims.ts';
export type { EmulatorAccount } from './emulator/account.ts';
export type { RewardQuestion } from './emulator/dialect.ts';
export { type EmulatedRequest, type Emulator, emulator } from './emulator/emulator.ts';
export type { Fault, FaultRequest } from './emulator/faults.ts';
export type { EmulatedDialect, EmulatorOptions } from './emulator/options.ts';
export type { EmulatedAnswer, EmulatedQuestion } from './emulator/question.ts';
export { type ManualClock, type ManualClockOptions, manualClock } from './manual-clock.ts';
export { type PlainContextOptions, plainContext } from './plain-context.ts';
export type { Problem } from './problem.ts';
export { type ScriptedModel, type ScriptedModelOptions, scriptedModel } from './scripted-model.ts';
export { type SyntheticState, type SyntheticTreeOptions, syntheticTree } from './synthetic-tree.ts';
export {
  type MdpTable,
  type TableMdpOptions,
  type TableTransition,
  tableMdp,
} from './table-mdp.ts';
export type { Exemption, TestRunner } from './test-runner.ts';
export { type TicTacToe, ticTacToe } from './tic-tac-toe.ts';
