import { describe, expect, test } from 'vitest';
import type { ChildNode, SearchNode } from '../../src/contracts/node.ts';
import * as stepLabels from '../../src/data/labels/step-labels.ts';
import * as pairRules from '../../src/data/pairs/pair-rules.ts';
import * as pairScores from '../../src/data/pairs/pair-scores.ts';
import { readOmegaPrm } from '../../src/data/readers/omega-prm.ts';
import type { RowNotation, TreeRecord } from '../../src/data/record.ts';
import * as rlRules from '../../src/data/rl/rl-rules.ts';
import type { PreferenceRow } from '../../src/data/rows.ts';
import * as sftRules from '../../src/data/sft/sft-rules.ts';
import * as unpairedRules from '../../src/data/unpaired-rules.ts';
import { SearchTree } from '../../src/tree/tree.ts';

/** What was done and what was seen. */
type Step = readonly [action: string, seen: string];
type Node = SearchNode<readonly Step[], string>;
type Child = ChildNode<readonly Step[], string>;

const chat: RowNotation<readonly Step[], string> = {
  prompt: (steps) => [
    { role: 'user', content: 'Q' },
    ...steps.flatMap(([action, seen]) => [
      { role: 'assistant', content: action } as const,
      { role: 'user', content: seen } as const,
    ]),
  ],
  format: (action) => action,
};

function plant(): {
  readonly record: TreeRecord<readonly Step[], string>;
  readonly add: (
    parent: Node,
    step: Step,
    ends?: { readonly answer?: boolean; readonly reward?: number; readonly terminal?: boolean },
  ) => Child;
} {
  const tree = new SearchTree<readonly Step[], string>([], { environment: 'e', seed: 0 });
  return {
    record: { problem: 'p', tree, notation: chat },
    add(parent, step, ends = {}) {
      const [node] = tree.add(parent, [{ action: step[0], prior: 0.1 }]);
      if (node === undefined) throw new Error('A child was added and not returned.');
      tree.realise(node, { state: [...(parent.state ?? []), step], ...ends });
      return node;
    },
  };
}

const end = (reward: number) => ({ terminal: true, reward });

const sides = (rows: Iterable<PreferenceRow>) =>
  [...rows].map(({ chosen, rejected }) => [chosen, rejected].map(([turn]) => turn?.content));

describe('below a step and its merged twin', () => {
  /** The door twice, the second merged: one was burnt, and one walked through. */
  function doors(): TreeRecord<readonly Step[], string> {
    const { record, add } = plant();
    const { tree } = record;
    const [first, twin] = [0, 1].map(() => add(tree.root, ['open the door', 'ok']));
    if (first === undefined || twin === undefined) throw new Error('Two were added.');
    const burnt = add(first, ['burn it', ''], end(0));
    const walked = add(twin, ['walk in', ''], end(1));
    tree.merge(twin, first);
    for (const node of [burnt, walked]) tree.backup(node);
    return record;
  }

  test.each([
    ['step-dpo', pairRules.stepDpo()],
    ['tool-preference', pairRules.toolPreference()],
    ['rstar-math', pairRules.rStarMath({ minEditDistance: 0 })],
    ['agent-q', pairRules.agentQ()],
    ['step-q', pairRules.stepQ()],
  ])('steps are siblings for %s', (_name, rule) => {
    const rows = [...rule.rows([doors()])];
    expect(sides(rows)).toEqual([['walk in', 'burn it']]);
    expect(rows[0]?.prompt.map(({ content }) => content)).toEqual(['Q', 'open the door', 'ok']);
  });

  test('a walk goes on without a way back', () => {
    // The step before the walk in: P is 0.1 / 2 for both, so that the first one is tried first.
    const turns = [...sftRules.traversals().rows([doors()])].map(({ completion: [turn] }) => turn);
    expect(turns.map((turn) => turn?.content)).toEqual(['open the door', 'walk in']);
  });

  test('a step that is right below one is not rejected', () => {
    const { record, add } = plant();
    const { tree } = record;
    const [first, twin] = [0, 1].map(() => add(tree.root, ['A', 'ok']));
    if (first === undefined || twin === undefined) throw new Error('Two were added.');
    add(add(first, ['x', 'ok']), ['n', ''], end(0));
    add(first, ['y', ''], end(1));
    add(add(twin, ['x', 'ok']), ['m', ''], end(1));
    tree.merge(twin, first);
    // x leads to m, which is right: no first wrong step. Behind A and x, n is one.
    expect(sides(pairRules.stepDpo().rows([record]))).toEqual([['m', 'n']]);
    expect(sides(pairRules.toolPreference().rows([record]))).toEqual([['m', 'n']]);
  });
});

