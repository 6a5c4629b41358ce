import { describe, expect, test } from 'vitest';
import {
  descend,
  type Environment,
  flat,
  mcts,
  type Policy,
  progressiveWidening,
  puct,
  type SearchAlgorithm,
  search,
  uct,
  valueWidening,
} from '../../src/index.ts';
import { manualClock, syntheticTree } from '../../src/testing/index.ts';
import { heuristic } from '../../src/values/heuristic.ts';

/** Each action ends the game at once, and is rewarded by a fraction that nobody else has. */
const draws: Environment<number, number> = {
  name: 'draws',
  reset: () => ({ state: -1 }),
  step: (_, action) => ({ state: action, terminal: true, reward: ((action * 37) % 101) / 200 }),
};

/** Draws without end; `kinds` says how many different actions there are. */
function drawing(kinds = Number.POSITIVE_INFINITY): Policy<number, number> & { calls: number } {
  const policy = {
    calls: 0,
    propose: (_node: unknown, { count, offset }: { count: number; offset: number }) => {
      policy.calls++;
      return Array.from({ length: count }, (_, place) => ({ action: (offset + place) % kinds }));
    },
  };
  return policy;
}

const widths = [
  { k: 1, alpha: 0.5 },
  { k: 2, alpha: 0.3 },
  { k: 3, alpha: 0 },
];

describe('a node all of whose children are known', () => {
  for (const kinds of [Number.POSITIVE_INFINITY, 2]) {
    test.each(widths)(`gets as many as k N^α and no more: %o, of ${kinds} kinds`, async (width) => {
      for (const concurrency of [1, 8]) {
        const policy = drawing(kinds);
        const widening = progressiveWidening(width);
        const { tree, stopReason } = await search(draws, {
          policy,
          algorithm: mcts({ width: 1, widening }),
          concurrency,
          budget: { simulations: 300 },
        });
        const allowed = Math.ceil(width.k * tree.root.visits ** width.alpha);
        expect(policy.calls).toBeLessThanOrEqual(allowed);
        // It widens as far as it may: visits that cost nothing make the room.
        expect(policy.calls).toBeGreaterThanOrEqual(width.alpha === 0 ? 3 : allowed - concurrency);
        expect(stopReason).toBe(width.alpha === 0 ? 'exhausted' : 'budget');
      }
    });
  }
});

describe('a node that waits for more room', () => {
  test.each([
    ['descend(uct())', descend(uct())],
    ['descend(puct())', descend(puct())],
    ['flat, by value', flat(({ value }) => value)],
    ['flat, by visits', flat(({ visits }) => -visits)],
    ['flat, at random', flat((_node, _parent, random) => random.next())],
  ])('widens whatever selects it: %s', async (_name, selection) => {
    for (const concurrency of [1, 8]) {
      const { tree, stopReason } = await search(draws, {
        policy: drawing(),
        algorithm: mcts({ width: 1, selection, widening: progressiveWidening() }),
        concurrency,
        budget: { simulations: 300 },
      });
      // ⌈√300⌉ = 18
      expect(tree.root.children).toHaveLength(18);
      expect(stopReason).toBe('budget');
    }
  });

  test.each([
    ['descend', descend(uct())],
    ['flat', flat(({ value }) => value)],
  ])('widens below the root as well: %s', async (_name, selection) => {
    const { tree, stopReason } = await search(
      {
        ...draws,
        step: (state, action) =>
          state === -1 ? { state: action } : { state: action, terminal: true, reward: 0.5 },
      },
      {
        policy: drawing(),
        evaluator: heuristic(() => 0.5),
        algorithm: mcts({ width: 1, selection, widening: progressiveWidening() }),
        budget: { simulations: 200 },
      },
    );
    const widest = Math.max(...tree.root.children.map(({ children }) => children.length));
    expect(widest).toBeGreaterThan(2);
    expect(stopReason).toBe('budget');
  });
});

