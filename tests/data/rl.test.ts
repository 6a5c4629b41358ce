import { describe, expect, test } from 'vitest';
import type { TreeRecord } from '../../src/data/record.ts';
import * as rlRules from '../../src/data/rl/rl-rules.ts';
import type { TreeAdvantagesOptions } from '../../src/data/rl/tree-advantages.ts';
import { treeFromJson, treeToJson } from '../../src/tree/serialize.ts';
import { SearchTree } from '../../src/tree/tree.ts';

/** What stands at an action: the reward of an end, nothing yet, or more actions. */
type Branch = number | null | { readonly [action: string]: Branch };

type Words = SearchTree<string, string>;

const canary = 'CANARY-4711';

function recordOf(
  tree: Words,
  changes: Partial<TreeRecord<string, string>> = {},
): TreeRecord<string, string> {
  return {
    problem: 'p',
    tree,
    answer: canary,
    notation: {
      prompt: (state) => [{ role: 'user', content: `Task. So far: ${state}` }],
      format: (action) => action,
    },
    ...changes,
  };
}

/** Each end is backed up once. */
function plant(branch: Branch, changes: Partial<TreeRecord<string, string>> = {}) {
  const tree: Words = new SearchTree<string, string>('', { environment: 'letters', seed: 7 });
  grow(tree, tree.root, branch);
  return recordOf(tree, changes);
}

function grow(tree: Words, parent: ReturnType<Words['node']>, below: Branch): void {
  if (typeof below !== 'object' || below === null) return;
  for (const [action, next] of Object.entries(below)) {
    const [child] = tree.add(parent, [{ action, prior: 0.5 }]);
    if (child === undefined) throw new Error('A child was added.');
    const end = typeof next === 'number' ? { terminal: true, reward: next } : {};
    tree.realise(child, { state: `${parent.state ?? ''}${action}`, ...end });
    if (child.terminal) tree.backup(child);
    grow(tree, child, next);
  }
}

/** Ends c 1, d 0, e 0: V(root) = 1/3, V(a) = 1/2, V(b) = 0. */
const first = () => plant({ a: { c: 1, d: 0 }, b: { e: 0 } }, { id: 'first' });
/** Ends c 1, h 0; its a leads to the same state as the first tree's. */
const second = () => plant({ a: { c: 1 }, h: 0 }, { id: 'second' });

function about(value: number): unknown {
  return expect.closeTo(value, 5);
}

function near(values: readonly number[]): readonly unknown[] {
  return values.map(about);
}

function credit(options: TreeAdvantagesOptions) {
  return [...rlRules.treeAdvantages(options).rows([first(), second()])];
}

describe('credit in trees, by hand', () => {
  test('TreePO: plain and by size', () => {
    const rows = credit({ estimators: ['tree-po', 'tree-po-weighted'] });
    // c: root 1 − 1/3, a 1 − 1/2: (2/3 + 1/2) / 2 = 7/12; by size (3 · 2/3 + 2 · 1/2) / 5 = 3/5.
    // d: −1/3, −1/2: −5/12; (−1 − 1) / 5. e: b has one end, so the root alone: −1/3 both.
    // Second tree: root ±1/2; a has one end.
    const plain = [7 / 12, -5 / 12, -1 / 3, 1 / 2, -1 / 2];
    const weighted = [3 / 5, -2 / 5, -1 / 3, 1 / 2, -1 / 2];
    expect(rows.map(({ advantages }) => advantages['tree-po'])).toEqual(near(plain));
    expect(rows.map(({ advantages }) => advantages['tree-po-weighted'])).toEqual(near(weighted));
  });

  test('GRPO and Tree-GRPO', () => {
    const rows = credit({ estimators: ['tree-grpo', 'grpo'], epsilon: 1e-12 });
    // Across 1, 0, 0, 1, 0: μ = 2/5, σ² = 6/25: 0.6 / 0.4899 = 1.22474, −0.4 / 0.4899 = −0.81650.
    // Within the first: μ = 1/3, σ² = 2/9: √2 and −1/√2; within the second: ±1.
    const [high, low] = [Math.sqrt(1.5), -Math.sqrt(2 / 3)];
    const within = [Math.SQRT2, -Math.SQRT1_2, -Math.SQRT1_2, 1, -1];
    const across = [high, low, low, high, low];
    expect(rows.map(({ advantages }) => advantages['grpo'])).toEqual(near(across));
    expect(rows.map(({ advantages }) => advantages['tree-grpo'])).toEqual(
      near(within.map((own, place) => own + (across[place] ?? 0))),
    );
  });

  test('values of nodes: local, global, TreeRL, siblings', () => {
    const rows = credit({
      estimators: ['value', 'local', 'global', 'tree-rl', 'sibling'],
      epsilon: 1e-12,
    });
    const [c, , e, , h] = rows.map(({ stepAdvantages }) => stepAdvantages);
    expect(c).toEqual({
      value: near([1 / 2, 1]),
      local: near([1 / 6, 1 / 2]),
      global: near([1 / 6, 2 / 3]),
      // (1/6 + 1/6) / √2 and (1/2 + 2/3) / 1.
      'tree-rl': near([1 / 3 / Math.SQRT2, 7 / 6]),
      // V of a and b: 1/2 and 0; of c and d: 1 and 0.
      sibling: near([1, 1]),
    });
    expect(e).toEqual({
      value: near([0, 0]),
      local: near([-1 / 3, 0]),
      global: near([-1 / 3, -1 / 3]),
      'tree-rl': near([-2 / 3, -1 / 3]),
      sibling: near([-1, 0]),
    });
    expect(h?.['local']).toEqual(near([-1 / 2]));
  });
});

