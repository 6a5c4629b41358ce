/** V(n) of a step and of what is above it. */
export interface StepValues {
  /** V(n), behind the step. */
  readonly value: number;
  /** V of the node before the step. */
  readonly parent: number;
  /** V of the root. */
  readonly root: number;
  /** |leaves(n)|, from 1 up. */
  readonly leaves: number;
}

/** `V(n) − V(parent)`: what the step itself changed. */
export function localAdvantage({ value, parent }: StepValues): number {
  return value - parent;
}

/** `V(n) − V(root)`: what the path up to the step is worth beyond the problem. */
export function globalAdvantage({ value, root }: StepValues): number {
  return value - root;
}

/**
 * `(A_local + A_global) / √|leaves(n)|`: steps that many ends share count less in each of them.
 *
 * @see Hou et al., "TreeRL: LLM Reinforcement Learning with On-Policy Tree Search", 2025 (arXiv 2506.11902).
 */
export function treeRlAdvantage(step: StepValues): number {
  return (localAdvantage(step) + globalAdvantage(step)) / Math.sqrt(step.leaves);
}
