import { describe, expect, test } from 'vitest';
import { effectiveReward } from '../../src/data/labels/pav.ts';
import { nextValue } from '../../src/data/labels/rest-mcts.ts';
import * as stepLabels from '../../src/data/labels/step-labels.ts';
import type { RowNotation, TreeRecord } from '../../src/data/record.ts';
import type { RowRule, StepwiseRow } from '../../src/data/rows.ts';
import { SearchTree } from '../../src/tree/tree.ts';

/** What stands at an action: the reward of an end, nothing yet, or more actions. */
type Branch = number | null | { readonly [action: string]: Branch };

const notation: RowNotation<string, string> = {
  prompt: (state) => [{ role: 'user', content: `Task. So far: ${state}` }],
  format: (action) => action,
};

function plant(branch: Branch, changes: Partial<TreeRecord<string, string>> = {}) {
  const tree = new SearchTree<string, string>('', { environment: 'letters', seed: 7 });
  const grow = (parent: ReturnType<typeof tree.node>, below: Branch): void => {
    for (const [action, next] of Object.entries(typeof below === 'object' ? (below ?? {}) : {})) {
      const [child] = tree.add(parent, [{ action, prior: 0.5 }]);
      if (child === undefined) throw new Error('A child was added.');
      const state = `${parent.state ?? ''}${action}`;
      const isEnd = typeof next === 'number';
      tree.realise(child, isEnd ? { state, terminal: true, reward: next } : { state });
      grow(child, next);
    }
  };
  grow(tree.root, branch);
  const record: TreeRecord<string, string> = { problem: 'p', tree, notation, ...changes };
  return record;
}

/** Each row as `text value label rating` of its steps, and what became of it. */
function look(rule: RowRule<StepwiseRow>, ...trees: readonly TreeRecord<string, string>[]) {
  return [...rule.rows(trees)].map(
    ({ steps, right }) =>
      `${steps
        .map(
          ({ text, value, label, rating }) =>
            `${text} ${Number(value.toFixed(4))} ${label ? '+' : '-'} ${rating}`,
        )
        .join(', ')} | ${right}`,
  );
}

/** Below a one of two ends is right, below b the only scored one is wrong, and of f and g nothing is known. */
const small: Branch = { a: { c: 1, d: 0 }, b: { e: 0, f: null }, g: null };

describe('labels of Math-Shepherd', () => {
  test('are the share of right ends below, and whether there is one', () => {
    expect(look(stepLabels.mathShepherd(), plant(small))).toEqual([
      'a 0.5 + 1, c 1 + 1 | true',
      'a 0.5 + 1, d 0 - -1 | false',
      'b 0 - -1, e 0 - -1 | false',
    ]);
  });

  test('end a row before a step of which nothing is known', () => {
    // f ends after b; g gives no row. The rows of the ends are there too.
    expect(look(stepLabels.mathShepherd({ paths: 'leaves' }), plant(small))).toEqual([
      'a 0.5 + 1, c 1 + 1 | true',
      'a 0.5 + 1, d 0 - -1 | false',
      'b 0 - -1, e 0 - -1 | false',
      'b 0 - -1 | undefined',
    ]);
  });

  test('show what was proposed in the place of a step, and which of it was taken', () => {
    const [first, , third] = [...stepLabels.mathShepherd().rows([plant(small)])];
    expect(first?.alternatives.map((all) => all.map(({ text }) => text))).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(first?.taken).toEqual([0, 0]);
    expect(third?.alternatives.map((all) => all.map(({ text }) => text))).toEqual([
      ['a', 'b'],
      ['e'],
    ]);
    expect(third?.taken).toEqual([1, 0]);
    expect(first).toMatchObject({
      kind: 'stepwise',
      prompt: [{ role: 'user', content: 'Task. So far: ' }],
      delimiter: '\n',
      provenance: { rule: 'math-shepherd', depth: 0, nodes: [0, 1, 2] },
    });
  });

  test('read the evaluation where the tree has it, and else the ends', () => {
    const record = plant(small);
    record.tree.addEvaluation(record.tree.node(1), { value: 0.25 });
    expect(look(stepLabels.mathShepherd({ from: 'evaluation' }), record)[0]).toBe(
      'a 0.25 + 1, c 1 + 1 | true',
    );
    expect(look(stepLabels.mathShepherd(), record)[0]).toBe('a 0.5 + 1, c 1 + 1 | true');
  });

  test('count what scores enough as right, leave out what failed, and keep what stands below a duplicate', () => {
    const record = plant({ a: { c: 0.6, d: 0.4, e: 1 }, b: { f: 1 } }, { correctFrom: 0.5 });
    const { tree } = record;
    expect(look(stepLabels.mathShepherd(), record)[1]).toBe('a 0.6667 + 1, d 0 - -1 | false');
    tree.fail(tree.node(4), { kind: 'call', message: 'It broke.' });
    tree.merge(tree.node(5), tree.node(1));
    expect(look(stepLabels.mathShepherd(), record)).toEqual([
      'a 0.5 + 1, c 1 + 1 | true',
      'a 0.5 + 1, d 0 - -1 | false',
      'b 1 + 1, f 1 + 1 | true',
    ]);
  });
});

