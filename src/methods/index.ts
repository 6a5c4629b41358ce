/**
 * Published methods: each one an algorithm, who proposes, who values, and what makes a pair, with the paper's
 * defaults.
 *
 * @module
 */

export { type AgentQOptions, agentQ } from './agent-q.ts';
export { type MethodEntry, methods } from './catalogue.ts';
export { type IMctsOptions, iMcts } from './i-mcts.ts';
export { type MctsDpoOptions, mctsDpo } from './mcts-dpo.ts';
export type { Method, MethodOptions } from './method.ts';
export { type RMctsOptions, rMcts } from './r-mcts.ts';
export { type RestMctsOptions, restMcts } from './rest-mcts.ts';
