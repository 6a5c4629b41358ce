import { describe, expect, test } from 'vitest';
import * as stepLabels from '../../src/data/labels/step-labels.ts';
import type { PairRule } from '../../src/data/pairs/pair-rule.ts';
import * as pairRules from '../../src/data/pairs/pair-rules.ts';
import { q } from '../../src/data/pairs/pair-scores.ts';
import { pairsOf } from '../../src/data/pairs/pairs-of.ts';
import { pathsIn } from '../../src/data/paths.ts';
import type { TreeRecord } from '../../src/data/record.ts';
import * as rlRules from '../../src/data/rl/rl-rules.ts';
import type { RowRule } from '../../src/data/rows.ts';
import * as sftRules from '../../src/data/sft/sft-rules.ts';
import * as unpairedRules from '../../src/data/unpaired-rules.ts';
import { type Plan, planted } from './pairs-trees.ts';

const right = (text: string): Plan => ({ text, visits: 1, q: 1, end: 1 });
const wrong = (text: string): Plan => ({ text, visits: 1, end: 0 });

/** A step that stands three times: the second was merged, the third was not seen to be the same. */
function tripled(states: (id: number) => string = () => '/a'): TreeRecord<string, string> {
  const record = planted([
    { text: 'a', visits: 2, below: [right('x'), wrong('y')] },
    { text: 'a', visits: 2, below: [right('x'), { text: 'z', visits: 1, below: [right('w')] }] },
    { text: ' a', visits: 1, below: [wrong('v')] },
    { text: 'b', visits: 1, below: [wrong('x')] },
  ]);
  const { tree } = record;
  for (const id of [1, 4, 8]) tree.realise(tree.node(id), { state: states(id) });
  tree.merge(tree.node(4), tree.node(1));
  return record;
}

const allPaths = ['a x', 'a y', 'a z w', 'a v', 'b x'];

describe('paths below equal steps', () => {
  test('are there once each, whichever node they stand below', () => {
    const record = tripled();
    const { to, stepOf, endsAt } = pathsIn(record);
    const ends = to(({ terminal }) => terminal);
    expect(ends.map(({ id }) => id)).toEqual([2, 3, 7, 9, 11]);
    expect(stepOf(record.tree.node(8)).id).toBe(1);
    for (const id of [1, 4, 8])
      expect(endsAt(record.tree.node(id))).toEqual({ right: 2, wrong: 2 });
    expect(endsAt(record.tree.root)).toEqual({ right: 2, wrong: 3 });
  });
});

describe('paths below equal steps in every rule', () => {
  test.each<readonly [string, RowRule]>([
    ['math-shepherd', stepLabels.mathShepherd()],
    ['omega-prm', stepLabels.omegaPrm()],
    ['pav', stepLabels.pav()],
    ['prm800k', stepLabels.prm800k({ untilError: false })],
    ['rest-mcts', stepLabels.restMcts()],
    ['groups', rlRules.groups()],
    ['tree-advantages', rlRules.treeAdvantages()],
  ])('all become rows of %s', (_name, rule) => {
    const steps = [...rule.rows([tripled()])].map((row) =>
      'steps' in row ? row.steps.map((step) => (typeof step === 'string' ? step : step.text)) : [],
    );
    const said = steps.map((path) => path.map((step) => step.trim()).join(' '));
    expect(said.toSorted()).toEqual(allPaths.toSorted());
  });

  test.each<readonly [string, RowRule]>([
    ['unpaired-ends', unpairedRules.ends()],
    ['best-trajectories', sftRules.bestTrajectories({ best: 10 })],
    ['trajectory', pairRules.trajectory({ paths: 'all-ordered', by: 'score' })],
  ])('all right ones become completions of %s', (_name, rule) => {
    const said = [...rule.rows([tripled()])].flatMap((row) =>
      row.kind === 'preference'
        ? row.chosen
        : 'completion' in row && (row.kind !== 'unpaired' || row.label)
          ? row.completion
          : [],
    );
    expect(new Set(said.map(({ content }) => content))).toEqual(new Set(['a\nx', 'a\nz\nw']));
  });
});

describe('equal steps', () => {
  test('count for the step: two of four ends behind `a` are right, and one of two behind none', () => {
    const [row] = stepLabels.mathShepherd().rows([tripled()]);
    expect(row?.steps.map(({ value }) => value)).toEqual([0.5, 1]);
    expect(row?.alternatives.map((steps) => steps.map(({ text }) => text))).toEqual([
      ['a', 'b'],
      ['x', 'y', 'z', 'v'],
    ]);
    const values = [...rlRules.treeAdvantages({ estimators: ['value'] }).rows([tripled()])];
    expect(values.map(({ stepAdvantages }) => stepAdvantages['value'])).toEqual([
      [0.5, 1],
      [0.5, 0],
      [0.5, 1, 1],
      [0.5, 0],
      [0, 0],
    ]);
  });

  test('stay apart where the same call was answered in two ways', () => {
    const rows = [...rlRules.groups().rows([tripled((id) => `/a${id}`)])];
    expect(rows.map(({ steps }) => steps.map((step) => step.trim()).join(' '))).toEqual([
      'a x',
      'a y',
      'a x',
      'a z w',
      'a v',
      'b x',
    ]);
    const [first, , third] = stepLabels
      .mathShepherd({ from: 'evaluation' })
      .rows([tripled((id) => `/a${id}`)]);
    expect(first?.alternatives[1]?.map(({ text }) => text)).toEqual(['x', 'y']);
    expect(third?.alternatives[1]?.map(({ text }) => text)).toEqual(['x', 'z']);
  });

  test('do not lead over what has failed', () => {
    const record = tripled();
    record.tree.fail(record.tree.node(4), { kind: 'call', message: 'It broke.' });
    expect([...unpairedRules.ends().rows([record])]).toHaveLength(4);
    expect([...rlRules.groups().rows([record])]).toHaveLength(4);
  });
});

test('an end chooses nothing, also where an equal step goes on: no pair is of the path to it', () => {
  const below = [right('x'), wrong('y')];
  const record = planted([
    { text: 'a', visits: 3, q: 1, end: 1 },
    { text: 'a', visits: 2, below },
  ]);
  expect(record.tree.best.id).toBe(1);
  const pairsAt = (nodes: PairRule['nodes']) =>
    pairsOf(record, { name: 'n', nodes, siblings: 'all-ordered', score: q }).map(
      ({ chosen, rejected }) => [chosen.id, rejected.id],
    );
  expect(pairsAt('path')).toEqual([]);
  expect(pairsAt('right-path')).toEqual([]);
  // The path to `x` goes through it.
  expect(pairsAt('success-path')).toEqual([[3, 4]]);
  expect(pairsAt('all')).toEqual([[3, 4]]);
});

test('below the best node nothing was chosen, also where it is an answer that was refined', () => {
  const below: readonly Plan[] = [
    { text: 'x', visits: 1, q: 0.3, answer: 0.3 },
    { text: 'y', visits: 1, q: 0.1, answer: 0.1 },
  ];
  const record = planted([
    { text: 'a', visits: 3, q: 0.9, answer: 0.9, below },
    { text: 'b', visits: 1, q: 0.2, answer: 0.2 },
  ]);
  expect(record.tree.best.id).toBe(1);
  const pairs = pairsOf(record, { name: 'n', nodes: 'path', siblings: 'all-ordered', score: q });
  expect(pairs.map(({ chosen, rejected }) => [chosen.id, rejected.id])).toEqual([[1, 4]]);
});