describe('the choice of paths', () => {
  const wide = plant({ a: 1, b: 0, c: 0, d: 1, e: 0, f: 0, g: null });

  test('takes as many right as wrong ends', () => {
    const rows = [...stepLabels.mathShepherd({ paths: 'balanced' }).rows([wide])];
    expect(rows.map(({ right }) => right).toSorted()).toEqual([false, false, true, true]);
    expect(look(stepLabels.mathShepherd({ paths: 'balanced' }), plant({ a: 0, b: 0 }))).toEqual([]);
  });

  test('takes the best ones over all trees, the first of equal ones', () => {
    const rule = stepLabels.mathShepherd({ paths: { best: 2 } });
    const other = plant({ h: 0.9, i: 1 }, { id: 'second' });
    expect(look(rule, plant({ a: 0.5, b: 0.95 }), other)).toEqual([
      'i 1 + 1 | true',
      'b 0 - -1 | false',
    ]);
    expect(look(stepLabels.mathShepherd({ paths: { best: 1 } }), wide)).toEqual(['a 1 + 1 | true']);
  });

  test('gives one row for equal paths of two trees', () => {
    expect(look(stepLabels.mathShepherd(), plant({ a: 1 }), plant({ a: 1, b: 0 }))).toEqual([
      'a 1 + 1 | true',
      'b 0 - -1 | false',
    ]);
  });

  test('refuses anything else', () => {
    expect(() => stepLabels.mathShepherd({ paths: 'most' as 'ends' })).toThrow(
      "Expected `paths` to be 'ends', 'balanced', 'leaves' or { best }, got `\"most\"`.",
    );
    expect(() => stepLabels.pav({ paths: { best: 0 } })).toThrow(
      'Expected `paths.best` to be an integer from 1 up, got `0`.',
    );
  });
});

describe('labels of ReST-MCTS*', () => {
  test('follow the recursion', () => {
    // m: c 1, b 2, a 3. V: a 0 + 1/3; b 1/3 + (2/3)/2 = 2/3; c 2/3 + (1/3)/1 = 1.
    // x has the m of a: 1/3 − (2/3)/3 = 1/9; y: 1/9 − (8/9)/3 < 0. z has the m of the root, 4: 0 − 1/4 < 0.
    const record = plant({ a: { b: { c: 1 }, x: { y: 0 } }, z: 0 });
    expect(look(stepLabels.restMcts(), record)).toEqual([
      'a 0.3333 + 1, b 0.6667 + 1, c 1 + 1 | true',
      'a 0.3333 + 1, x 0.1111 - -1, y 0 - -1 | false',
      'z 0 - -1 | false',
    ]);
    expect(nextValue(0.5, 4, true)).toBe(0.625);
    expect(nextValue(0.5, 4, false)).toBe(0.375);
  });

  test('count to the nearest right end', () => {
    // m of a is 2 by d, not 3 by c: V(a) = 1/2, V(d) = 1; b has m 2 of its own: 1/2 + (1/2)/2 = 3/4.
    expect(look(stepLabels.restMcts(), plant({ a: { b: { c: 1 }, d: 1 } }))).toEqual([
      'a 0.5 + 1, b 0.75 + 1, c 1 + 1 | true',
      'a 0.5 + 1, d 1 + 1 | true',
    ]);
  });

  test('give nothing where no end is right, and end before what nobody scored', () => {
    expect(look(stepLabels.restMcts(), plant({ a: 0 }))).toEqual([]);
    // b is off the way, but nobody knows whether it is wrong.
    expect(look(stepLabels.restMcts({ paths: 'leaves' }), plant({ a: { b: null, c: 1 } }))).toEqual(
      ['a 0.5 + 1 | undefined', 'a 0.5 + 1, c 1 + 1 | true'],
    );
  });
});

