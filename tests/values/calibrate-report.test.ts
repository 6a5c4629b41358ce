import { describe, expect, it } from 'vitest';
import { SearchTree } from '../../src/tree/tree.ts';
import type { Labelled } from '../../src/values/calibrate/auc.ts';
import { reliability, renderReliability } from '../../src/values/calibrate/report.ts';
import { labelledFrom } from '../../src/values/calibrate/samples.ts';

/** Equal but for rounding. */
const near = (value: number): unknown => expect.closeTo(value, 12);

function samples(pairs: readonly (readonly [number, 0 | 1])[]): readonly Labelled[] {
  return pairs.map(([score, correct]) => ({ score, correct: correct === 1 }));
}

describe('reliability', () => {
  const labelled = samples([
    [0.1, 0],
    [0.3, 1],
    [0.9, 1],
    [1, 0],
  ]);

  it('is measured by bins', () => {
    // Two bins: said 0.2 and came 0.5; said 0.95 and came 0.5. ECE (0.3 + 0.45) / 2.
    // Brier: (0.01 + 0.49 + 0.01 + 1) / 4. Pairs in order: 0.3 > 0.1, 0.9 > 0.1, two of four.
    const report = reliability(labelled, { bins: 2 });
    expect(report).toMatchObject({
      count: 4,
      correct: 0.5,
      ece: near(0.375),
      brier: near(0.3775),
      auc: 0.5,
      noise: true,
    });
    expect(report.bins).toEqual([
      { from: 0, to: 0.5, count: 2, score: 0.2, correct: 0.5 },
      { from: 0.5, to: 1, count: 2, score: 0.95, correct: 0.5 },
    ]);
    expect(reliability(labelled).bins.map(({ from }) => from)).toEqual([0.1, 0.3, 0.9]);
  });

  it('is drawn', () => {
    // Forty characters are 1: bars of 20, with the mark at 8 and at 38.
    expect(renderReliability(reliability(labelled, { bins: 2 })).split('\n')).toEqual([
      'value       samples   said  came',
      '0.00–0.50       2   0.20  0.50  ████████|███████████',
      `0.50–1.00       2   0.95  0.50  ${'█'.repeat(20)}${' '.repeat(18)}|`,
      '',
      expect.stringMatching(
        /^4 samples, expected calibration error 0\.375, Brier score 0\.37[78]\.$/,
      ),
      expect.stringMatching(/^The value cannot be told from noise \(AUC 0\.50, /),
      '',
    ]);
  });

  it('is that of probabilities', () => {
    expect(() =>
      reliability(
        samples([
          [2, 1],
          [0, 0],
        ]),
      ),
    ).toThrow('`score`');
    expect(() => reliability(labelled, { bins: 0 })).toThrow('`bins`');
  });
});

describe('labelled samples', () => {
  it('are the ends of trees and the nodes on the way to them', () => {
    const trees = [grown(), grown()];
    const nodes = trees.flatMap((tree) => [...tree.nodes()]);
    const labelled = labelledFrom(nodes, ({ state }) =>
      state === 'lost' ? undefined : state === 'right',
    );
    // Of each tree: the right end with the two nodes above it, and the wrong one with the two above it.
    const wanted = [
      { score: 0.9, correct: true },
      { score: 0.7, correct: true },
      { score: 0.5, correct: true },
      { score: 0.2, correct: false },
      { score: 0.7, correct: false },
      { score: 0.5, correct: false },
    ];
    expect(labelled).toEqual([
      ...wanted.map((one) => ({ ...one, group: 0 })),
      ...wanted.map((one) => ({ ...one, group: 1 })),
    ]);
  });
});

/** Root 0.5; below it 0.7 with three ends (right 0.9, wrong 0.2, lost) and a duplicate, and a sibling that goes on. */
function grown(): SearchTree<string, string> {
  const tree = new SearchTree<string, string>('start', { environment: 'drawn', seed: 0 });
  tree.addEvaluation(tree.root, { value: 0.5 });
  const [way, other] = tree.add(tree.root, [
    { action: 'a', prior: 0.5 },
    { action: 'b', prior: 0.5 },
  ]);
  if (way === undefined || other === undefined) throw new Error('No children were added.');
  tree.realise(way, { state: 'way' });
  tree.addEvaluation(way, { value: 0.7 });
  tree.realise(other, { state: 'other' });
  tree.addEvaluation(other, { value: 0.6 });
  const actions = ['x', 'y', 'z', 'again'];
  const ends = tree.add(
    way,
    actions.map((action) => ({ action, prior: 0.25 })),
  );
  for (const [place, state] of ['right', 'wrong', 'lost', 'right'].entries()) {
    const end = ends[place];
    if (end === undefined) throw new Error('No end was added.');
    tree.realise(end, { state, terminal: true });
    tree.addEvaluation(end, { value: [0.9, 0.2, 0.4, 0.9][place] ?? 0 });
    if (place === 3) tree.prune(end);
  }
  return tree;
}
