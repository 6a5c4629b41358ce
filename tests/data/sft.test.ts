import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/contracts/language-model.ts';
import type { RowNotation, TreeRecord } from '../../src/data/record.ts';
import type { RowRule, SftRow } from '../../src/data/rows.ts';
import { revisionThoughts } from '../../src/data/sft/revision-thoughts.ts';
import * as sftRules from '../../src/data/sft/sft-rules.ts';
import type { Splice } from '../../src/data/sft/splices.ts';
import { verifySplices } from '../../src/data/sft/verify-splices.ts';
import { treeFromJson, treeToJson } from '../../src/tree/serialize.ts';
import { SearchTree } from '../../src/tree/tree.ts';

/** What stands at an action: the reward of an end, nothing yet, or more actions. */
type Branch = number | null | { readonly [action: string]: Branch };
type Words = SearchTree<string, string>;
type Letters = RowNotation<string, string>;

const canary = 'CANARY-4711';
const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });
const format = (action: string) => action;

/** Three ways to show the state `ab`, the one after a and then b. */
const chat: Letters = {
  prompt: (state) => [
    user('Task.'),
    ...[...state].flatMap((action) => [assistant(action), user(`Saw ${action}.`)]),
  ],
  format,
};
const restated: Letters = { prompt: (state) => [user(`Task. So far: ${state}.`)], format };
const continued: Letters = {
  prompt: (state) => [
    user('Task.'),
    ...(state === '' ? [] : [assistant([...state].map((action) => `${action}\n`).join(''))]),
  ],
  format,
};

function plant(branch: Branch, changes: Partial<TreeRecord<string, string>> = {}) {
  const tree: Words = new SearchTree<string, string>('', { environment: 'letters', seed: 7 });
  grow(tree, tree.root, branch);
  const record: TreeRecord<string, string> = {
    problem: 'p',
    tree,
    notation: chat,
    answer: canary,
    ...changes,
  };
  return record;
}

function grow(tree: Words, parent: ReturnType<Words['node']>, below: Branch): void {
  if (typeof below !== 'object' || below === null) return;
  for (const [action, next] of Object.entries(below)) {
    const [child] = tree.add(parent, [{ action, prior: 0.5 }]);
    if (child === undefined) throw new Error('A child was added.');
    const end = typeof next === 'number' ? { terminal: true, reward: next } : {};
    tree.realise(child, { state: `${parent.state ?? ''}${action}`, ...end });
    grow(tree, child, next);
  }
}

/** Sets Q, as if each node had been visited once. */
function withValues(
  record: TreeRecord<string, string>,
  values: Readonly<Record<string, number>>,
): TreeRecord<string, string> {
  for (const { id, state } of record.tree.nodes()) {
    const value = values[state ?? ''];
    if (value !== undefined) Object.assign(record.tree.mutable(id), { visits: 1, value });
  }
  return record;
}

function rowsOf(rule: RowRule<SftRow>, ...trees: readonly TreeRecord<string, string>[]) {
  return [...rule.rows(trees)];
}