describe('labels of OmegaPRM', () => {
  test('are the value of each prefix, in all leaves', () => {
    const record = plant({ a: { c: null, d: 0 }, b: null });
    const values = [0.5, 0.625, 0, 0.125];
    for (const [place, value] of values.entries()) {
      if (place !== 2) record.tree.addEvaluation(record.tree.node(place + 1), { value });
    }
    // Nodes in order: a, c, d, b; d is an end and has a reward alone.
    expect(look(stepLabels.omegaPrm(), record)).toEqual([
      'a 0.5 + 1, c 0.625 + 1 | undefined',
      'a 0.5 + 1, d 0 - -1 | false',
      'b 0.125 + 1 | undefined',
    ]);
  });
});

describe('ratings as in PRM800K', () => {
  test('end a row with the first error', () => {
    expect(look(stepLabels.prm800k(), plant(small))).toEqual([
      'a 0.5 + 1, c 1 + 1 | true',
      'a 0.5 + 1, d 0 - -1 | false',
      'b 0 - -1 | undefined',
    ]);
    expect(look(stepLabels.prm800k({ untilError: false }), plant(small))[2]).toBe(
      'b 0 - -1, e 0 - -1 | false',
    );
  });

  test('have a middle', () => {
    expect(look(stepLabels.prm800k({ rightFrom: 0.75 }), plant(small))[0]).toBe(
      'a 0.5 - 0, c 1 + 1 | true',
    );
    expect(look(stepLabels.prm800k({ wrongTo: 0.5 }), plant(small))[0]).toBe(
      'a 0.5 - -1 | undefined',
    );
    expect(() => stepLabels.prm800k({ wrongTo: 0.5, rightFrom: 0.25 })).toThrow(
      'Expected `rightFrom` to be a finite number from 0.5 to 1, got `0.25`.',
    );
  });
});

describe('labels of progress', () => {
  test('are value and progress under the prover', () => {
    // Q: root 1/3, a 1/2, b 0. K = 2: A(a) = (2/3)² − (1/2)² = 7/36, so 1/2 + 7/72 = 0.5972;
    // c: 1 + (1/4)/2 = 1.125; d: 0 + (1/4 − 1)/2 = −0.375; b: 0 + (4/9 − 1)/2 = −0.2778; e: nothing changes.
    expect(look(stepLabels.pav({ prover: 2 }), plant(small))).toEqual([
      'a 0.5972 + 1, c 1.125 + 1 | true',
      'a 0.5972 + 1, d -0.375 - -1 | false',
      'b -0.2778 - -1, e 0 - 0 | false',
    ]);
    // K = 4: (1/2)⁴ = 1/16 less 0.
    expect(effectiveReward(0.5, 1, { alpha: 1, prover: 4 })).toBe(1.0625);
  });

  test('hold for a step where nothing more was to be gained', () => {
    expect(look(stepLabels.pav(), plant({ a: { b: 1 } }))).toEqual(['a 1 + 1, b 1 + 1 | true']);
  });
});

describe('labels of steps that two trees of a problem share', () => {
  // a leads to one right end of three, and to it in two steps.
  const trees = [
    plant({ a: { c: 1, d: 0 } }, { id: 'p#1' }),
    plant({ a: { e: 0 } }, { id: 'p#2' }),
  ];

  test.each([
    [stepLabels.mathShepherd(), 'a 0.3333 + 1'],
    [stepLabels.pav(), 'a 0.3333 - 0'],
    [stepLabels.prm800k(), 'a 0.3333 - 0'],
    [stepLabels.restMcts(), 'a 0.5 + 1'],
  ] as const)('are those of all trees together: $0.name', (rule, label) => {
    const rows = look(rule, ...trees);

    expect(rows).toHaveLength(3);
    expect(rows.map((row) => row.split(',')[0])).toEqual([label, label, label]);
  });

  test('are the mean of all evaluations', () => {
    const [one, other] = trees.map(({ tree }) => plant({ a: { b: 1 } }, { tree }));
    if (one === undefined || other === undefined) return;
    for (const [place, { tree }] of [one, other].entries()) {
      const node = tree.node(1);
      tree.addEvaluation(node, { value: place === 0 ? 1 : 0.5 });
    }

    const [first, second] = look(stepLabels.omegaPrm(), one, other);
    expect(first).toContain('a 0.75 +');
    expect(second).toContain('a 0.75 +');
  });
});
