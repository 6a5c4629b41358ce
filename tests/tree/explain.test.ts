import { describe, expect, test } from 'vitest';
import {
  descend,
  explain,
  maxChild,
  mixedWithEvaluation,
  puct,
  robustChild,
  type Selection,
  thompson,
  treeFromJson,
  treeToJson,
  uct,
  virtualLoss,
} from '../../src/index.ts';
import { SimulationLog } from '../../src/tree/simulation-log.ts';
import { grow, plant, type WordTree } from './grow.ts';

/** N(root) = 4, a with N = 3 and Q = 0.5, b with N = 1 and Q = 0.25, c unvisited. */
function family(): WordTree {
  const tree = plant();
  const a = grow(tree, tree.root, ['a', { prior: 0.5, value: 0.5 }]);
  const b = grow(tree, tree.root, ['b', { prior: 0.25, value: 0.25 }]);
  grow(tree, tree.root, ['c', { prior: 0.25, value: 0.75 }]);
  for (const node of [a, a, a, b]) tree.backup(node);
  return tree;
}

const reasons = (tree: WordTree, rule: Parameters<typeof explain>[2]) =>
  explain(tree, tree.root, rule).map(({ total, terms }) => ({ total, terms }));

describe('a choice is explained by the terms of its rule', () => {
  test('UCT: Q + c · √(ln N / n); a child that was never visited comes first', () => {
    const [a, b, c] = reasons(family(), uct({ c: 2 }));
    expect(a?.terms['exploit']).toBe(0.5);
    expect(a?.terms['explore']).toBeCloseTo(2 * Math.sqrt(Math.log(4) / 3), 12);
    expect(b?.terms).toEqual({
      exploit: 0.25,
      explore: expect.closeTo(2 * Math.sqrt(Math.log(4)), 12) as number,
    });
    expect(b?.total).toBeCloseTo(0.25 + 2 * Math.sqrt(Math.log(4)), 12);
    expect(c).toEqual({
      total: Number.POSITIVE_INFINITY,
      terms: { exploit: Number.POSITIVE_INFINITY, explore: 0 },
    });
  });

  test('PUCT: Q + c · P · √N / (1 + n), with what was evaluated for Q before the first visit', () => {
    const [a, b, c] = reasons(
      family(),
      descend(puct({ cInit: 2, cBase: Number.POSITIVE_INFINITY })),
    );
    expect(a).toEqual({ total: 0.5 + 0.5, terms: { exploit: 0.5, explore: (2 * 0.5 * 2) / 4 } });
    expect(b).toEqual({ total: 0.25 + 0.5, terms: { exploit: 0.25, explore: (2 * 0.25 * 2) / 2 } });
    expect(c).toEqual({ total: 0.75 + 1, terms: { exploit: 0.75, explore: 2 * 0.25 * 2 } });
  });

  test('Thompson: the belief; the last choice: visits and value', () => {
    const tree = family();
    expect(reasons(tree, thompson())[0]).toEqual({
      total: 2.5 / 5,
      terms: { alpha: 2.5, beta: 2.5 },
    });
    expect(reasons(tree, robustChild)[0]).toEqual({ total: 3, terms: { value: 0.5, visits: 3 } });
    expect(reasons(tree, maxChild)[1]).toEqual({ total: 0.25, terms: { value: 0.25, visits: 1 } });
  });

  test.each<[string, Selection]>([
    ['uct', descend(uct({ c: 0.5, inFlight: virtualLoss({ loss: 0.25 }) }))],
    ['puct without growth', descend(puct({ cBase: Number.POSITIVE_INFINITY }), { ties: 'random' })],
    ['a mix', descend(uct({ pseudoVisits: 1, qtransform: mixedWithEvaluation(0.25) }))],
    ['thompson', descend(thompson({ pseudoCounts: [1, 3] }))],
  ])('a saved tree says which rule chose: %s', (_name, rule) => {
    const tree = family();
    tree.rule = rule.spec;
    const saved = treeFromJson(JSON.stringify(treeToJson(tree)));
    const live = explain(tree, tree.root, rule);
    expect(explain(saved, saved.root).map(({ node, ...why }) => [node.id, why])).toEqual(
      live.map(({ node, ...why }) => [node.id, why]),
    );
  });

  test('says what is lacking where a rule cannot be made again', () => {
    const tree = family();
    expect(() => explain(tree, tree.root)).toThrow('because the tree names none');
    tree.rule = descend(uct({ unvisited: () => 1 })).spec;
    expect(() => explain(tree, tree.root)).toThrow(
      'its option `unvisited` is or contains a function',
    );
    tree.rule = { name: 'toString', options: {} };
    expect(() => explain(tree, tree.root)).toThrow('a known rule, got `toString`');
    expect(() =>
      explain(
        tree,
        tree.root,
        descend(() => () => 1),
      ),
    ).toThrow('`descend`');
  });
});

test('a simulation takes at most 64 bytes of a saved tree', () => {
  const log = new SimulationLog();
  // The longest numbers there are: an id, a return, calls and tokens that no search will reach.
  const longest = [-1.2345678901234567 / 1e6, -Number.MAX_VALUE, -Number.MIN_VALUE];
  for (let count = 0; count < 999; count++) {
    const value = longest[count % 3];
    log.add({ leaf: 4_294_967_295, return: value, calls: 999_999_999, tokens: 1e15 - 1 });
  }
  const names = JSON.stringify({ leaves: [], returns: [], calls: [], tokens: [] }).length;
  expect(JSON.stringify(log).length - names).toBeLessThanOrEqual(64 * log.size);
  const free = new SimulationLog();
  free.add({ leaf: 1, return: undefined, calls: 0, tokens: 0 });
  expect(JSON.parse(JSON.stringify(free))).toEqual({ leaves: [1], returns: [null] });
});
