/**
 * The rules that make rows for supervised fine-tuning.
 *
 * @module
 */

export { type AgentROptions, agentR } from './agent-r.ts';
export { bestTrajectories } from './best-trajectories.ts';
export { type JudgementsOptions, judgements } from './judgements.ts';
export { type RefinerOptions, refiner } from './refiner.ts';
export { type TraversalsOptions, traversals } from './traversals.ts';
