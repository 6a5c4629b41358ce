import { describe, expect, test } from 'vitest';
import { countdown, slidingTiles } from '../../src/environments/index.ts';
import {
  astar,
  bestOfN,
  mcts,
  type SearchAlgorithm,
  search,
  stepwise,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import { heuristic } from '../../src/values/heuristic.ts';

const environment = slidingTiles.environment({ rows: 2, columns: 2, tiles: [1, 2, 3, 0] });
const policy = {
  propose: ({
    state,
  }: {
    readonly state: Parameters<typeof environment.actions>[0] | undefined;
  }) => (state === undefined ? [] : environment.actions(state).map((action) => ({ action }))),
};
const evaluator = heuristic(() => 0.5);

const algorithms: Readonly<Record<string, SearchAlgorithm>> = {
  mcts: mcts(),
  'mcts to the end of a path': mcts({ rollout: true, evaluate: 'all' }),
  'one step at a time': stepwise(mcts(), { simulations: 5 }),
  'best of n': bestOfN(),
  'A*': astar({ heuristic: () => 0, admissible: true }),
};

describe('a start that is solved already', () => {
  for (const [name, algorithm] of Object.entries(algorithms)) {
    test(`is a solved result of ${name}`, async () => {
      for (const concurrency of [1, 4]) {
        const result = await search(environment, { policy, evaluator, algorithm, concurrency });
        expect(result).toMatchObject({ solved: true, actions: [], failure: undefined });
        expect(result.optimal).toBe(name === 'A*');
        expect(result.best).toBe(result.tree.root);
        expect(result.stopReason).not.toBe('failed');
        expect(result.spend.simulations).toBeLessThan(10);
      }
    });
  }

  test('stays one on disk, and with a verifier around it', async () => {
    const { tree } = await search(environment, { policy, evaluator });
    const loaded = treeFromJson<never, never>(JSON.stringify(treeToJson(tree)));
    expect(loaded.root).toMatchObject({ terminal: true, reward: 1 });
    const outcome = { verify: () => ({ correct: false }) };
    const { solved } = await search(environment, { policy, evaluator, outcome });
    expect(solved).toBe(false);
  });

  test('is told by Countdown as well, and a start that is not solved is none', async () => {
    const solvedAtOnce = countdown.environment({ numbers: [25, 3], target: 25 });
    expect(solvedAtOnce.reset()).toMatchObject({
      reward: 1,
      terminal: true,
    });
    const open = slidingTiles.environment({ rows: 2, columns: 2, tiles: [1, 2, 0, 3] });
    const { actions } = await search(open, {
      policy,
      algorithm: astar({ heuristic: () => 0, admissible: true }),
    });
    expect(actions).toHaveLength(1);
  });
});
