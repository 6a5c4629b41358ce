export { heuristic } from './heuristic.ts';
export { type RolloutOptions, rollout } from './rollout.ts';
export { verifier } from './verifier.ts';