describe('a prefix that a file lists twice', () => {
  const file = JSON.stringify({
    question: 'What is 3 + 4?',
    reasoning_steps: {
      text: '',
      mc_value: 0.5,
      children: [
        { text: 'We add.', mc_value: 0 },
        {
          text: 'We add.',
          mc_value: 0.2,
          children: [
            { text: 'Seven.', mc_value: 1 },
            { text: 'We stop.', mc_value: 0 },
            { text: 'We count.', mc_value: 0.5 },
            { text: 'We rest.', mc_value: 0 },
          ],
        },
      ],
    },
  });

  test('has one value, a leaf a vote, and is no leaf where something was built on it', () => {
    const rows = [...stepLabels.omegaPrm().rows(readOmegaPrm(file))];
    const paths = rows.map(({ steps }) => steps.map(({ text }) => text).join(' '));
    expect(paths.toSorted()).toEqual([
      'We add. Seven.',
      'We add. We count.',
      'We add. We rest.',
      'We add. We stop.',
    ]);
    // (1 · 0 + 4 · 0.2) / 5.
    for (const { steps } of rows) expect(steps[0]).toMatchObject({ value: 0.16, label: true });
  });
});

describe('a step that was evaluated twice', () => {
  /** Twice the same step, answered in two ways, and another beside it. */
  function twice(): TreeRecord<readonly Step[], string> {
    const { record, add } = plant();
    const { tree } = record;
    const [one, other, beside] = [
      add(tree.root, ['look', 'dark']),
      add(tree.root, ['look ', 'light']),
      add(tree.root, ['wait', '']),
    ];
    for (const value of [0, 0.5]) tree.addEvaluation(one, { value });
    tree.addEvaluation(other, { value: 1 });
    tree.addEvaluation(beside, { value: 0.9 });
    tree.addEvaluation(add(one, ['stay', ''], end(0)), { value: 0 });
    tree.addEvaluation(add(other, ['go', ''], end(1)), { value: 1 });
    tree.addEvaluation(tree.root, { value: 0.5 });
    return record;
  }

  test.each([
    ['omega-prm', stepLabels.omegaPrm()],
    ['math-shepherd', stepLabels.mathShepherd({ from: 'evaluation', paths: 'leaves' })],
    ['prm800k', stepLabels.prm800k({ from: 'evaluation', paths: 'leaves' })],
    ['pav', stepLabels.pav({ from: 'evaluation', paths: 'leaves', alpha: 0 })],
  ])('has the mean of all samples in every row of %s', (_name, rule) => {
    const rows = [...rule.rows([twice()])];
    const looks = rows.filter(({ steps: [step] }) => step?.text.startsWith('look') === true);
    expect(looks).toHaveLength(2);
    for (const { steps, alternatives } of rows) {
      const [step, ...more] = [steps[0], ...(alternatives[0] ?? [])];
      const told = [step, ...more].map((shown) => [shown?.text.split(/\s/)[0], shown?.value]);
      expect(new Map(told.map(([text, value]) => [`${text} ${value}`, value])).size).toBe(2);
      expect(told).toContainEqual(['look', 0.5]);
      expect(told).toContainEqual(['wait', 0.9]);
    }
  });
});