describe('a node that gets no more children', () => {
  test('is closed once its value widening refuses more, however good or bad they are', async () => {
    for (const most of [4, 24]) {
      const policy = drawing();
      const { stopReason, tree } = await search(draws, {
        policy,
        algorithm: mcts({ width: 1, widening: valueWidening({ most }) }),
        budget: { simulations: 500 },
      });
      expect(policy.calls).toBe(most);
      expect(stopReason).toBe('exhausted');
      expect(tree.root.visits).toBe(most);
    }
  });

  test('is closed where all of them failed', async () => {
    const policy = drawing();
    const { stopReason, failure, tree } = await search(
      {
        ...draws,
        step: () => {
          throw new Error('It broke.');
        },
      },
      {
        policy,
        evaluator: heuristic(() => 0.5),
        algorithm: mcts({ width: 1, widening: progressiveWidening({ k: 3 }) }),
        budget: { simulations: 100 },
      },
    );
    // What came of no child is a visit of the node itself.
    expect(policy.calls).toBeLessThanOrEqual(Math.ceil(3 * tree.root.visits ** 0.5));
    expect(stopReason).toBe('failed');
    expect(failure?.message).toContain('It broke.');
  });

  test('counts its best child where it waits for more room', async () => {
    const { tree } = await search(draws, {
      policy: drawing(),
      algorithm: mcts({ width: 2, widening: progressiveWidening({ k: 2, alpha: 0.1 }) }),
      budget: { simulations: 50 },
    });
    const [first, second] = tree.root.children;
    // Action 0 brings 0, action 1 brings 0.185; 2 · 50^0.1 = 2.96 allows a third, action 2 with 0.37.
    expect(first?.visits).toBe(1);
    expect(second?.reward).toBe(0.185);
    expect(tree.root.children.reduce((sum, { visits }) => sum + visits, 0)).toBe(50);
  });
});

describe('a widening rule beside a selection', () => {
  const { environment } = syntheticTree({ branching: 9, depth: 9 });
  const policy: Policy<{ readonly hash: number; readonly depth: number }, number> = {
    propose: (_, { count, offset }) =>
      Array.from({ length: count }, (__, place) => ({ action: (offset + place) % 9 })),
  };
  const evaluator = heuristic(() => 0.5);
  const widening = progressiveWidening({ k: 1, alpha: 0.5 });

  test.each([
    ['descend(uct())', descend(uct())],
    ['descend(puct())', descend(puct())],
    ['flat(() => 0)', flat(() => 0)],
  ])('is heeded: %s', async (_name, selection) => {
    const { tree } = await search(environment, {
      policy,
      evaluator,
      algorithm: mcts({ width: 1, selection, widening }),
      budget: { simulations: 60 },
    });
    // ⌈√60⌉ = 8
    expect(tree.root.children.length).toBeGreaterThan(1);
    expect(tree.root.children.length).toBeLessThanOrEqual(8);
  });

  test('is the same whether the selection was given it too', async () => {
    const run = (selection: ReturnType<typeof descend>) =>
      search(environment, {
        policy,
        evaluator,
        algorithm: mcts({ width: 1, selection, widening }),
        budget: { simulations: 60 },
      });
    const [one, other] = [await run(descend(uct())), await run(descend(uct(), { widening }))];
    expect([...one.tree.nodes()].map(({ visits }) => visits)).toEqual(
      [...other.tree.nodes()].map(({ visits }) => visits),
    );
  });
});

describe('an answer that is still under way', () => {
  /** The first proposal leads to a bad end at once; the second is drawn slowly, and leads to the good one. */
  async function found(algorithm: SearchAlgorithm, concurrency: number, proposals = 2) {
    const clock = manualClock({ auto: true });
    const { tree, best } = await search<string, string>(
      {
        name: 'late',
        reset: () => ({ state: 's' }),
        step: (state, action) =>
          action === 'end'
            ? { state: `${state}e`, terminal: true, reward: 0.1 }
            : { state: `${state}g`, ...(state === 'sgg' && { terminal: true, reward: 1 }) },
      },
      {
        policy: {
          async propose({ state }, { offset }) {
            if (state !== 's') return [{ action: 'go' }];
            await clock.sleep(offset === 1 ? 50 : 1);
            return offset < proposals ? [{ action: offset === 0 ? 'end' : 'go' }] : [];
          },
        },
        evaluator: heuristic(() => 0.9),
        algorithm,
        concurrency,
        clock,
        budget: { simulations: 200 },
      },
    );
    return tree.score(best);
  }

  test.each([
    ['value widening', () => mcts({ width: 1, widening: valueWidening({ k: 2, most: 2 }) })],
    [
      'value widening and flat selection',
      () =>
        mcts({
          ...{ width: 1, widening: valueWidening({ k: 2, most: 2 }) },
          selection: flat(({ visits, inFlight }) => 1 - visits - inFlight),
        }),
    ],
    ['a width of two', () => mcts({ width: 1, widening: progressiveWidening({ k: 2, alpha: 0 }) })],
    [
      'a policy that has no more',
      () => mcts({ width: 1, widening: progressiveWidening({ k: 3 }) }),
    ],
  ] as const)('is waited for, and searched below: %s', async (_name, algorithm) => {
    for (const concurrency of [1, 2, 4, 8]) {
      expect(await found(algorithm(), concurrency)).toBe(1);
    }
  });
});
