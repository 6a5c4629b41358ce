import { describe, expect, test } from 'vitest';
import { pairRules, rlRules, sftRules, stepLabels } from '../../src/data/index.ts';
import {
  astar,
  bestOfN,
  completedByMixValue,
  descend,
  type Environment,
  flat,
  mcts,
  pathTo,
  puct,
  renderTree,
  robustOrSolvedChild,
  type SearchAlgorithm,
  type SearchContext,
  type SearchNode,
  type SearchTree,
  search,
  summarise,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import { heuristic } from '../../src/values/heuristic.ts';
import { searchOf } from '../support/search-of.ts';
import { sized } from '../support/thorough.ts';

const depth = sized(20_000, 100_000);
const width = 130_000;
const patience = 60_000;

const chain: Environment<number, string> = {
  name: 'chain',
  reset: () => ({ state: 0 }),
  key: String,
  step: (state) =>
    state + 1 < depth ? { state: state + 1 } : { state: depth, terminal: true, reward: 1 },
};
const onward = { propose: () => [{ action: 'on', prior: 1 }] };

const fan: Environment<number, number> = {
  name: 'fan',
  reset: () => ({ state: -1 }),
  key: String,
  step: (_, action) => ({ state: action, terminal: true, reward: (action % 7) / 6 }),
};
const everything = {
  propose: () => Array.from({ length: width }, (_, action) => ({ action, prior: 1 / width })),
};
const evaluator = heuristic(() => 0.5);

/** Proposes a whole path before the first step. */
const ahead: SearchAlgorithm = {
  name: 'ahead',
  concurrency: 'any',
  laws: [],
  async run<State, Action>(
    tree: SearchTree<State, Action>,
    context: SearchContext<State, Action>,
  ): Promise<void> {
    let end: SearchNode<State, Action> = tree.root;
    for (let at = 0; at < depth; at++) {
      for (const child of tree.add(end, [{ action: 'on' as Action, prior: 1 }])) end = child;
    }
    await context.realise([end]);
  },
};

function rowsOf<State, Action>(tree: SearchTree<State, Action>): readonly number[] {
  const notation = {
    prompt: (state: State) => [{ role: 'user' as const, content: String(state) }],
    format: String,
    delimiter: '\n',
  };
  const rules = [
    pairRules.mctsDpo(),
    pairRules.stepDpo(),
    stepLabels.mathShepherd(),
    stepLabels.pav(),
    sftRules.bestTrajectories(),
    sftRules.traversals(),
    rlRules.groups(),
  ];
  return rules.map((rule) => [...rule.rows([{ problem: 'p', tree, notation }])].length);
}

describe(`a path of ${depth} steps`, () => {
  const deepest = mcts({ rollout: true, evaluate: 'all', maxDepth: 2 * depth });

  test('is searched, saved, loaded, copied, drawn and read', { timeout: patience }, async () => {
    const options = { environment: chain, policy: onward, evaluator, budget: { simulations: 1 } };
    const algorithms = [bestOfN({ maxDepth: 2 * depth }), deepest];
    for (const algorithm of algorithms) {
      expect((await searchOf({ ...options, algorithm })).actions).toHaveLength(depth);
    }
    const { tree } = await searchOf({ ...options, algorithm: deepest });
    const loaded = treeFromJson<number, string>(JSON.stringify(treeToJson(tree)));
    for (const copy of [loaded, tree.fork()]) {
      expect(pathTo(copy.best)).toHaveLength(depth + 1);
    }
    expect(renderTree(tree).split('\n')).toHaveLength(depth + 1);
    expect(robustOrSolvedChild(tree.root.children)?.id).toBe(1);
    expect(rowsOf(tree)).toEqual([0, 0, 1, 1, 1, 0, 1]);
  });

  test.each([false, true])(
    'is stepped to from its end, later: %s',
    async (later) => {
      const { tree } = await search(
        later ? { ...chain, step: async (...asked) => chain.step(...asked) } : chain,
        {
          policy: onward,
          algorithm: ahead,
        },
      );
      expect(tree.bestTerminal?.depth).toBe(depth);
    },
    patience,
  );

  test('is the claim of A*', { timeout: patience }, async () => {
    const { actions, optimal } = await search(chain, {
      policy: onward,
      algorithm: astar({ heuristic: () => 0, admissible: true }),
      budget: { simulations: 2 * depth },
    });
    expect(actions).toHaveLength(depth);
    expect(optimal).toBe(true);
  });
});

test(`${width} siblings are searched, saved, loaded, copied and drawn`, {
  timeout: patience,
}, async () => {
  const options = { environment: fan, policy: everything, evaluator, budget: { simulations: 3 } };
  const gumbel = descend(puct({ qtransform: completedByMixValue() }));
  for (const algorithm of [
    astar({ heuristic: () => 0, admissible: true }),
    mcts({ selection: gumbel }),
    mcts({ evaluate: 'all', selection: flat(({ visits }) => -visits) }),
    mcts(),
  ]) {
    const { tree } = await searchOf({ ...options, algorithm });
    expect(tree.root.children).toHaveLength(width);
    if (algorithm.name === 'astar') continue;
    expect(summarise(tree.root).visitCounts).toHaveLength(width);
    expect(robustOrSolvedChild(tree.root.children)).toBeDefined();
  }
  const { tree } = await searchOf(options);
  const loaded = treeFromJson<number, number>(JSON.stringify(treeToJson(tree)));
  for (const copy of [loaded, tree.fork()]) expect(copy.root.children).toHaveLength(width);
  expect(renderTree(tree, { breadth: width }).split('\n')).toHaveLength(width + 1);
});
