/**
 * Tree search over the steps of a language model or an agent.
 *
 * @module espalier
 */

export { systemClock } from './base/clock.ts';
export {
  type ErrorScope,
  EspalierError,
  type EspalierErrorCode,
  ModelCallError,
  type ModelCallErrorKind,
  type ModelCallErrorOptions,
} from './base/errors.ts';
export { provenanceOf, provenanceOfModel } from './base/provenance.ts';
export { seededRandom } from './base/random.ts';
export type {
  Batch,
  BatchAnswer,
  Batches,
  BatchReply,
  BatchRequest,
  BatchService,
  BatchState,
} from './contracts/batch.ts';
export type { Clock } from './contracts/clock.ts';
export type { CallContext, EffectName, Random } from './contracts/context.ts';
export type { EmbeddingModel, Embeddings } from './contracts/embedding-model.ts';
export type { Entry } from './contracts/entry.ts';
export type {
  Environment,
  Notation,
  Parsed,
  StepContext,
  Transition,
} from './contracts/environment.ts';
export type { Evaluation } from './contracts/evaluation.ts';
export type {
  EvaluateRequest,
  Evaluator,
  EvaluatorLike,
  Heuristic,
} from './contracts/evaluator.ts';
export type { CountedFailure, Failed, Failure } from './contracts/failure.ts';
export type { Codec, JsonValue, MaybePromise } from './contracts/json.ts';
export type {
  Capabilities,
  Completion,
  FailedAttempt,
  GenerateRequest,
  Generation,
  Image,
  LanguageModel,
  Message,
  Middleware,
  ModelCall,
  ModelPrice,
  ModelWarning,
  OriginalTurn,
  Payee,
  RateLimits,
  TokenAlternative,
  TokenLogprob,
  ToolCall,
  ToolDefinition,
  Usage,
} from './contracts/language-model.ts';
export type {
  Memory,
  MemoryQuery,
  Recollection,
  Reflection,
  ReflectionStore,
  Retriever,
} from './contracts/memory.ts';
export type {
  ChildNode,
  NodeId,
  NodeStatistics,
  NodeStatus,
  NodeWithState,
  ProposedNode,
  PruneReason,
  RealisedNode,
  RootNode,
  SearchNode,
} from './contracts/node.ts';
export type { Operation, WorstCase } from './contracts/operation.ts';
export type {
  Policy,
  PolicyLike,
  Proposal,
  ProposeRequest,
  ValidProposal,
} from './contracts/policy.ts';
export type { PromptPart, PromptPartRequest } from './contracts/prompt-part.ts';
export type { Provenance } from './contracts/provenance.ts';
export type { RewardModel, ScoreRequest, Solution, StepScores } from './contracts/reward-model.ts';
export type { Budget, ModelUsage, Role, Spend } from './contracts/spend.ts';
export type { Oracle, Verdict, Verifier } from './contracts/verifier.ts';
export type { ActCall, Seen, Workspace, World } from './contracts/world.ts';
export type { PromptSet } from './prompting/prompts.ts';
export { abMcts } from './search/algorithms/ab-mcts.ts';
export { algorithms } from './search/algorithms/algorithms.ts';
export { type AstarOptions, astar } from './search/algorithms/astar.ts';
export { type BeamOptions, beam } from './search/algorithms/beam.ts';
export { type BestFirstOptions, bestFirst } from './search/algorithms/best-first.ts';
export { type BestOfNOptions, bestOfN } from './search/algorithms/best-of-n.ts';
export { type BudgetedOptions, budgeted } from './search/algorithms/budgeted.ts';
export { type DepthFirstOptions, depthFirst } from './search/algorithms/depth-first.ts';
export type { AlgorithmEntry } from './search/algorithms/entry.ts';
export { type GumbelOptions, gumbel } from './search/algorithms/gumbel.ts';
export { isGoal } from './search/algorithms/is-goal.ts';
export { type LatsOptions, lats } from './search/algorithms/lats.ts';
export { type MctsOptions, mcts } from './search/algorithms/mcts.ts';
export { stepwise } from './search/algorithms/stepwise.ts';
export {
  adaptiveConsistency,
  esc,
  type StoppingRule,
} from './search/algorithms/stopping-rules.ts';
export {
  lookBack,
  type ReflectionOptions,
  withReflection,
} from './search/algorithms/with-reflection.ts';
export type {
  ConservationLaw,
  ExpandOptions,
  SearchAlgorithm,
  SearchContext,
  SearchMethod,
  SearchOptions,
  SearchResult,
  SimulateOptions,
  Simulation,
  SimulationOutcome,
  StopCondition,
  StopReason,
} from './search/contracts.ts';
export type { PlacedNodeJson, SearchEventJson, SearchResultJson } from './search/event-json.ts';
export type { SearchStream } from './search/event-stream.ts';
export type { SearchEvent } from './search/events.ts';
export { search, streamSearch } from './search/search.ts';
export { solved } from './search/stop-conditions.ts';
export {
  type BackupOptions,
  type BackupRule,
  maxBackup,
  meanBackup,
  tdBackup,
  visitWeighted,
} from './tree/backup.ts';
export type { Conclusion } from './tree/conclusion.ts';
export { explain } from './tree/explain.ts';
export {
  type FinalChoice,
  maxChild,
  robustChild,
  robustOrSolvedChild,
} from './tree/final-choice.ts';
export { type InFlight, unobserved, virtualLoss } from './tree/in-flight.ts';
export type { NewChild } from './tree/node.ts';
export { type Notes, notesOf } from './tree/notes.ts';
export {
  type Belief,
  betaBelief,
  gaussianBelief,
} from './tree/posterior.ts';
export {
  byMinMax,
  byParentAndSiblings,
  type CompletedOptions,
  completedByMixValue,
  mixedWithEvaluation,
} from './tree/qtransform.ts';
export { renderTree } from './tree/render.ts';
export type { Explained, Reasons, RuleSpec } from './tree/rules.ts';
export {
  canWiden,
  descend,
  flat,
  isClosed,
  knownValue,
  leastTried,
  type PuctOptions,
  puct,
  type QTransform,
  type RuleView,
  type Selection,
  type SelectionOptions,
  type SelectionRule,
  subtree,
  type TreeView,
  thompson,
  type UctOptions,
  uct,
  type WideningRule,
} from './tree/selection.ts';
export { treeFromJson, treeToJson } from './tree/serialize.ts';
export type { LoggedSimulation, SimulationLog } from './tree/simulation-log.ts';
export { actionsTo, pathTo, promiseOf, type SearchSummary, summarise } from './tree/summary.ts';
export { SearchTree } from './tree/tree.ts';
export type {
  NodeJson,
  TreeJson,
} from './tree/tree-json.ts';
export {
  progressiveWidening,
  valueWidening,
} from './tree/widening.ts';
export { type Arms, thompsonArms, widerOrDeeper } from './tree/wider-or-deeper.ts';