describe('best trajectories', () => {
  // Means: abc (0.9 + 0.3 + 1) / 3 = 0.7333, ad (0.9 + 0.6) / 2 = 0.75, e 0.7, f is wrong. Least: 0.3, 0.6, 0.7.
  const branch: Branch = { a: { b: { c: 1 }, d: 1 }, e: 1, f: 0 };
  const values = { a: 0.9, ab: 0.3, abc: 1, ad: 0.6, e: 0.7, f: 0.99 };
  const texts = (rows: readonly SftRow[]) =>
    rows.map(({ completion, score }) => [
      completion.map(({ content }) => content).join(' '),
      Number(score.toFixed(4)),
    ]);

  test('rank right paths by mean or least Q', () => {
    const record = withValues(plant(branch, { notation: restated }), values);
    expect(texts(rowsOf(sftRules.bestTrajectories(), record))).toEqual([
      ['a\nd', 0.75],
      ['a\nb\nc', 0.7333],
    ]);
    expect(texts(rowsOf(sftRules.bestTrajectories({ by: 'min' }), record))).toEqual([
      ['e', 0.7],
      ['a\nd', 0.6],
    ]);
  });

  test('break ties by the other one, and count equal texts of two trees once', () => {
    // Both 0.5 by mean; least 0.4 and 0.5.
    const tied = withValues(plant({ a: { b: 1 }, c: 1 }), { a: 0.4, ab: 0.6, c: 0.5 });
    const again = withValues(plant({ c: 1 }, { id: 'second' }), { c: 0.5 });
    const rows = rowsOf(sftRules.bestTrajectories({ best: 3 }), tied, again);
    expect(texts(rows)).toEqual([
      ['c', 0.5],
      ['a Saw a. b', 0.5],
    ]);
  });

  test('go over all trees, and are the rest of a conversation', () => {
    const other = withValues(plant({ g: 1 }, { id: 'second' }), { g: 0.8 });
    const rows = rowsOf(sftRules.bestTrajectories(), withValues(plant(branch), values), other);
    expect(texts(rows)).toEqual([
      ['g', 0.8],
      ['a Saw a. d', 0.75],
    ]);
    expect(rows[1]).toMatchObject({
      prompt: [user('Task.')],
      completion: [assistant('a'), user('Saw a.'), assistant('d')],
      weight: 1,
      provenance: { tree: 'p', rule: 'best-trajectories', depth: 0, nodes: [0, 1, 4] },
    });
  });

  test('come as single steps, each with the prompt of its state', () => {
    const record = withValues(plant(branch, { notation: restated }), values);
    const rows = rowsOf(sftRules.bestTrajectories({ unit: 'step' }), record);
    expect(rows.map(({ prompt, completion, score }) => [...prompt, ...completion, score])).toEqual([
      [user('Task. So far: .'), assistant('a'), 0.9],
      [user('Task. So far: a.'), assistant('d'), 0.6],
      [user('Task. So far: a.'), assistant('b'), 0.3],
      [user('Task. So far: ab.'), assistant('c'), 1],
    ]);
  });

  test('need a right end', () => {
    expect(rowsOf(sftRules.bestTrajectories(), plant({ a: 0, b: null }))).toEqual([]);
    expect(() => sftRules.bestTrajectories({ best: 0 })).toThrow('`best`');
  });
});

/** c is right; d goes wrong behind a, e behind b. */
const revised: Branch = { a: { c: 1, d: 0 }, b: { e: 0 } };
const thoughts = ['Oops.'];

describe('revisions of Agent-R', () => {
  test('mask the beginning as turns where prompts grow', () => {
    const rows = rowsOf(sftRules.agentR({ thoughts }), plant(revised));
    expect(rows.map(({ prompt, completion }) => ({ prompt, completion }))).toEqual([
      {
        // a has a right end below it, d has none: d is the first wrong step.
        prompt: [user('Task.'), assistant('a'), user('Saw a.'), assistant('d'), user('Saw d.')],
        completion: [assistant('Oops.'), user('OK.'), assistant('c')],
      },
      {
        prompt: [user('Task.'), assistant('b'), user('Saw b.')],
        completion: [
          assistant('Oops.'),
          user('OK.'),
          assistant('a'),
          user('Saw a.'),
          assistant('c'),
        ],
      },
    ]);
    expect(rows[0]).toMatchObject({
      score: 1,
      // The root, a, d; then c.
      provenance: { rule: 'agent-r', nodes: [0, 1, 3, 2], depth: 2 },
    });
  });

  test('mask it as the beginning of the own turn where they do not', () => {
    const inOneTurn = (notation: Letters) =>
      rowsOf(sftRules.agentR({ thoughts }), plant(revised, { notation })).map(
        ({ prompt, completion }) => [...prompt.slice(1), ...completion],
      );
    const expected = [
      [assistant('a\nd\n'), assistant('Oops.\nc')],
      [assistant('b\n'), assistant('Oops.\na\nc')],
    ];
    const unparted: Letters = {
      prompt: (state) => [user('Task.'), ...(state ? [assistant([...state].join('\n'))] : [])],
      format,
    };
    expect(inOneTurn(unparted)).toEqual(expected);
    expect(inOneTurn(restated)).toEqual(expected);
    expect(inOneTurn(continued)).toEqual(expected);
  });

  test('need a good end, and a margin', () => {
    const record = plant({ a: 0.75, b: 0.5 }, { correctFrom: 0.75 });
    const count = (alpha: number, beta: number) =>
      rowsOf(sftRules.agentR({ alpha, beta }), record).length;
    expect(count(0.5, 0.2)).toBe(1);
    expect(count(0.75, 0.2)).toBe(0);
    expect(count(0.5, 0.25)).toBe(0);
  });

  test('cut where the caller judges, and not on the good path', () => {
    const cutAt = (wrong: string) =>
      rowsOf(
        sftRules.agentR({ thoughts, isWrong: ({ action }) => action === wrong }),
        plant({ a: { c: 1 }, b: { e: { f: 0 } } }),
      ).map(({ prompt }) => prompt.filter(({ role }) => role === 'assistant').length);
    expect(cutAt('e')).toEqual([2]);
    expect(cutAt('none')).toEqual([3]);
    const shared = sftRules.agentR({ isWrong: ({ action }) => action === 'a' });
    expect(rowsOf(shared, plant({ a: { c: 1, d: 0 } }))).toEqual([]);
  });

  test('do not go back to a good answer that was made worse', () => {
    const record = plant({ a: null });
    const [better] = record.tree.root.children;
    if (better === undefined) throw new Error('a is there.');
    record.tree.realise(better, { state: 'a', answer: true });
    record.tree.addEvaluation(better, { value: 1 });
    grow(record.tree, better, { b: 0 });
    expect(rowsOf(sftRules.agentR(), record)).toEqual([]);
  });

  test('splice two bad ends with the same first wrong step once', () => {
    expect(rowsOf(sftRules.agentR(), plant({ a: 1, b: { c: 0, d: 0 } }))).toHaveLength(1);
  });
});

