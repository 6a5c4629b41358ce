import { mean } from '../base/stats/mean.ts';
import type { RealisedNode, SearchNode } from '../contracts/node.ts';

/** A step of a path that can be reflected on. */
export interface Surprise<State, Action> {
  /** The node after the step: its action was taken, and did not fail. */
  readonly node: RealisedNode<State, Action>;
  /** u, the distance between expectation and reality. */
  readonly surprise: number;
  /** The expected value. */
  readonly expected: number;
  /** The realised value. */
  readonly realised: number;
  /** The next node of the path; `undefined` at its end, where the outcome is the realised value. */
  readonly next: RealisedNode<State, Action> | undefined;
}

/**
 * The surprise of each step of a path: the difference between the expected and the realised value; for the last step,
 * the latter is the outcome.
 *
 * - For the policy: `u_t = |V(s_{t+1}) − Q(s_t, a_t)|`, where Q is the mean return of the step and V the value of the
 *   state it led to, as evaluated.
 * - For the judge: `u_t = |V(s_{t+1}) − Q(s_{t+1}, a_{t+1})|`, the value that the state was given and the mean return
 *   of the step that was taken next.
 *
 * Steps that failed or were not taken, or that lack one of the numbers, are left out.
 */
export function surprisesOf<State, Action>(
  kind: 'policy' | 'value',
  path: readonly SearchNode<State, Action>[],
  outcome: number,
): readonly Surprise<State, Action>[] {
  const steps = path.filter((node) => node.kind !== 'root');
  return steps.flatMap((node, place) => {
    if (!isTaken(node)) return [];
    const following = steps[place + 1];
    const next = following !== undefined && isTaken(following) ? following : undefined;
    const isPolicy = kind === 'policy';
    const expected = isPolicy ? meanReturn(node) : node.rawValue;
    const found = isPolicy ? node.rawValue : next && meanReturn(next);
    const realised = following === undefined ? outcome : found;
    if (expected === undefined || realised === undefined) return [];
    return [{ node, next, expected, realised, surprise: Math.abs(realised - expected) }];
  });
}

function meanReturn({ visits, value }: SearchNode): number | undefined {
  return visits === 0 ? undefined : value;
}

/** The most surprising steps in descending order, ties going to the earlier. */
export function mostSurprising<State, Action>(
  surprises: readonly Surprise<State, Action>[],
  { most, threshold }: Readonly<Record<'most' | 'threshold', number>>,
): readonly Surprise<State, Action>[] {
  return surprises
    .filter(({ surprise }) => surprise >= threshold)
    .toSorted((left, right) => right.surprise - left.surprise)
    .slice(0, most);
}

/**
 * The outcome of a path that the environment has rewarded at its end: the sum of its rewards, within [0, 1]; `undefined`
 * of one that has not ended, or whose end has no reward.
 */
export function rewardedOutcome(path: readonly SearchNode[]): number | undefined {
  const end = path.at(-1);
  if (end?.terminal !== true || end.reward === undefined) return undefined;
  const sum = path.reduce((total, { reward = 0 }) => total + reward, 0);
  return Math.min(1, Math.max(0, sum));
}

/**
 * The estimated outcome of a path with an unknown one: 1 if the mean of Q over the steps taken exceeds a limit, else 0.
 */
export function estimatedOutcome(path: readonly SearchNode[], limit: number): number {
  // The mean of no steps is NaN, which exceeds nothing.
  return mean(path.filter(isTaken).flatMap((node) => meanReturn(node) ?? [])) > limit ? 1 : 0;
}

function isTaken<State, Action>(
  node: SearchNode<State, Action>,
): node is RealisedNode<State, Action> {
  return node.kind === 'realised' && node.status !== 'failed' && node.parent.kind !== 'proposed';
}