describe('credit across trees, by hand', () => {
  const [high, low] = [Math.sqrt(1.5), -Math.sqrt(2 / 3)];

  test('SALT: equal steps share it', () => {
    const rows = credit({ estimators: ['salt'], epsilon: 1e-12 });
    // a at the root: c and d of the first tree and c of the second: (1.22474 − 0.81650 + 1.22474) / 3 = 0.54433.
    const a = (2 * high + low) / 3;
    expect(rows.map(({ stepAdvantages }) => stepAdvantages['salt'])).toEqual([
      near([a, high]),
      near([a, low]),
      near([low, low]),
      near([a, high]),
      near([low]),
    ]);
  });

  test('GiGPO: actions from the same state are compared', () => {
    const rows = credit({ estimators: ['gigpo', 'gigpo-step'], discount: 0.5, epsilon: 1e-12 });
    // At the root G = 1/2, 0, 0, 1/2, 0: μ = 1/5, σ² = 3/50: 1.22474 and −0.81650, as those of R.
    // At a G = 1, 0, 1: μ = 2/3, σ² = 2/9: 1/√2, −√2, 1/√2. At b there is one.
    const steps = [[high, Math.SQRT1_2], [low, -Math.SQRT2], [low, 0], [high, Math.SQRT1_2], [low]];
    const paths = [high, low, low, high, low];
    expect(rows.map(({ stepAdvantages }) => stepAdvantages['gigpo-step'])).toEqual(steps.map(near));
    expect(rows.map(({ stepAdvantages }) => stepAdvantages['gigpo'])).toEqual(
      steps.map((own, place) => near(own.map((step) => step + (paths[place] ?? 0)))),
    );
  });

  test('GiGPO: rewards on the way count where they fall', () => {
    const record = plant({ b: 0, d: 0.6 });
    const { tree } = record;
    const [a] = tree.add(tree.root, [{ action: 'a', prior: 1 }]);
    if (a === undefined) throw new Error('A child was added.');
    tree.realise(a, { state: 'a', reward: 0.5 });
    grow(tree, a, { c: 0.5 });
    const rule = rlRules.treeAdvantages({
      estimators: ['gigpo-step'],
      discount: 0.5,
      epsilon: 1e-12,
    });
    // G of a: 0.5 + 0.5 / 2 = 0.75; with 0 and 0.6: μ = 0.45, σ² = (0.09 + 0.2025 + 0.0225) / 3 = 0.105.
    const sigma = Math.sqrt(0.105);
    expect([...rule.rows([record])].map((row) => row.stepAdvantages['gigpo-step'])).toEqual([
      near([-0.45 / sigma]),
      near([0.15 / sigma]),
      near([0.3 / sigma, 0]),
    ]);
  });

  test('states are told apart by what the caller says', () => {
    const rows = credit({
      estimators: ['gigpo-step'],
      discount: 1,
      epsilon: 1e-12,
      stateKey: () => 'all one',
    });
    // G = 1, 1 of c, twice, and 0 of five steps: μ = 4/9, σ² = 20/81: 5/√20 and −4/√20.
    expect(rows[0]?.stepAdvantages['gigpo-step']).toEqual(
      near([5 / Math.sqrt(20), 5 / Math.sqrt(20)]),
    );
    expect(rows[4]?.stepAdvantages['gigpo-step']).toEqual(near([-4 / Math.sqrt(20)]));
  });
});

