export { type FromModelOptions, fromModel, repairPrompt } from './from-model.ts';
export { type GreedyOptions, greedy } from './greedy.ts';
export { type JournaledOptions, journaled } from './journaled.ts';
export { uniform } from './uniform.ts';
