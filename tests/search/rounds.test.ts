import { describe, expect, test } from 'vitest';
import {
  progressiveWidening,
  type SearchAlgorithm,
  type SearchContext,
  type SearchNode,
  type SearchTree,
} from '../../src/index.ts';
import { tableMdp } from '../../src/testing/index.ts';
import { searchOf, streamSearchOf } from '../support/search-of.ts';

const problem = tableMdp({
  s: { a: { to: 'a' }, b: { to: 'b' }, c: { to: 'c' } },
  a: { x: { to: 'end', reward: 1 } },
  b: { x: { to: 'end', reward: 1 } },
  c: { x: { to: 'end', reward: 1 } },
});

type Run = (
  tree: SearchTree<string, string>,
  context: SearchContext<string, string>,
) => Promise<void>;

function algorithm(run: Run): SearchAlgorithm {
  return { name: 'test', concurrency: 'any', laws: [], run: run as SearchAlgorithm['run'] };
}

describe('a round', () => {
  const both = (ends: string[]) =>
    algorithm(async (tree, context) => {
      const expand = (node: SearchNode<string, string>) => context.expand(node);
      ends.push(await context.round('first', [tree.root], expand));
      ends.push(await context.round('second', tree.root.children, expand));
    });

  test('is one simulation a node, and says that it is done', async () => {
    const ends: string[] = [];
    const { tree } = await searchOf({ ...problem, algorithm: both(ends), concurrency: 4 });
    expect(ends).toEqual(['done', 'done']);
    expect(tree.simulations).toBe(4);
    expect(tree.size).toBe(7);
  });

  test('says that it was stopped, and what is done stands in the tree', async () => {
    const ends: string[] = [];
    const result = await searchOf({
      ...problem,
      algorithm: both(ends),
      budget: { simulations: 2 },
    });
    expect(ends).toEqual(['done', 'stopped']);
    expect(result.stopReason).toBe('budget');
    expect(result.tree.size).toBe(5);
  });

  test('of no nodes is done', async () => {
    const ends: string[] = [];
    const none = algorithm(async (_tree, context) => {
      ends.push(await context.round('none', [], () => Promise.resolve()));
    });
    await searchOf({ ...problem, algorithm: none });
    expect(ends).toEqual(['done']);
  });

  test('tells its name in events', async () => {
    const names: (string | undefined)[] = [];
    for await (const event of streamSearchOf({ ...problem, algorithm: both([]) })) {
      if (event.type === 'simulation-start') names.push(event.round);
    }
    expect(names).toEqual(['first', 'second', 'second', 'second']);
  });
});

describe('a graft', () => {
  const grafting = (seen: SearchNode<string, string>[][]) =>
    algorithm(async (tree, context) => {
      const twice = [{ action: 'a', completion: { text: 'A' } }, { action: 'b' }, { action: 'a' }];
      seen.push([...(await context.graft(tree.root, twice))]);
      seen.push([...(await context.expand(tree.root))]);
    });

  test('appends known actions with their completions, and merges equal ones', async () => {
    const seen: SearchNode<string, string>[][] = [];
    const { tree } = await searchOf({ ...problem, algorithm: grafting(seen) });
    expect(seen[0]?.map(({ action }) => action)).toEqual(['a', 'b']);
    expect(tree.root.children[0]?.completion).toEqual({ text: 'A' });
    // The policy then proposes all three, of which two are there.
    expect(tree.root.children.map(({ action }) => action)).toEqual(['a', 'b', 'c']);
    // Shares: `a` was two of three.
    expect(tree.root.children[0]?.prior).toBeGreaterThan(tree.root.children[1]?.prior ?? 1);
  });

  test('keeps to the budget of nodes', async () => {
    const seen: SearchNode<string, string>[][] = [];
    const { tree, stopReason, exceeded } = await searchOf({
      ...problem,
      algorithm: grafting(seen),
      budget: { nodes: 1 },
    });
    expect({ size: tree.size, stopReason, exceeded }).toEqual({
      size: 1,
      stopReason: 'budget',
      exceeded: 'nodes',
    });
  });

  test('notes what cannot be appended, and appends the rest', async () => {
    const failure = { kind: 'parse', message: 'It says nothing.' } as const;
    const { tree, failures } = await searchOf({
      ...problem,
      algorithm: algorithm(async (grown, context) => {
        await context.graft(grown.root, [{ failure }, { action: 'b' }]);
      }),
    });
    expect(tree.root.children.map(({ action }) => action)).toEqual(['b']);
    expect(failures).toMatchObject({ count: 1, kinds: { parse: 1 } });
  });

  test('opens again what was closed', async () => {
    const { tree, actions } = await searchOf({
      ...problem,
      algorithm: algorithm(async (grown, context) => {
        const [child] = await context.graft(grown.root, [{ action: 'a' }]);
        if (child === undefined) return;
        grown.fail(child, { kind: 'call', message: 'Gone.' });
        grown.complete(grown.root);
        await context.graft(grown.root, [{ action: 'b' }]);
      }),
    });
    expect(tree.root.status).toBe('open');
    expect(actions).toEqual([]);
  });
});