describe('rows of rollouts', () => {
  test('are the scored ends, in one group', () => {
    const tree = plant({ a: { c: 0.5, d: null }, b: 0 });
    const rows = [...rlRules.groups({ epsilon: 1e-12 }).rows([tree])];
    expect(rows.map(({ steps, reward, advantages }) => ({ steps, reward, advantages }))).toEqual([
      { steps: ['a', 'c'], reward: 0.5, advantages: { grpo: about(1) } },
      { steps: ['b'], reward: 0, advantages: { grpo: about(-1) } },
    ]);
    expect(rows[0]).toMatchObject({
      prompt: [{ role: 'user', content: 'Task. So far: ' }],
      completion: [{ role: 'assistant', content: 'a\nc' }],
      group: 'p',
      stepAdvantages: {},
      provenance: { rule: 'groups', nodes: [0, 1, 2], depth: 0 },
    });
  });

  test('are made of what lies below a duplicate, too', () => {
    const tree = plant({ a: { c: 1 }, b: { d: 1 } });
    tree.tree.merge(tree.tree.node(3), tree.tree.node(1));
    expect([...rlRules.groups().rows([tree])].map(({ steps }) => steps)).toEqual([
      ['a', 'c'],
      ['b', 'd'],
    ]);
  });

  test('are the same after saving, have all names, and do not tell the answer', () => {
    const rule = rlRules.treeAdvantages();
    const records = [first(), second()];
    const again = records.map(({ tree, ...others }) =>
      recordOf(treeFromJson<string, string>(JSON.stringify(treeToJson(tree))), others),
    );
    const rows = [...rule.rows(records)];
    expect([...rule.rows(again)]).toEqual(rows);
    expect(JSON.stringify(rows)).not.toContain(canary);
    expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(5);
    for (const { advantages, stepAdvantages, steps } of rows) {
      expect(Object.keys(advantages)).toHaveLength(4);
      expect(Object.keys(stepAdvantages)).toHaveLength(8);
      for (const own of Object.values(stepAdvantages)) expect(own).toHaveLength(steps.length);
    }
  });

  test('refuse an estimator that nobody knows, and numbers out of range', () => {
    expect(() => rlRules.treeAdvantages({ estimators: ['ppo' as 'grpo'] })).toThrow(
      'Expected `estimators` to be',
    );
    expect(() => rlRules.treeAdvantages({ discount: 1.5 })).toThrow('`discount`');
    expect(() => rlRules.groups({ epsilon: 0 })).toThrow('`epsilon`');
    expect(() => rlRules.groups({ sampling: 'all' as 'iid' })).toThrow('`sampling`');
  });
});

describe('how ends were drawn', () => {
  const drawn = (...trees: readonly TreeRecord<string, string>[]) =>
    new Set([...rlRules.groups().rows(trees)].map(({ sampling }) => sampling));

  test('is independent where trees are bundles of whole samples', () => {
    const bundle = () => plant({ a: { b: { c: 1 } }, d: 0 });
    expect(drawn(bundle())).toEqual(new Set(['iid']));
    expect(drawn(bundle(), first())).toEqual(new Set(['search']));
  });

  test('is a search where one path was left, shared, merged or taken twice', () => {
    expect(drawn(plant({ a: { b: null }, d: 0 }))).toEqual(new Set(['search']));
    expect(drawn(plant({ a: { b: 1, c: 0 } }))).toEqual(new Set(['search']));
    const twice = plant({ a: 1, b: 0 });
    twice.tree.backup(twice.tree.node(1));
    expect(drawn(twice)).toEqual(new Set(['search']));
    const merged = plant({ a: 1, b: 0 });
    merged.tree.merge(merged.tree.node(2), merged.tree.node(1));
    expect(drawn(merged)).toEqual(new Set(['search']));
  });

  test('does not suffer from a sample that failed', () => {
    const broken = plant({ a: 1, b: 0, c: null });
    broken.tree.fail(broken.tree.node(3), { kind: 'call', message: 'It broke.' });
    expect(drawn(broken)).toEqual(new Set(['iid']));
  });

  test('is what the caller says', () => {
    const rows = [...rlRules.groups({ sampling: 'iid' }).rows([first()])];
    expect(rows.map(({ sampling }) => sampling)).toEqual(['iid', 'iid', 'iid']);
  });
});

describe('prompts', () => {
  test('tell how hard the problem was, and keep the answer apart', () => {
    const rows = [...rlRules.prompts().rows([first(), second()])];
    // V of the roots: 1/3 and 1/2, each end once. Right: 2 of 5.
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      kind: 'prompt',
      answer: canary,
      value: about(5 / 12),
      solveRate: 0.4,
      provenance: { tree: 'first', nodes: [0] },
    });
    expect(JSON.stringify(rows[0]?.prompt)).not.toContain(canary);
  });

  test('may be those of middling problems alone', () => {
    const rates = (...range: readonly [number, number]) =>
      [...rlRules.prompts({ minSolveRate: range[0], maxSolveRate: range[1] }).rows([first()])].map(
        ({ solveRate }) => solveRate,
      );
    expect(rates(0.2, 0.5)).toEqual([1 / 3]);
    expect(rates(0.5, 1)).toEqual([]);
    expect(rates(0, 0.2)).toEqual([]);
  });

  test('have no rate where nothing was scored', () => {
    const [row] = rlRules.prompts().rows([recordOf(plant({ a: null }).tree, { answer: '' })]);
    expect(row).toMatchObject({ answer: '', value: 0, solveRate: 0 });
  });
});
