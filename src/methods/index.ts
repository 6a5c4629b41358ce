/**
 * Published methods: each combines an algorithm, a policy, an evaluator and a rule for pairs, with the paper's
 * defaults.
 *
 * @module espalier/methods
 */

import { agentQEntry } from './agent-q.ts';
import { dfsdtEntry } from './dfsdt.ts';
import { iMctsEntry } from './i-mcts.ts';
import { mctsDpoEntry } from './mcts-dpo.ts';
import type { MethodEntry } from './method.ts';
import { rMctsEntry } from './r-mcts.ts';
import { restMctsEntry } from './rest-mcts.ts';
import { toolChainStarEntry } from './tool-chain-star.ts';
import { treeOfThoughtsEntry } from './tree-of-thoughts.ts';

export { agentQ } from './agent-q.ts';
export { dfsdt } from './dfsdt.ts';
export { type IMctsOptions, iMcts } from './i-mcts.ts';
export { mctsDpo } from './mcts-dpo.ts';
export type { Method, MethodEntry, MethodOptions, WideningMethodOptions } from './method.ts';
export { type RMctsOptions, rMcts } from './r-mcts.ts';
export { type RestMctsOptions, restMcts } from './rest-mcts.ts';
export { type ToolChainStarOptions, toolChainStar } from './tool-chain-star.ts';
export { type TreeOfThoughtsOptions, treeOfThoughts } from './tree-of-thoughts.ts';

/** All methods, by name. */
export const methods: readonly MethodEntry[] = [
  agentQEntry,
  dfsdtEntry,
  iMctsEntry,
  mctsDpoEntry,
  rMctsEntry,
  restMctsEntry,
  toolChainStarEntry,
  treeOfThoughtsEntry,
];