test('a conclusion ends a search as solved', async () => {
  let rounds = 0;
  const { stopReason, best, optimal } = await searchOf({
    ...problem,
    algorithm: algorithm(async (tree, context) => {
      await context.simulate(async () => {
        const [child] = await context.expand(tree.root);
        if (child !== undefined) context.conclude({ node: child, optimal: true });
        rounds++;
        return 'continue';
      });
    }),
  });
  expect({ stopReason, action: best.action, optimal, rounds }).toEqual({
    stopReason: 'solved',
    action: 'a',
    optimal: true,
    rounds: 1,
  });
});

test('what was put aside cannot be concluded', async () => {
  const concluding = searchOf({
    ...problem,
    algorithm: algorithm(async (tree, context) => {
      const [child] = await context.expand(tree.root);
      if (child === undefined) return;
      tree.prune(child);
      context.conclude({ node: child, optimal: false });
    }),
  });
  await expect(concluding).rejects.toThrow(
    'Expected `node` to be one that was not pruned, got `1`.',
  );
});

describe('a simulation selects', () => {
  test('from where it is told, and marks the path in the same breath', async () => {
    const inFlight: number[] = [];
    await searchOf({
      ...problem,
      concurrency: 2,
      algorithm: algorithm(async (tree, context) => {
        await context.round('grow', [tree.root], (node) => context.expand(node));
        await context.simulate(
          async (simulation) => {
            const [first] = tree.root.children;
            const selected = simulation.select(({ cursor }) => cursor, {
              from: first ?? tree.root,
            });
            inFlight.push(selected?.inFlight ?? -1, tree.root.inFlight);
            await context.clock.sleep(1);
            return 'continue';
          },
          { limit: 2 },
        );
      }),
    });
    // The second one sees the first.
    expect(inFlight).toEqual([1, 1, 2, 2]);
  });

  test('and closes a node that can get no further child, now or ever', async () => {
    const { tree, stopReason } = await searchOf({
      ...tableMdp({ s: { a: { to: 'end', reward: 0.5 } } }),
      algorithm: algorithm(async (grown, context) => {
        const never = () => false;
        await context.simulate(async (simulation) => {
          const node = simulation.select(
            ({ cursor }) => (cursor.status === 'open' ? cursor : undefined),
            { widening: never },
          );
          if (node === undefined) return 'exhausted';
          const [child] = await context.expand(node, { count: 1, widening: never });
          if (child === undefined) return 'exhausted';
          await context.evaluate([child]);
          grown.backup(child);
          return 'continue';
        });
      }),
    });
    expect(tree.root.status).toBe('closed');
    expect(stopReason).toBe('exhausted');
    expect(progressiveWidening()(tree.root)).toBe(false);
  });
});