describe('revisions of Agent-R: thoughts, limits, replay', () => {
  test('draw a thought by the seed', () => {
    const branch = Object.fromEntries([...'abcdefghij'].map((letter) => [letter, 0]));
    const rows = rowsOf(sftRules.agentR(), plant({ ...branch, z: 1 }));
    const said = rows.map(({ completion }) => completion[0]?.content ?? '');
    expect(rows).toHaveLength(10);
    expect(new Set(said).size).toBeGreaterThan(2);
    for (const thought of said) expect(revisionThoughts).toContain(thought);
    expect(new Set(revisionThoughts).size).toBeGreaterThanOrEqual(6);
    const few = rowsOf(sftRules.agentR({ maxSplices: 4 }), plant({ ...branch, z: 1 }));
    expect(few).toHaveLength(4);
    for (const row of few) expect(rows).toContainEqual(row);
  });

  test('keep what was tried out', async () => {
    const record = plant(revised);
    const tried: [string, readonly string[]][] = [];
    const verify = await verifySplices([record], {
      replay: async (state, { actions }) => {
        tried.push([state, actions]);
        return state === 'b';
      },
    });
    expect(tried).toEqual([
      ['ad', ['c']],
      ['b', ['a', 'c']],
    ]);
    const rows = rowsOf(sftRules.agentR({ splice: 'replay-verified', verify }), record);
    expect(rows.map(({ provenance }) => provenance.nodes)).toEqual([[0, 4, 1, 2]]);
    // What was not tried is not verified.
    const other = sftRules.agentR({ splice: 'replay-verified', verify });
    expect(rowsOf(other, plant(revised))).toEqual([]);
  });

  test('need something to try with', () => {
    expect(() => sftRules.agentR({ splice: 'replay-verified' })).toThrow(
      'Expected `verify` to be a function, got `undefined`.',
    );
    const verify = (_: Splice) => true;
    expect(
      rowsOf(sftRules.agentR({ splice: 'replay-verified', verify }), plant(revised)),
    ).toHaveLength(2);
  });
});

describe('rows for fine-tuning', () => {
  test('are the same after saving, unequal, and free of the answer', () => {
    const rules = [
      sftRules.bestTrajectories({ best: 9 }),
      sftRules.bestTrajectories({ best: 9, unit: 'step' }),
      sftRules.agentR(),
      sftRules.traversals(),
    ];
    const branch: Branch = {
      a: { c: 1, d: 0, e: { f: 1 } },
      b: { e: 0 },
      g: { h: { i: 0, j: 1 } },
    };
    for (const notation of [chat, restated, continued]) {
      const record = plant(branch, { notation });
      const tree = treeFromJson<string, string>(JSON.stringify(treeToJson(record.tree)));
      for (const rule of rules) {
        const rows = rowsOf(rule, record, { ...record, id: 'second' });
        const texts = rows.map(({ prompt, completion }) => JSON.stringify([prompt, completion]));
        expect(rows.length).toBeGreaterThan(0);
        expect(new Set(texts).size).toBe(rows.length);
        expect(JSON.stringify(rows)).not.toContain(canary);
        expect(rowsOf(rule, { ...record, tree }, { ...record, tree, id: 'second' })).toEqual(rows);
      }
    }
  });
});
