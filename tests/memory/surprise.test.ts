import { describe, expect, test } from 'vitest';
import {
  estimatedOutcome,
  mostSurprising,
  rewardedOutcome,
  surprisesOf,
} from '../../src/memory/surprise.ts';
import { type PathStep, path } from './paths.ts';

/** Q and V of each step. */
const steps: readonly PathStep[] = [
  { action: 'a', value: 0.9, rawValue: 0.8 },
  { action: 'b', value: 0.2, rawValue: 0.9 },
  { action: 'c', value: 0.6, rawValue: 0.1 },
  { action: 'd', value: 0.75, rawValue: 0.7 },
];
const short = (found: ReturnType<typeof surprisesOf>) =>
  found.map(({ node: { id }, surprise }) => [id, Number(surprise.toFixed(6))]);

describe('policy surprise |V(s′) − Q(s, a)|', () => {
  test('is worked out by hand, with the outcome for the last V', () => {
    // |0.8 − 0.9|, |0.9 − 0.2|, |0.1 − 0.6|, |0 − 0.75| and |1 − 0.75|.
    const nodes = path(steps);
    expect(short(surprisesOf('policy', nodes, 0))).toEqual([
      [1, 0.1],
      [2, 0.7],
      [3, 0.5],
      [4, 0.75],
    ]);
    expect(short(surprisesOf('policy', nodes, 1)).at(-1)).toEqual([4, 0.25]);
  });

  test('tells what was expected, what came, and what followed', () => {
    const nodes = path(steps);
    const found = surprisesOf('policy', nodes, 0);
    expect(found[1]).toMatchObject({ expected: 0.2, realised: 0.9, next: { id: 3 } });
    expect(found[3]).toMatchObject({ expected: 0.75, realised: 0, next: undefined });
  });

  test('leaves out steps that failed, were not taken, were never visited or not evaluated', () => {
    const nodes = path([
      { action: 'a', value: 0.9, status: 'failed' },
      { action: 'b', value: 0, visits: 0 },
      { action: 'c', value: 0.9, rawValue: undefined },
      { action: 'd', value: 0.9, rawValue: 0.2 },
      { action: 'e', value: 0.9, proposed: true },
    ]);
    expect(short(surprisesOf('policy', nodes, 0))).toEqual([[4, 0.7]]);
  });

  test('of nothing is nothing', () => {
    expect(surprisesOf('policy', [], 1)).toEqual([]);
    expect(surprisesOf('policy', path([]), 1)).toEqual([]);
  });
});

describe('value surprise |V(s) − Q(s, a)|', () => {
  test('is worked out by hand, with the outcome for the last Q', () => {
    // |0.8 − 0.2|, |0.9 − 0.6|, |0.1 − 0.75|, |0.7 − 0|.
    expect(short(surprisesOf('value', path(steps), 0))).toEqual([
      [1, 0.6],
      [2, 0.3],
      [3, 0.65],
      [4, 0.7],
    ]);
  });

  test('is about the judged state, and what came of it', () => {
    const [, , third, last] = surprisesOf('value', path(steps), 1);
    expect(third).toMatchObject({
      node: { id: 3 },
      expected: 0.1,
      realised: 0.75,
      next: { id: 4 },
    });
    expect(last).toMatchObject({ node: { id: 4 }, expected: 0.7, realised: 1, next: undefined });
  });

  test('leaves out states that nobody judged, and those with a failed step behind them', () => {
    const nodes = path([
      { action: 'a', value: 0.9, rawValue: 0.1 },
      { action: 'b', value: 0.9, status: 'failed' },
      { action: 'c', value: 0.9, rawValue: 0.1 },
      { action: 'd', value: 0.9, rawValue: undefined },
    ]);
    expect(short(surprisesOf('value', nodes, 0))).toEqual([[3, 0.8]]);
  });
});

describe('which steps', () => {
  test('are the most surprising from the threshold on, at most so many', () => {
    const found = surprisesOf('policy', path(steps), 0);
    const ids = (most: number, threshold: number) =>
      mostSurprising(found, { most, threshold }).map(({ node: { id } }) => id);
    expect(ids(3, 0.5)).toEqual([4, 2, 3]);
    expect(ids(2, 0.5)).toEqual([4, 2]);
    expect(ids(3, 0.71)).toEqual([4]);
    expect(ids(9, 0)).toEqual([4, 2, 3, 1]);
    expect(ids(0, 0)).toEqual([]);
  });

  test('are the earlier ones where they are equal', () => {
    const equal = path([
      { action: 'a', value: 1, rawValue: 0 },
      { action: 'b', value: 1, rawValue: 0 },
      { action: 'c', value: 1, rawValue: 0 },
    ]);
    const found = mostSurprising(surprisesOf('policy', equal, 0), { most: 2, threshold: 0.5 });
    expect(found.map(({ node: { id } }) => id)).toEqual([1, 2]);
  });
});

test('an outcome that nobody knows is 1 where the mean of Q is above the limit', () => {
  // (0.9 + 0.2 + 0.6 + 0.75) / 4 = 0.6125.
  expect(estimatedOutcome(path(steps), 0.61)).toBe(1);
  expect(estimatedOutcome(path(steps), 0.62)).toBe(0);
  const exact = path([{ action: 'a', value: 0.5, rawValue: 1 }]);
  expect(estimatedOutcome(exact, 0.5)).toBe(0);
  const failing = path([...steps, { action: 'e', value: 1, status: 'failed' }]);
  expect(estimatedOutcome(failing, 0.62)).toBe(0);
  expect(estimatedOutcome(path([]), 0)).toBe(0);
});

test('an outcome that the environment has rewarded is the sum of the rewards, within [0, 1]', () => {
  const ends = (rewards: readonly number[], terminal = true) => {
    const nodes = path(steps.slice(0, rewards.length));
    return nodes.map((node, place) => {
      const reward = rewards[place - 1];
      return { ...node, ...(reward !== undefined && { reward }), terminal };
    });
  };
  expect(rewardedOutcome(ends([0, 1]))).toBe(1);
  expect(rewardedOutcome(ends([0, 0]))).toBe(0);
  expect(rewardedOutcome(ends([0.25, 0.5]))).toBe(0.75);
  expect(rewardedOutcome(ends([0.75, 0.5]))).toBe(1);
  expect(rewardedOutcome(ends([0, -1]))).toBe(0);
  expect(rewardedOutcome(ends([0, 1], false))).toBeUndefined();
  expect(rewardedOutcome(path(steps))).toBeUndefined();
});