describe('equal ends', () => {
  test('are two paths where a tool answered in two ways', () => {
    const { record, add } = plant();
    const { tree } = record;
    add(add(tree.root, ['look', 'a cat']), ['say dog', ''], end(0));
    add(add(tree.root, ['look', 'a dog']), ['say dog', ''], end(1));
    add(tree.root, ['give up', ''], end(0));
    const rows = [...pairRules.trajectory().rows([record])];
    expect(rows.map(({ rejected }) => rejected.map(({ content }) => content))).toEqual([
      ['give up'],
      ['look', 'a cat', 'say dog'],
    ]);
    for (const { chosen } of rows) expect(chosen[1]?.content).toBe('a dog');
  });

  test('stand before evaluated leaves of the same step', () => {
    const { record, add } = plant();
    const { tree } = record;
    const leaf = add(tree.root, ['buy', 'no money']);
    tree.addEvaluation(leaf, { value: 0.4 });
    for (const node of [leaf, leaf, add(tree.root, ['buy', 'bought'], end(1))]) tree.backup(node);
    const rows = [...stepLabels.mathShepherd({ paths: 'leaves' }).rows([record])];
    expect(rows.map(({ right, provenance }) => [right, provenance.nodes])).toEqual([
      [true, [0, 2]],
    ]);
  });

  test('are as right for every rule as the most visited of them', () => {
    const { record, add } = plant();
    const { tree } = record;
    const above = add(tree.root, ['s', 'ok']);
    const [right, wrong] = [add(above, ['x', ''], end(1)), add(above, ['x', ''], end(0))];
    for (const node of [right, wrong, wrong]) tree.backup(node);
    add(tree.root, ['y', ''], end(1));
    const labels = [...stepLabels.restMcts().rows([record])].map(({ steps }) =>
      steps.map(({ label }) => label),
    );
    expect(labels).toEqual([[false, false], [true]]);
    expect([...unpairedRules.ends().rows([record])].map(({ label }) => label)).toEqual([
      false,
      true,
    ]);
  });

  test('are told by the original, however often the duplicate was visited', () => {
    const { record, add } = plant();
    const { tree } = record;
    const [first, twin] = [0, 1].map(() => add(tree.root, ['x', ''], end(1)));
    if (first === undefined || twin === undefined) throw new Error('Two were added.');
    add(tree.root, ['y', ''], end(0));
    tree.backup(twin);
    tree.merge(twin, first);
    expect(sides(pairRules.trajectory().rows([record]))).toEqual([['x', 'y']]);
    const [row] = unpairedRules.ends().rows([record]);
    expect(row?.provenance.nodes).toEqual([0, first.id]);
  });
});

describe('rewards', () => {
  test('of an answer that may be refined count as those of an end', () => {
    const { record, add } = plant();
    const { tree } = record;
    const good = add(tree.root, ['good', ''], { answer: true, reward: 1 });
    add(tree.root, ['bad', ''], { answer: true, reward: 0 });
    expect(pairScores.q(good)).toBe(1);
    const rows = [...pairRules.agentQ({ minVisits: 0 }).rows([record])];
    expect(sides(rows)).toEqual([['good', 'bad']]);
    expect(rows[0]?.provenance.guidance).toBe('rewarded');
  });

  test.each([1, 0.5])('are discounted by `gigpo` alone: tree discount %d', (discount) => {
    const { record, add } = plant();
    record.tree.discount = discount;
    const first = add(record.tree.root, ['a', 'ok']);
    record.tree.realise(first, { state: [['a', 'ok']], reward: 0.2 });
    add(first, ['e', ''], end(1));
    add(record.tree.root, ['f', ''], end(0.6));
    add(record.tree.root, ['h', ''], end(0));
    const rule = rlRules.treeAdvantages({
      discount: 1,
      estimators: ['gigpo-step'],
      epsilon: Number.MIN_VALUE,
    });
    const steps = [...rule.rows([record])].map(
      ({ stepAdvantages }) => stepAdvantages['gigpo-step']?.[0],
    );
    // G is 1.2, 0.6 and 0: the mean is 0.6, σ² = (0.36 + 0 + 0.36) / 3 = 0.24, and 0.6 / √0.24 = √1.5.
    expect(steps[0]).toBeCloseTo(Math.sqrt(1.5), 12);
    expect(steps[1]).toBeCloseTo(0, 12);
    expect(steps[2]).toBeCloseTo(-Math.sqrt(1.5), 12);
  });

  test('are shared by `salt` among texts that differ in space alone', () => {
    const { record, add } = plant();
    const { tree } = record;
    add(add(tree.root, ['a', 'ok']), ['e', ''], end(1));
    add(add(tree.root, [' a', 'ok']), ['f', ''], end(0));
    const rule = rlRules.treeAdvantages({ estimators: ['salt'] });
    const steps = [...rule.rows([record])].map(({ stepAdvantages }) => stepAdvantages['salt']);
    // 1 and −1 for the paths: 0 for the step that both take.
    expect(steps.map((step) => step?.[0])).toEqual([0, 0]);
    expect(steps[0]?.[1]).toBeCloseTo(1, 5);
  });
});

