export { heuristic } from './heuristic.ts';
export { type JudgementScale, type JudgeOptions, judge, judgePrompt } from './judge.ts';
export { type RolloutOptions, rollout } from './rollout.ts';
export { verifier } from './verifier.ts';
