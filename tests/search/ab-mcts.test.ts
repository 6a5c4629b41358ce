import { describe, expect, test } from 'vitest';
import {
  abMcts,
  type Belief,
  betaBelief,
  type Environment,
  gaussianBelief,
  type Policy,
  type Random,
  search,
  seededRandom,
  widerOrDeeper,
} from '../../src/index.ts';
import { updated } from '../../src/tree/posterior.ts';
import { grow, plant } from '../tree/grow.ts';

type Moments = Parameters<Belief['draw']>[1];

/** Their moments by the textbook: Σ v / n and Σ (v − v̄)². */
function momentsOf(values: readonly number[]): Moments {
  const count = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, count);
  return { count, mean, squares: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) };
}

describe('the normal-inverse-χ² posterior', () => {
  test('after the scores 0.2, 0.4, 0.6 and 0.8', () => {
    // n = 4, x̄ = 0.5, S = 0.2; κ′ = ν′ = 5; m′ = 4 · 0.5 / 5; τ²′ = (0.1 + 0.2 + 4 · 0.25 / 5) / 5.
    const prior = { mean: 0, kappa: 1, nu: 1, variance: 0.1 };
    const { mean, kappa, nu, variance } = updated(prior, momentsOf([0.2, 0.4, 0.6, 0.8]));
    expect({ kappa, nu }).toEqual({ kappa: 5, nu: 5 });
    expect(mean).toBeCloseTo(0.4, 12);
    expect(variance).toBeCloseTo(0.1, 12);
  });

  test('is the same whether scores come at once or one by one', () => {
    let step = { mean: 0.3, kappa: 2, nu: 3, variance: 0.5 };
    const scores = [0.9, 0.1, 0.4];
    const whole = updated(step, momentsOf(scores));
    for (const score of scores) step = updated(step, momentsOf([score]));
    for (const name of ['mean', 'kappa', 'nu', 'variance'] as const) {
      expect(step[name]).toBeCloseTo(whole[name], 12);
    }
  });

  test('without a score is the prior', () => {
    const prior = { mean: 0.2, kappa: 3, nu: 4, variance: 0.7 };
    expect(updated(prior, momentsOf([]))).toEqual(prior);
  });
});

function drawnFrom(belief: Belief, scores: readonly number[]) {
  const random = seededRandom('draws');
  const draws = Array.from({ length: 40_000 }, () => belief.draw(random, momentsOf(scores)));
  const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
  const variance = draws.reduce((sum, draw) => sum + (draw - mean) ** 2, 0) / draws.length;
  return { mean, variance };
}

test('draws of the mean are those of Student’s t: mean m′, variance τ²′/κ′ · ν′/(ν′ − 2)', () => {
  const { mean, variance } = drawnFrom(gaussianBelief(), [0.2, 0.4, 0.6, 0.8]);
  expect(Math.abs(mean - 0.4)).toBeLessThan(0.005);
  // 0.1 / 5 · 5 / 3
  expect(Math.abs(variance / (0.1 / 3) - 1)).toBeLessThan(0.15);
});

test('draws of the other belief are those of Beta(½ + Σ s, ½ + Σ (1 − s))', () => {
  const { mean, variance } = drawnFrom(betaBelief(), [0.2, 0.4, 0.6, 0.8]);
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.005);
  // Beta(2.5, 2.5): 6.25 / (25 · 6)
  expect(Math.abs(variance / (1 / 24) - 1)).toBeLessThan(0.05);
});

/** Draws what it is told, and writes down what each draw is made of. */
function scriptedBelief(draws: readonly number[]) {
  const left = [...draws];
  const seen: Moments[] = [];
  const belief: Belief = {
    draw: (_random, moments) => {
      seen.push(moments);
      return left.shift() ?? 0;
    },
  };
  return { belief, seen };
}

/** The moments of these scores, to the last digits. */
function near(...scores: readonly (readonly number[])[]) {
  return scores.map((values) => {
    const { count, mean, squares } = momentsOf(values);
    return { count, mean: expect.closeTo(mean, 12), squares: expect.closeTo(squares, 12) };
  });
}