describe('critiques', () => {
  const judged = (values: readonly (readonly [number, string])[], about?: 'action') => {
    const { record, add } = plant();
    const node = add(record.tree.root, ['ans', '']);
    for (const [value, rationale] of values) {
      record.tree.addEvaluation(node, { value, rationale, ...(about && { about }) });
    }
    return { record, node, add };
  };

  test('agree with the majority of all samples', () => {
    const { record } = judged([
      [1, 'Good.'],
      [1, 'Fine.'],
      [0, 'Bad.'],
    ]);
    const rows = [...sftRules.judgements().rows([record])];
    expect(rows.map(({ completion: [turn], score }) => [turn?.content, score])).toEqual([
      ['Fine.\nVerdict: yes', 2 / 3],
    ]);
    expect([...sftRules.judgements({ only: 'split' }).rows([record])]).toEqual(rows);
    expect([...sftRules.judgements({ verdict: () => false }).rows([record])]).toEqual([]);
  });

  test('of actions judge no state', () => {
    const { record } = judged([[1, 'Good.']], 'action');
    expect([...sftRules.judgements().rows([record])]).toEqual([]);
  });

  test('that led to a refinement are those of the majority', () => {
    const { record, node, add } = judged([
      [0, 'Bad.'],
      [0, 'Poor.'],
      [1, 'Good.'],
    ]);
    add(node, ['better', ''], end(1));
    const [row] = sftRules.refiner({ request: 'Again.' }).rows([record]);
    expect(row?.prompt.at(-1)?.content).toContain('Poor.\n\nAgain.');
  });

  test('of several samples are blended from the means of their parts', () => {
    const { record, node, add } = judged([]);
    record.tree.addEvaluation(node, { value: 1, parts: { a: 1 } });
    record.tree.addEvaluation(node, { value: 0, parts: { a: 0, b: 0.5 } });
    add(node, ['better', ''], end(1));
    const [row] = unpairedRules.ends().rows([record]);
    expect(row?.provenance.parts[1]).toEqual({ a: 0.5, b: 0.5 });
  });
});

test('of steps that differ in space around them only the most visited is wanted or not', () => {
  const { record, add } = plant();
  const { tree } = record;
  const often = add(tree.root, ['b', 'x'], { terminal: true, reward: 1 });
  const seldom = add(tree.root, ['b ', 'y'], { terminal: true, reward: 0 });
  for (const node of [often, often, seldom]) tree.backup(node);
  const rows = [...unpairedRules.siblings().rows([record])];
  expect(rows.map(({ label }) => label)).toEqual([true]);
});

describe('of trees in which steps differ in space around them', () => {
  const records = ['', ' '].map((space) => {
    const { record, add } = plant();
    const { tree } = record;
    const right = add(tree.root, [`a${space}`, 'x'], end(1));
    const wrong = add(tree.root, [`b${space}`, 'x'], end(0));
    for (const node of [right, wrong]) tree.backup(node);
    return record;
  });

  test.each([
    ['step-dpo', pairRules.stepDpo()],
    ['trajectory', pairRules.trajectory()],
    ['best-trajectories', sftRules.bestTrajectories()],
    ['traversals', sftRules.traversals()],
  ] as const)('a row is one row for %s', (_name, rule) => {
    expect([...rule.rows(records)]).toHaveLength(1);
  });

  test('labelled steps are one solution', () => {
    expect([...stepLabels.mathShepherd().rows(records)]).toHaveLength(2);
  });
});
