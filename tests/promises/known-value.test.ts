import { describe, expect, test } from 'vitest';
import {
  type PairScore,
  pairRules,
  pairScores,
  preferences,
  sftRules,
  type TreeRecord,
} from '../../src/data/index.ts';
import {
  type ChildNode,
  descend,
  knownValue,
  leastTried,
  mixedWithEvaluation,
  type NodeStatistics,
  progressiveWidening,
  puct,
  type RuleView,
  SearchTree,
  type SelectionRule,
  uct,
  valueWidening,
} from '../../src/index.ts';
import { mixedValue } from '../../src/tree/qtransform.ts';

/** What is known of a node: its numbers, and what it is worth by them. */
const cases = [
  { name: 'an end with a reward', reward: 0.25, terminal: true, known: 0.25 },
  {
    name: 'such an end that a critic had ranked',
    reward: 0.25,
    terminal: true,
    v: 0.5,
    known: 0.25,
  },
  { name: 'an end without a reward', terminal: true, v: 0.5, known: 0.5 },
  { name: 'a step with a reward on the way', reward: 0.25, v: 0.5, known: 0.75 },
  { name: 'an evaluated step', v: 0.5, known: 0.5 },
  { name: 'a visited step', reward: 0.25, v: 0.5, backup: 0.625, known: 0.875 },
  { name: 'a step with a reward and nothing more', reward: 0.25, known: undefined },
  { name: 'a step of which nothing is known', known: undefined },
] as const;

function planted(): {
  readonly record: TreeRecord<string, string>;
  readonly nodes: readonly ChildNode<string, string>[];
} {
  const tree = new SearchTree<string, string>('', { environment: 'paths', seed: 0 });
  const nodes = tree.add(
    tree.root,
    cases.map(({ name }) => ({ action: name, prior: 0.125 })),
  );
  for (const [place, node] of nodes.entries()) {
    const { name, ...plan } = cases[place] ?? expect.fail('There is a case for each node.');
    tree.realise(node, {
      state: name,
      ...('reward' in plan && { reward: plan.reward }),
      ...('terminal' in plan && { terminal: plan.terminal }),
    });
    if ('v' in plan) tree.addEvaluation(node, { value: plan.v });
    if ('backup' in plan) tree.backup(node, { outcome: plan.backup });
  }
  const record: TreeRecord<string, string> = {
    problem: 'p',
    tree,
    notation: {
      prompt: (state) => [{ role: 'user', content: `At ${state}` }],
      format: (action) => action,
    },
  };
  return { record, nodes };
}

describe('what a node is known to be worth', () => {
  const { record, nodes } = planted();
  const known = cases.map((one) => one.known);
  const guessed = cases.map((one) => one.known ?? ('reward' in one ? one.reward : 0));
  const none = { right: 0, wrong: 0 };

  test('is one number for selection, and the reward so far where nothing is known', () => {
    expect(nodes.map((node) => knownValue(node))).toEqual(guessed);
  });

  test('is the same number for the pairs, which leave out what is not known', () => {
    const scores = (score: PairScore) => nodes.map((node) => score(node, none));
    expect(scores(pairScores.q)).toEqual(known);
    // Of the visited one a quarter is the evaluation: 0.75 · 0.875 + 0.25 · 0.5.
    expect(scores(pairScores.mixed(0.75))).toEqual(
      known.map((value) => (value === 0.875 ? 0.78125 : value)),
    );
  });

  test('is the same number where a search mixes it with the evaluation', () => {
    expect(nodes.map((node) => mixedValue(node, 0.25))).toEqual(
      guessed.map((value) => (value === 0.875 ? 0.78125 : value)),
    );
  });

  test('is what selection and widening go by', () => {
    const parent: NodeStatistics = record.tree.root;
    const random = { next: () => 0 } as never;
    const scores = (rule: typeof uct | typeof puct) =>
      nodes.map(
        rule === uct
          ? uct({ c: 0, pseudoVisits: 1 })(parent, random)
          : puct({ cInit: 0, cBase: Number.POSITIVE_INFINITY })(parent, random),
      );
    expect(scores(uct)).toEqual(guessed);
    expect(scores(puct)).toEqual(guessed);
    const alone = (node: NodeStatistics) => ({ ...parent, samples: 2, children: [node] });
    const widens = (below: number) => nodes.map((node) => valueWidening({ below })(alone(node)));
    // An end that was never visited is still to be visited, so that it counts as any other.
    expect(widens(0.7)).toEqual(guessed.map((value) => value < 0.7));
    expect(progressiveWidening()(alone(parent))).toBe(false);
  });

  test('is what rows tell', () => {
    const rule = preferences({
      ...pairRules.mctsDpo().pairs,
      name: 'all',
      siblings: 'all-ordered',
    });
    const told = new Map<number, number | undefined>();
    for (const { provenance } of rule.rows([record])) {
      for (const [place, id] of provenance.nodes.entries()) told.set(id, provenance.values[place]);
    }
    expect(nodes.slice(0, 6).map(({ id }) => told.get(id))).toEqual(guessed.slice(0, 6));
    const [row] = sftRules.bestTrajectories({ best: 1 }).rows([{ ...record, correctFrom: 0.25 }]);
    expect(row?.score).toBe(0.5);
  });
});