describe('wider or deeper', () => {
  /** The root has `a` (0.5) with `a1` (0.9), and `b` (0.3), which was generated twice. */
  function tree() {
    const planted = plant();
    const a = grow(planted, planted.root, ['a', { value: 0.5 }]);
    planted.backup(a);
    const b = grow(planted, planted.root, ['b', { value: 0.3 }]);
    planted.backup(b);
    planted.backup(b);
    const a1 = grow(planted, a, ['a1', { value: 0.9 }]);
    planted.backup(a1);
    return planted;
  }

  test('draws from the scores of the children, of all below them, and of each subtree', () => {
    const { belief, seen } = scriptedBelief([0.1, 0.2, 0.8, 0.7, 0.4, 0.3]);
    const chosen = widerOrDeeper(belief)(tree(), seededRandom(0));
    expect(seen).toEqual(near([0.5, 0.3, 0.3], [0.9], [0.5, 0.9], [0.3, 0.3], [0.9], []));
    // Deeper at the root (0.2 > 0.1), `a` (0.8 > 0.7), and there wider (0.4 > 0.3).
    expect(chosen?.action).toBe('a');
  });

  test('goes wider where that draw is the higher one', () => {
    const { belief, seen } = scriptedBelief([0.3, 0.2]);
    expect(widerOrDeeper(belief)(tree(), seededRandom(0))?.kind).toBe('root');
    expect(seen).toHaveLength(2);
  });

  test('always goes deeper where no child can follow, and wider where there is none', () => {
    const grown = tree();
    grown.complete(grown.root);
    const { belief, seen } = scriptedBelief([0.1, 0.6]);
    expect(widerOrDeeper(belief)(grown, seededRandom(0))?.action).toBe('b');
    expect(seen).toEqual(near([0.5, 0.9], [0.3, 0.3]));
  });
});

/** Answers are numbers in [0, 1]; each is worth itself, and can be refined. */
const refining: Environment<number, number> = {
  name: 'refining',
  reset: () => ({ state: 0 }),
  step: (_state, action) => ({ state: action, answer: true }),
};

/** Two arms: one draws answers around 0.8, the other around 0.2. */
function armed(asked: string[]): Policy<number, number> {
  return {
    propose: (_node, { arm = 'none', context }) => {
      asked.push(arm);
      const middle = arm === 'good' ? 0.8 : 0.2;
      return [{ action: middle + 0.1 * (context.random.next() - 0.5) }];
    },
  };
}

test('of two arms the better one generates more and more', async () => {
  const asked: string[] = [];
  const { best, tree } = await search(refining, {
    policy: armed(asked),
    evaluator: {
      needs: 'realised',
      evaluate: (nodes) => nodes.map(({ state }) => ({ value: Number(state) })),
    },
    algorithm: abMcts({ arms: ['poor', 'good'] }),
    budget: { simulations: 60 },
  });
  const good = asked.filter((arm) => arm === 'good').length;
  expect(good).toBeGreaterThan(45);
  expect(asked.slice(-20).filter((arm) => arm === 'good').length).toBeGreaterThan(17);
  expect(Number(best.state)).toBeGreaterThan(0.8);
  // Some answers were refined, and not all of them.
  expect(Math.max(...[...tree.nodes()].map(({ depth }) => depth))).toBeGreaterThan(1);
  expect(tree.root.children.length).toBeGreaterThan(1);
});

test('an answer that is proposed again scores again', async () => {
  const { tree } = await search(refining, {
    policy: { propose: () => [{ action: 0.5 }] },
    evaluator: { needs: 'realised', evaluate: (nodes) => nodes.map(() => ({ value: 0.5 })) },
    algorithm: abMcts({ belief: { draw: (_random: Random, { count }) => -count } }),
    budget: { simulations: 4 },
  });
  // A draw is the higher the fewer scores there are: a child of the root, one below it, the first again, one further down.
  const [child] = tree.root.children;
  expect(tree.root.children).toHaveLength(1);
  expect(child?.visits).toBe(4);
  expect(child?.children.map(({ visits }) => visits)).toEqual([2]);
  expect(tree.size).toBe(4);
});
