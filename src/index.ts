/**
 * Tree search over the steps of a language model or an agent.
 *
 * @module
 */

import { astarEntry } from './search/algorithms/astar.ts';
import { bestOfNEntry } from './search/algorithms/best-of-n.ts';
import type { AlgorithmEntry } from './search/algorithms/entry.ts';
import { mctsEntry } from './search/algorithms/mcts.ts';

export { systemClock } from './base/clock.ts';
export {
  EspalierError,
  type EspalierErrorCode,
  ModelCallError,
  type ModelCallErrorKind,
  type ModelCallErrorOptions,
} from './base/errors.ts';
export { isFailure } from './base/failure.ts';
export { provenanceOf, provenanceOfModel } from './base/provenance.ts';
export { seededRandom } from './base/random.ts';
export type { Clock } from './contracts/clock.ts';
export type { CallContext, EffectName, NamedEffect, Random } from './contracts/context.ts';
export type {
  ChoiceDecision,
  ChoiceQuestion,
  Decision,
  DecisionModel,
  DecisionRequest,
  Decisions,
  Question,
  ScaleDecision,
  ScaleQuestion,
  YesNoDecision,
  YesNoQuestion,
} from './contracts/decision-model.ts';
export type { Embedding, EmbeddingModel, Embeddings } from './contracts/embedding-model.ts';
export type { Entry } from './contracts/entry.ts';
export type { Environment, Notation, Transition } from './contracts/environment.ts';
export type { Evaluation, RawScore } from './contracts/evaluation.ts';
export type {
  EvaluateRequest,
  Evaluator,
  EvaluatorLike,
  Heuristic,
} from './contracts/evaluator.ts';
export type { Failure } from './contracts/failure.ts';
export type { Codec, JsonValue, MaybePromise } from './contracts/json.ts';
export type {
  Capabilities,
  Completion,
  FailedAttempt,
  GenerateRequest,
  Generation,
  LanguageModel,
  Message,
  Middleware,
  ModelCall,
  ModelPrice,
  ModelWarning,
  NamedTool,
  RateLimit,
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
  ReflectionSource,
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
  RealisedNode,
  RootNode,
  SearchNode,
} from './contracts/node.ts';
export type {
  FailedProposal,
  Policy,
  PolicyLike,
  Proposal,
  ProposeRequest,
  ValidProposal,
} from './contracts/policy.ts';
export type { PromptPart, PromptPartRequest } from './contracts/prompt-part.ts';
export type { ModelProvenance, Provenance } from './contracts/provenance.ts';
export type { RewardModel, ScoreRequest, Solution, StepScores } from './contracts/reward-model.ts';
export type { Budget, Spend } from './contracts/spend.ts';
export type { Oracle, Verdict, Verifier } from './contracts/verifier.ts';
export { fill, type PromptSet, promptsOf, withTexts } from './prompting/prompts.ts';
export { type AstarOptions, astar } from './search/algorithms/astar.ts';
export { type BestOfNOptions, bestOfN } from './search/algorithms/best-of-n.ts';
export type { AlgorithmEntry, AlgorithmGround } from './search/algorithms/entry.ts';
export { type MctsOptions, mcts } from './search/algorithms/mcts.ts';
export { type StepwiseOptions, stepwise } from './search/algorithms/stepwise.ts';
export { type ReflectionOptions, withReflection } from './search/algorithms/with-reflection.ts';
export type {
  BudgetReserved,
  ConservationLaw,
  Coverage,
  ExpandOptions,
  MethodPart,
  MethodUse,
  OneAtATime,
  SearchAlgorithm,
  SearchContext,
  SearchFailures,
  SearchMethod,
  SearchOptions,
  SearchProgress,
  SearchResult,
  SimulateOptions,
  Simulation,
  SimulationOutcome,
  StopCondition,
  StopReason,
} from './search/contracts.ts';
export type {
  CallEndEvent,
  CursorAdvancedEvent,
  NodeEvaluatedEvent,
  NodeExpandedEvent,
  NodeFailedEvent,
  NodeRealisedEvent,
  ProposalFailedEvent,
  SearchEndEvent,
  SearchEvent,
  SearchStartEvent,
  SimulationEndEvent,
  SimulationStartEvent,
  WarningEvent,
} from './search/events.ts';
export { defaultBudget } from './search/options.ts';
export { search, streamSearch } from './search/search.ts';
export { solved } from './search/stop-conditions.ts';
export {
  type BackupRule,
  type BackupSample,
  maxBackup,
  meanBackup,
  tdBackup,
  type VisitWeightedOptions,
  visitWeighted,
  visitWeightedBackup,
} from './tree/backup.ts';
export {
  type FinalChoice,
  maxChild,
  robustChild,
  robustOrSolvedChild,
} from './tree/final-choice.ts';
export { type InFlight, unobserved, virtualLoss } from './tree/in-flight.ts';
export {
  byMinMax,
  byParentAndSiblings,
  completedByMixValue,
  type MixValueOptions,
  mixedValue,
  mixedWithEvaluation,
} from './tree/qtransform.ts';
export { type RenderOptions, renderTree } from './tree/render.ts';
export {
  descend,
  type FlatScore,
  flat,
  knownValue,
  type PuctOptions,
  puct,
  type QTransform,
  type Selection,
  type SelectionOptions,
  type SelectionRule,
  type ThompsonOptions,
  type TreeView,
  thompson,
  type UctOptions,
  uct,
  type WideningRule,
} from './tree/selection.ts';
export {
  type NodeJson,
  type StateCodec,
  type TreeConclusionJson,
  type TreeJson,
  treeFromJson,
  treeToJson,
  treeVersion,
} from './tree/serialize.ts';
export { actionsTo, pathTo, type SearchSummary, summarise } from './tree/summary.ts';
export {
  type BackupOptions,
  type Conclusion,
  type NewChild,
  SearchTree,
  type TreeOrigin,
} from './tree/tree.ts';
export {
  type ProgressiveWideningOptions,
  progressiveWidening,
  type ValueWideningOptions,
  valueWidening,
} from './tree/widening.ts';

/** All algorithms that can be chosen by name. */
export const algorithms: readonly AlgorithmEntry[] = [astarEntry, bestOfNEntry, mctsEntry];
