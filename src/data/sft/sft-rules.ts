import { agentR } from './agent-r.ts';
import { bestTrajectories } from './best-trajectories.ts';
import { judge } from './judge.ts';
import { refiner } from './refiner.ts';
import { traversals } from './traversals.ts';

/** The rules that make rows for supervised fine-tuning. */
export interface SftRules {
  /** Bad beginnings, a thought that owns the mistake, and good ends. */
  readonly agentR: typeof agentR;
  /** The best right paths, whole or step by step. */
  readonly bestTrajectories: typeof bestTrajectories;
  /** States and critiques of them. */
  readonly judge: typeof judge;
  /** Answers with their critiques, and better answers. */
  readonly refiner: typeof refiner;
  /** The walk of the search, with its ways back. */
  readonly traversals: typeof traversals;
}

/** The rules that make rows for supervised fine-tuning. */
export const sftRules: SftRules = { agentR, bestTrajectories, judge, refiner, traversals };
