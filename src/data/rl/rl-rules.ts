import { groups } from './groups.ts';
import { prompts } from './prompts.ts';
import { treeAdvantages } from './tree-advantages.ts';

/** The rules that make rows for reinforcement learning. */
export interface RlRules {
  /** The scored ends of a problem as one group. */
  readonly groups: typeof groups;
  /** The prompts, with how hard they were. */
  readonly prompts: typeof prompts;
  /** Paths with the credit that the tree gives them and their steps. */
  readonly treeAdvantages: typeof treeAdvantages;
}

/** The rules that make rows for reinforcement learning. */
export const rlRules: RlRules = { groups, prompts, treeAdvantages };
