import { describe, expect, test } from 'vitest';
import { visitWeighted } from '../../src/tree/backup.ts';
import { mixedValue, mixedWithEvaluation } from '../../src/tree/qtransform.ts';
import { flat, knownValue, puct, uct } from '../../src/tree/selection.ts';
import { SearchTree } from '../../src/tree/tree.ts';
import { noRandom, stats } from './grow.ts';

describe('uct with pseudo-visits', () => {
  const score = uct({ c: 2, pseudoVisits: 1 })(stats({ visits: 9 }), noRandom);

  test('divides by one visit more', () => {
    // 0.5 + 2 · √(ln 9 / (1 + 3)) = 0.5 + 2 · √(2.1972245773362196 / 4)
    expect(score(stats({ visits: 3, value: 0.5 }))).toBeCloseTo(1.982303807367511, 14);
  });

  test('holds for an unvisited child, with Q as known before', () => {
    // 0.25 + 2 · √2.1972245773362196
    expect(score(stats({ rawValue: 0.25 }))).toBeCloseTo(3.214607614735022, 14);
  });
});

describe('puct', () => {
  test('never grows with an infinite base', () => {
    const score = puct({ cInit: 1, cBase: Number.POSITIVE_INFINITY })(
      stats({ visits: 9 }),
      noRandom,
    );

    // 0.5 + 1 · 0.4 · 3 / (1 + 2)
    expect(score(stats({ visits: 2, value: 0.5, prior: 0.4 }))).toBeCloseTo(0.9, 14);
  });

  test('may count only the visits that went on from the parent', () => {
    const rule = puct({
      cInit: 1,
      cBase: Number.POSITIVE_INFINITY,
      parentVisits: (visits) => Math.max(1, visits - 1),
    });

    // 0.5 + 0.4 · √(5 − 1) / (1 + 0), and at the first visit 0.5 + 0.4 · √1.
    expect(rule(stats({ visits: 5 }), noRandom)(stats({ rawValue: 0.5, prior: 0.4 }))).toBe(1.3);
    expect(rule(stats({ visits: 1 }), noRandom)(stats({ rawValue: 0.5, prior: 0.4 }))).toBe(0.9);
  });
});

describe('visitWeighted', () => {
  const children = [
    stats({ visits: 3, value: 0.6 }),
    stats({ visits: 1, value: 0.2 }),
    stats({ rawValue: 0.9 }),
    stats({ rawValue: 0.9, status: 'failed' }),
    stats({ rawValue: 0.9, status: 'pruned' }),
  ];
  const parent = stats({ visits: 5, children });
  const sample = { target: 0, bootstrap: 0, reward: 0.1, discount: 0.5 };

  test('leaves out children that were never visited', () => {
    // 0.1 + 0.5 · (3 · 0.6 + 1 · 0.2) / 4
    expect(visitWeighted()(parent, sample)).toBeCloseTo(0.35, 14);
  });

  test('or counts them as one visit, unless they are out', () => {
    // 0.1 + 0.5 · (3 · 0.6 + 1 · 0.2 + 1 · 0.9) / 5
    expect(visitWeighted({ unvisited: knownValue })(parent, sample)).toBeCloseTo(0.39, 14);
  });

  test('takes the return at a node without children', () => {
    const leaf = stats({ visits: 1 });
    expect(visitWeighted({ unvisited: knownValue })(leaf, { ...sample, target: 0.7 })).toBe(0.7);
  });
});

describe('a value mixed with the evaluation', () => {
  const hybrid = mixedWithEvaluation((visits) => 0.2 / (visits + 0.2))(stats());

  test('weighs the evaluation by the visits', () => {
    expect(hybrid(stats({ rawValue: 0.75 }))).toBe(0.75);
    // w = 0.2 / 1.2 = 1 / 6: 0.75 / 6 + 0.3 · 5 / 6
    expect(hybrid(stats({ visits: 1, value: 0.3, rawValue: 0.75 }))).toBeCloseTo(0.375, 14);
    // w = 0.2 / 2.2 = 1 / 11: 0.75 / 11 + 0.3 · 10 / 11
    expect(hybrid(stats({ visits: 2, value: 0.3, rawValue: 0.75 }))).toBeCloseTo(
      0.3409090909090909,
      14,
    );
  });

  test('is what is known where one of the two is not', () => {
    expect(mixedValue(stats({ visits: 2, value: 0.3 }), 0.5)).toBe(0.3);
    expect(mixedValue(stats({ reward: 0.25 }), 0.5)).toBe(0.25);
    expect(mixedValue(stats({ visits: 1, value: 0.5, rawValue: 0.5, reward: 0.25 }), 0.5)).toBe(
      0.5,
    );
  });
});

test('a flat selection tells the score the parent, and none at the cursor', () => {
  const tree = new SearchTree<string, string>('root', { environment: 'letters', seed: 0 });
  const seen: unknown[] = [];
  const select = flat((node, parent) => {
    seen.push([node.id, parent?.id]);
    return node.id;
  });

  expect(select(tree, noRandom)?.id).toBe(0);
  const [a] = tree.add(
    tree.root,
    ['a', 'b'].map((action) => ({ action, prior: 0.5 })),
  );
  if (a !== undefined) tree.add(a, [{ action: 'c', prior: 1 }]);
  expect(select(tree, noRandom)?.id).toBe(3);
  expect(seen).toEqual([
    [0, undefined],
    [3, 1],
    [2, 0],
  ]);
});

test('a backup may carry the return of a simulation in place of the evaluation', () => {
  const tree = new SearchTree<string, string>('root', { environment: 'letters', seed: 0 });
  const [a, b] = tree.add(
    tree.root,
    ['a', 'b'].map((action) => ({ action, prior: 0.5 })),
  );
  if (a === undefined || b === undefined) throw new Error('There are no children.');
  tree.realise(a, { state: 'a' });
  tree.addEvaluation(a, { value: 0.75 });
  tree.backup(a, { outcome: 0.25 });
  tree.realise(b, { state: 'b', terminal: true, reward: 1 });
  tree.backup(b, { outcome: 0 });

  expect([a.value, a.rawValue, b.value, tree.root.value]).toEqual([0.25, 0.75, 1, 0.625]);
});