describe('γ = 0.5 over two levels', () => {
  const tree = new SearchTree<string, string>('', { environment: 'paths', seed: 0 });
  tree.discount = 0.5;
  const [step] = tree.add(tree.root, [{ action: 'a', prior: 1 }]);
  if (step === undefined) expect.fail('A child was added.');
  tree.realise(step, { state: 'a', reward: 0.25 });
  const [left, right] = tree.add(step, [
    { action: 'left', prior: 0.5 },
    { action: 'right', prior: 0.5 },
  ]);
  if (left === undefined || right === undefined) expect.fail('Two children were added.');
  tree.realise(left, { state: 'left', reward: 0.125 });
  tree.realise(right, { state: 'right' });
  for (const [node, value] of [
    [tree.root, 0.5],
    [step, 0.75],
    [left, 0.5],
    [right, 1],
  ] as const)
    tree.addEvaluation(node, { value });
  const qOf = (node: ChildNode<string, string>) =>
    pairRules.mctsDpo().pairs.score(node, { right: 0, wrong: 0, discount: tree.discount });
  const unvisited = [step, left, right].map(qOf);
  const advantages = [step, left, right].map((node) => pairScores.advantage(node, tree));
  const record: TreeRecord<string, string> = {
    problem: 'p',
    tree,
    notation: {
      prompt: (state) => [{ role: 'user', content: `At ${state}` }],
      format: (action) => action,
    },
  };
  const [row] = preferences({
    ...pairRules.mctsDpo().pairs,
    nodes: 'all',
    siblings: 'all-ordered',
  }).rows([record]);

  const random = { next: () => 0 } as never;
  const seenBy = (rule: SelectionRule, of?: RuleView) => [left, right].map(rule(step, random, of));
  const rules: readonly SelectionRule[] = [
    uct({ c: 0, pseudoVisits: 1 }),
    uct({ c: 0, unvisited: knownValue }),
    puct({ cInit: 0, cBase: Number.POSITIVE_INFINITY }),
    uct({ c: 0, pseudoVisits: 1, qtransform: mixedWithEvaluation(0.25) }),
  ];
  const seen = rules.map((rule) => seenBy(rule, tree));
  const undiscounted = rules.map((rule) => seenBy(rule));
  const explained = rules.map((rule) => rule.explain?.(step, 0.5)(left).total);

  test('is what selection goes by before the first visit', () => {
    expect(seen).toEqual(rules.map(() => [0.125 + 0.5 * 0.5, 0.5 * 1]));
    expect(undiscounted).toEqual(rules.map(() => [0.125 + 0.5, 1]));
    expect(explained).toEqual(rules.map(() => 0.375));
  });

  test('discounts an evaluation as a backup would: r + γ · v', () => {
    expect(unvisited).toEqual([0.25 + 0.5 * 0.75, 0.125 + 0.5 * 0.5, 0.5 * 1]);
    for (const node of [step, left, right]) tree.backup(node);
    // The visit of a leaf came to what was known before it; the step had its own and two from below.
    expect([left, right].map(qOf)).toEqual(unvisited.slice(1));
    expect(qOf(step)).toBeCloseTo((0.625 + (0.25 + 0.5 * 0.375) + (0.25 + 0.5 * 0.5)) / 3);
  });

  test('compares an action with V(s), which is (Q − r) / γ of the step before', () => {
    // V of the root is 0.5, and of the step 0.75.
    expect(advantages).toEqual([0.625 - 0.5, 0.375 - 0.75, 0.5 - 0.75]);
    expect(pairScores.advantage(left, { discount: 0 })).toBeUndefined();
  });

  test('is that of the tree in rows', () => {
    expect(row).toMatchObject({ chosenScore: 0.5, rejectedScore: 0.375 });
    expect(row?.provenance.values).toEqual([0.625, 0.5, 0.375]);
  });
});

test('γ decides which child is selected, and which of several is tried', () => {
  const tree = new SearchTree<string, string>('', { environment: 'paths', seed: 0 });
  const [sure, far] = tree.add(tree.root, [
    { action: 'sure', prior: 0.5 },
    { action: 'far', prior: 0.5 },
  ]);
  if (sure === undefined || far === undefined) expect.fail('Two children were added.');
  tree.realise(sure, { state: 'sure', reward: 0.4 });
  tree.realise(far, { state: 'far' });
  tree.addEvaluation(far, { value: 0.6 });
  const select = descend(puct({ cInit: 0, cBase: Number.POSITIVE_INFINITY }));
  expect([select(tree, { next: () => 0 } as never), leastTried(tree.root.children, tree)]).toEqual([
    far,
    far,
  ]);
  tree.discount = 0.5;
  // 0.5 · 0.6 is less than 0.4.
  expect([select(tree, { next: () => 0 } as never), leastTried(tree.root.children, tree)]).toEqual([
    sure,
    sure,
  ]);
});
