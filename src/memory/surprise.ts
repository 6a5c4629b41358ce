import type { RealisedNode, SearchNode } from '../contracts/node.ts';

/** A step of a path that can be reflected on. */
export interface Surprise<State, Action> {
  /** What the step led to: its action was taken, and did not fail. */
  readonly node: RealisedNode<State, Action>;
  /** u: how far apart expectation and reality are. */
  readonly surprise: number;
  /** What was expected. */
  readonly expected: number;
  /** What came of it. */
  readonly realised: number;
  /** The next node of the path; `undefined` at its end, where the outcome is what came of it. */
  readonly next: RealisedNode<State, Action> | undefined;
}

/** Which steps are reflected on. */
export interface ReflectionRule {
  /** How many at most: an integer from 0 up. */
  readonly most: number;
  /** The least surprise, in [0, 1]. */
  readonly threshold: number;
}

/**
 * How surprising each step of a path was to whom proposes: `u_t = |V(s_{t+1}) − Q(s_t, a_t)|`, where Q is the mean
 * return of the step, V the value of the state it led to, as evaluated, and at the last step the outcome.
 *
 * A step that failed, that was not taken, or of which either number is missing is left out.
 */
export function policySurprises<State, Action>(
  path: readonly SearchNode<State, Action>[],
  outcome: number,
): readonly Surprise<State, Action>[] {
  const steps = path.filter(({ kind }) => kind !== 'root');
  return steps.flatMap((node, place) => {
    const isLast = place === steps.length - 1;
    const realised = isLast ? outcome : node.rawValue;
    if (!isTaken(node) || node.visits === 0 || realised === undefined) return [];
    const following = steps[place + 1];
    const next = following !== undefined && isTaken(following) ? following : undefined;
    return [surpriseOf(node, { expected: node.value, realised, next })];
  });
}

/**
 * How surprising each state of a path was to whom judges: `u_t = |V(s_{t+1}) − Q(s_{t+1}, a_{t+1})|`, the value that
 * the state was given and the mean return of the step that was taken next; at the end of the path, the outcome.
 *
 * A state that nobody judged is left out, and one behind which the step failed or was never visited.
 */
export function valueSurprises<State, Action>(
  path: readonly SearchNode<State, Action>[],
  outcome: number,
): readonly Surprise<State, Action>[] {
  const steps = path.filter(({ kind }) => kind !== 'root');
  return steps.flatMap((node, place) => {
    const { rawValue: expected } = node;
    if (!isTaken(node) || expected === undefined) return [];
    const next = steps[place + 1];
    if (next === undefined) return [surpriseOf(node, { expected, realised: outcome, next })];
    if (!isTaken(next) || next.visits === 0) return [];
    return [surpriseOf(node, { expected, realised: next.value, next })];
  });
}

/** The most surprising steps, in falling order; of equal ones the earlier first. */
export function mostSurprising<State, Action>(
  surprises: readonly Surprise<State, Action>[],
  { most, threshold }: ReflectionRule,
): readonly Surprise<State, Action>[] {
  return surprises
    .filter(({ surprise }) => surprise >= threshold)
    .toSorted((left, right) => right.surprise - left.surprise)
    .slice(0, most);
}

/**
 * The outcome of a path where nobody knows it: 1 where the mean of Q over the steps that were taken is greater than
 * a limit, else 0.
 */
export function estimatedOutcome(path: readonly SearchNode[], limit: number): number {
  const values = path.filter((node) => isTaken(node) && node.visits > 0).map(({ value }) => value);
  const sum = values.reduce((total, value) => total + value, 0);
  return values.length > 0 && sum / values.length > limit ? 1 : 0;
}

function isTaken<State, Action>(
  node: SearchNode<State, Action>,
): node is RealisedNode<State, Action> {
  return node.kind === 'realised' && node.status !== 'failed' && node.parent.kind !== 'proposed';
}

function surpriseOf<State, Action>(
  node: RealisedNode<State, Action>,
  numbers: Pick<Surprise<State, Action>, 'expected' | 'next' | 'realised'>,
): Surprise<State, Action> {
  return { node, surprise: Math.abs(numbers.realised - numbers.expected), ...numbers };
}
