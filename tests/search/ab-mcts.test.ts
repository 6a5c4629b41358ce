import { describe, expect, test } from 'vitest';
import {
  abMcts,
  type Belief,
  betaBelief,
  descend,
  type Environment,
  explain,
  gaussianBelief,
  mcts,
  type Policy,
  type Random,
  type SearchTree,
  search,
  seededRandom,
  thompson,
  treeFromJson,
  treeToJson,
  widerOrDeeper,
} from '../../src/index.ts';
import { TreeNode } from '../../src/tree/node.ts';
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

/** The root has `a` (0.5) with `a1` (0.9), and `b` (0.3), which was generated twice. */
function twoChildren() {
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

describe('wider or deeper', () => {
  test('draws from the scores of the children, of all below them, and of each subtree', () => {
    const { belief, seen } = scriptedBelief([0.1, 0.2, 0.8, 0.7, 0.4, 0.3]);
    const chosen = widerOrDeeper(belief)(twoChildren(), seededRandom(0));
    expect(seen).toEqual(near([0.5, 0.3, 0.3], [0.9], [0.5, 0.9], [0.3, 0.3], [0.9], []));
    // Deeper at the root (0.2 > 0.1), `a` (0.8 > 0.7), and there wider (0.4 > 0.3).
    expect(chosen?.action).toBe('a');
  });

  test('goes wider where that draw is the higher one', () => {
    const { belief, seen } = scriptedBelief([0.3, 0.2]);
    expect(widerOrDeeper(belief)(twoChildren(), seededRandom(0))?.kind).toBe('root');
    expect(seen).toHaveLength(2);
  });

  test('always goes deeper where no child can follow, and wider where there is none', () => {
    const grown = twoChildren();
    grown.complete(grown.root);
    const { belief, seen } = scriptedBelief([0.1, 0.6]);
    expect(widerOrDeeper(belief)(grown, seededRandom(0))?.action).toBe('b');
    expect(seen).toEqual(near([0.5, 0.9], [0.3, 0.3]));
  });
});

test('what a choice was made of is told, of a saved tree too', () => {
  const tree = twoChildren();
  tree.rule = widerOrDeeper(betaBelief({ a: 1 })).spec;
  const saved = treeFromJson(JSON.stringify(treeToJson(tree)));
  const told = explain(saved, saved.root).map(({ total, terms }) => ({ total, terms }));
  const near12 = (value: number) => expect.closeTo(value, 12) as number;
  // `a`: 0.5 and 0.9, of 1 + Σ s and ½ + Σ (1 − s); `b`: 0.3 twice.
  expect(told).toEqual([
    { total: near12(2.4 / 3.5), terms: { alpha: near12(2.4), beta: near12(1.1) } },
    { total: near12(1.6 / 3.5), terms: { alpha: near12(1.6), beta: near12(1.9) } },
  ]);
  const [a] = explain(tree, tree.root, widerOrDeeper());
  // n = 2, x̄ = 0.7, S = 0.08: m′ = 1.4 / 3, τ²′ = (0.1 + 0.08 + 2 · 0.49 / 3) / 3.
  expect(a?.total).toBeCloseTo(1.4 / 3, 12);
  expect(a?.terms['variance']).toBeCloseTo((0.18 + 0.98 / 3) / 3, 12);
});

test('a belief of the user’s has no name in a saved tree', () => {
  const tree = twoChildren();
  const { belief } = scriptedBelief([]);
  tree.rule = widerOrDeeper(belief).spec;
  expect(() => explain(tree, tree.root)).toThrow('its option `belief` is or contains a function');
  expect(() => explain(tree, tree.root, widerOrDeeper(belief))).toThrow('to have an `explain`');
});

test('scores are discounted as returns are', () => {
  const tree = plant();
  tree.discount = 0.5;
  const a = grow(tree, tree.root, ['a', { reward: 0.25 }]);
  const a1 = grow(tree, a, ['a1', { reward: 0.5, terminal: true }]);
  tree.backup(a1);
  const { belief, seen } = scriptedBelief([0, 1]);
  widerOrDeeper(belief)(tree, seededRandom(0));
  // Of all below: 0.25 + γ · 0.5.
  expect(seen[1]).toEqual({ count: 1, mean: 0.5, squares: 0 });
});

test('a selection ends where no draw is a number', () => {
  const belief = { draw: () => Number.NaN };
  expect(widerOrDeeper(belief)(twoChildren(), seededRandom(0))?.action).toBe('a1');
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

/** A search by two arms that draw around 0.2 and 0.8, from a tree where one is given. */
const refined = (simulations: number, tree?: SearchTree<number, number>) =>
  search(refining, {
    policy: armed([]),
    evaluator: {
      needs: 'realised',
      evaluate: (nodes) => nodes.map(({ state }) => ({ value: Number(state) })),
    },
    algorithm: abMcts({ arms: ['poor', 'good'] }),
    budget: { simulations },
    ...(tree && { tree }),
  });

test('a tree that was loaded grows on as the live one does', async () => {
  const { tree } = await refined(40);
  const loaded = treeFromJson<number, number>(JSON.stringify(treeToJson(tree)));
  await refined(40, tree);
  await refined(40, loaded);
  expect(tree.size).toBe(81);
  expect(treeToJson(loaded)).toEqual(treeToJson(tree));
});

test('a simulation looks at the nodes on its path and their children, not at whole subtrees', async () => {
  const rawValue = Object.getOwnPropertyDescriptor(TreeNode.prototype, 'rawValue') ?? {};
  let looks = 0;
  Object.defineProperty(TreeNode.prototype, 'rawValue', {
    ...rawValue,
    get(this: TreeNode<number, number>) {
      looks++;
      return rawValue.get?.call(this) as unknown;
    },
  });
  try {
    // Of three answers that come again and again, so that no node gets many children.
    const { tree } = await search(refining, {
      policy: { propose: (_node, { context }) => [{ action: context.random.integer(3) / 4 }] },
      evaluator: {
        needs: 'realised',
        evaluate: (nodes) => nodes.map(({ state }) => ({ value: Number(state) })),
      },
      algorithm: abMcts(),
      budget: { simulations: 5_000 },
    });
    expect(tree.root.visits).toBe(5_000);
    expect(looks / 5_000).toBeLessThan(100);
  } finally {
    Object.defineProperty(TreeNode.prototype, 'rawValue', rawValue);
  }
});

test('a node counts as often as it was visited, however often that was', async () => {
  const { tree } = await refined(3);
  const saved = JSON.parse(JSON.stringify(treeToJson(tree))) as { nodes: { visits?: number }[] };
  for (const node of saved.nodes.slice(1)) node.visits = 300_000_000;
  const loaded = treeFromJson<number, number>(JSON.stringify(saved));
  expect((await refined(5, loaded)).stopReason).toBe('budget');
});

test.each([
  [5_000, abMcts({ belief: betaBelief() }), 'Values must lie in [0, 1]'],
  [-1e6, abMcts({ belief: betaBelief() }), 'Values must lie in [0, 1]'],
  [1e308, abMcts({ belief: betaBelief() }), 'Values must lie in [0, 1]'],
  [1e308, abMcts(), 'too large for a normal belief'],
  [5_000, mcts({ selection: descend(thompson()) }), 'Values must lie in [0, 1]'],
  [-1e6, mcts({ selection: descend(thompson()) }), 'Values must lie in [0, 1]'],
])(
  'rewards of %d that no belief can hold end the search by an error',
  async (reward, algorithm, message) => {
    const rewarding: Environment<number, number> = {
      name: 'rewarding',
      reset: () => ({ state: 0 }),
      step: (state, action) => ({ state: state + action, reward }),
    };
    const searching = search(rewarding, {
      policy: { propose: () => [{ action: 1 }, { action: 2 }] },
      evaluator: { needs: 'realised', evaluate: (nodes) => nodes.map(() => ({ value: 0.5 })) },
      algorithm,
      budget: { simulations: 20 },
    });
    await expect(searching).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(message) as string,
    });
  },
);
