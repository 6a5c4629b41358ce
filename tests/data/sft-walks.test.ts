import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/contracts/language-model.ts';
import type { ChildNode } from '../../src/contracts/node.ts';
import { pathsIn } from '../../src/data/paths.ts';
import type { TreeRecord } from '../../src/data/record.ts';
import { movesThrough } from '../../src/data/sft/moves.ts';
import { resimulate as resimulateOn } from '../../src/data/sft/resimulate.ts';
import * as sftRules from '../../src/data/sft/sft-rules.ts';
import { SearchTree } from '../../src/tree/tree.ts';
import { type ChildSpec, grow, type WordTree } from '../tree/grow.ts';

type Child = ChildNode<string, string>;

function resimulate(
  record: TreeRecord<string, string>,
  action: Child,
  options: Readonly<Record<'c' | 'simulations', number>>,
): readonly Child[] {
  return resimulateOn(record, action, { ...options, paths: pathsIn(record) });
}

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });
const actionsIn = (state: string) => state.split('/').slice(1);

function plant(): WordTree {
  return new SearchTree<string, string>('', { environment: 'words', seed: 0 });
}

function add(tree: WordTree, parent: number, spec: readonly [string, ChildSpec]): Child {
  return grow(tree, tree.node(parent), spec) as Child;
}

function chatRecord(tree: WordTree): TreeRecord<string, string> {
  return {
    problem: 'p',
    tree,
    notation: {
      prompt: (state) => [
        user('Task.'),
        ...actionsIn(state).flatMap((action) => [assistant(action), user(`Saw ${action}.`)]),
      ],
      format: (action) => action,
    },
  };
}

function restatedRecord(tree: WordTree): TreeRecord<string, string> {
  return {
    problem: 'p',
    tree,
    notation: { prompt: (state) => [user(`Task. ${state}`)], format: (action) => action },
  };
}

/** a (P 0.6, v 0.2) with c (v 0.1); b (P 0.4, v 0.8) with d, the right end. */
function explored(): WordTree {
  const tree = plant();
  const a = add(tree, 0, ['a', { prior: 0.6, value: 0.2 }]);
  const b = add(tree, 0, ['b', { prior: 0.4, value: 0.8 }]);
  add(tree, a.id, ['c', { value: 0.1 }]);
  add(tree, b.id, ['d', { terminal: true, reward: 1 }]);
  return tree;
}

function states(nodes: readonly Child[]): readonly string[] {
  return nodes.map(({ state }) => state ?? '');
}

describe('a search that is run once more', () => {
  test('goes the way of PUCT up to the action', () => {
    const tree = explored();
    const record = chatRecord(tree);
    // a: 0 + 0.6 before b: 0.4. Then N = 1: a: 0.2 + 0.6 / 2 = 0.5, b: 0.4: to c, the child of a.
    // Then N = 2: a: 0.15 + 0.6 · √2 / 3 = 0.4328, b: 0.4 · √2 = 0.5657.
    const leaves = resimulate(record, tree.node(2) as Child, { c: 1, simulations: 50 });
    expect(states(leaves)).toEqual(['/a', '/a/c', '/b']);
    // With c = 10, after a: 0.2 + 3 = 3.2 against 4.
    expect(states(resimulate(record, tree.node(2) as Child, { c: 10, simulations: 50 }))).toEqual([
      '/a',
      '/b',
    ]);
    expect(states(resimulate(record, tree.node(4) as Child, { c: 1, simulations: 50 }))).toEqual([
      '/b/d',
    ]);
  });

  test('begins with the likeliest action', () => {
    const tree = plant();
    for (const [action, prior] of [
      ['a', 0.2],
      ['b', 0.7],
      ['c', 0.1],
    ] as const) {
      add(tree, 0, [action, { prior, value: 0 }]);
    }
    // b: 0.7. N = 1: b 0.7 / 2 = 0.35, a 0.2. N = 2: b √2 · 0.7 / 3 = 0.33, a √2 · 0.2 = 0.28.
    // N = 3: b √3 · 0.7 / 4 = 0.30, a √3 · 0.2 = 0.35.
    const leaves = resimulate(chatRecord(tree), tree.node(1) as Child, { c: 1, simulations: 9 });
    expect(states(leaves)).toEqual(['/b', '/b', '/b', '/a']);
  });

  test('takes the action all the same after so many simulations', () => {
    const tree = explored();
    const leaves = resimulate(chatRecord(tree), tree.node(2) as Child, { c: 1, simulations: 1 });
    expect(states(leaves)).toEqual(['/a', '/b']);
  });

  test('does not see what was never taken, failed or is a duplicate', () => {
    const tree = explored();
    const a = tree.node(1);
    tree.add(tree.root, [{ action: 'x', prior: 1 }]);
    tree.merge(a, tree.node(2));
    expect(
      states(resimulate(chatRecord(tree), tree.node(2) as Child, { c: 1, simulations: 9 })),
    ).toEqual(['/b']);
  });

  test('visits a node without children again', () => {
    // a: 0.9 each time; √N / (1 + N) falls: b: 0.1 · √N passes 0.9 + 0.9 · √N / (1 + N) late, at N = 103:
    // 0.9 + 0.9 · 10.149 / 104 = 0.988 < 1.015, and N = 90 is not enough: 0.9 + 0.9 · 9.487 / 91 = 0.994 > 0.949.
    const tree = plant();
    add(tree, 0, ['a', { prior: 0.9, value: 0.9 }]);
    const b = add(tree, 0, ['b', { prior: 0.1, value: 0 }]);
    const leaves = resimulate(chatRecord(tree), b, { c: 1, simulations: 200 });
    expect(leaves.length).toBeGreaterThan(91);
    expect(leaves.length).toBeLessThan(105);
    expect(new Set(states(leaves.slice(0, -1)))).toEqual(new Set(['/a']));
  });
});

describe('a walk', () => {
  const look = (tree: WordTree, ...ids: readonly number[]) =>
    movesThrough(
      tree.root,
      ids.map((id) => tree.node(id) as Child),
      (node) => node,
    ).map((move) => (move.kind === 'action' ? move.to.action : `back to ${move.to.id}`));

  test('goes back to what two nodes have in common', () => {
    // Nodes: a 1, b 2, c 3 below a, d 4 below b.
    const tree = explored();
    expect(look(tree, 1, 1, 3, 2, 4)).toEqual(['a', 'c', 'back to 0', 'b', 'd']);
    expect(look(tree, 3, 1)).toEqual(['a', 'c', 'back to 1']);
    // Two ways back are one.
    expect(look(tree, 3, 1, 2)).toEqual(['a', 'c', 'back to 0', 'b']);
  });

  test('leaves out an end from which it would go back', () => {
    const tree = explored();
    expect(look(tree, 4, 3)).toEqual(['b', 'back to 0', 'a', 'c']);
    const flat = plant();
    add(flat, 0, ['x', { terminal: true, reward: 0 }]);
    add(flat, 0, ['y', { terminal: true, reward: 1 }]);
    expect(look(flat, 1, 2)).toEqual(['y']);
  });
});

describe('exploratory learning', () => {
  test('tells the walk as a conversation, a row for each turn', () => {
    const rows = [...sftRules.traversals().rows([chatRecord(explored())])];
    const whole = [
      user('Task.'),
      assistant('a'),
      user('Saw a.'),
      assistant('c'),
      user('Saw c.'),
      assistant('Go back 2 steps.'),
      user('Task.'),
      assistant('b'),
      user('Saw b.'),
      assistant('d'),
    ];
    expect(rows.map(({ prompt, completion }) => [...prompt, ...completion])).toEqual(
      [2, 4, 6, 8, 10].map((length) => whole.slice(0, length)),
    );
    expect(rows.map(({ completion }) => completion.length)).toEqual([1, 1, 1, 1, 1]);
    expect(rows.map(({ provenance }) => provenance.nodes)).toEqual([
      [0, 1],
      [1, 3],
      [3, 0],
      [0, 2],
      [2, 4],
    ]);
    expect(rows[0]?.score).toBe(1);
  });

  test('tells it as one turn where prompts do not grow', () => {
    const rows = [...sftRules.traversals().rows([restatedRecord(explored())])];
    expect(rows.map(({ prompt, completion }) => [...prompt.slice(1), ...completion])).toEqual([
      [assistant('a')],
      [assistant('a\n'), assistant('c')],
      [assistant('a\nc\n'), assistant('Go back 2 steps.')],
      [assistant('a\nc\nGo back 2 steps.\n'), assistant('b')],
      [assistant('a\nc\nGo back 2 steps.\nb\n'), assistant('d')],
    ]);
  });

  test('may be the path alone, with thoughts', () => {
    const rule = sftRules.traversals({
      variant: 'imitation',
      thought: ({ action }) => (action === 'b' ? 'This looks better.' : undefined),
    });
    const rows = [...rule.rows([restatedRecord(explored())])];
    expect(rows.map(({ completion }) => completion)).toEqual([
      [assistant('This looks better.\nb')],
      [assistant('d')],
    ]);
  });

  test('leaves out long walks, and trees that found nothing', () => {
    const count = (maxMoves: number) =>
      [...sftRules.traversals({ maxMoves }).rows([chatRecord(explored())])].length;
    expect([count(5), count(4)]).toEqual([5, 0]);
    const wrong = plant();
    add(wrong, 0, ['a', { terminal: true, reward: 0.5, value: 0 }]);
    expect([...sftRules.traversals().rows([chatRecord(wrong)])]).toEqual([]);
    expect([...sftRules.traversals({ onlyRight: false }).rows([chatRecord(wrong)])]).toHaveLength(
      1,
    );
  });
});

/** An answer that a critique calls wrong, a better one, one that is no better, and one that is right. */
function refined(): TreeRecord<string, string> {
  const tree = plant();
  const a = add(tree, 0, ['draft', { answer: true }]);
  tree.addEvaluation(a, { value: 0.25, rationale: ' Too short. ' });
  const b = add(tree, a.id, ['better', { answer: true, value: 0.5 }]);
  add(tree, a.id, ['same', { answer: true, value: 0.25 }]);
  const d = add(tree, b.id, ['good', { answer: true }]);
  tree.addEvaluation(d, { value: 1, rationale: 'All is there.' });
  return restatedRecord(tree);
}

describe('data for refiners and judges', () => {
  test('show the critique before the better answer', () => {
    const [row, ...others] = sftRules.refiner({ request: 'Again.' }).rows([refined()]);
    // b was not criticised, so good has no critique to follow.
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      prompt: [user('Task. /draft\n\nToo short.\n\nAgain.')],
      completion: [assistant('better')],
      score: 0.5,
      provenance: { nodes: [1, 2], depth: 1, rule: 'refiner' },
    });
    expect([...sftRules.refiner({ minGain: 0.25 }).rows([refined()])]).toEqual([]);
  });

  test('take critiques from elsewhere, and a right answer after one that is not', () => {
    const rows = sftRules.refiner({ minGain: 5, critique: () => 'Hm.' }).rows([refined()]);
    expect([...rows].map(({ completion }) => completion)).toEqual([[assistant('good')]]);
  });

  test('critiques that were written with the known answer at hand make no rows', () => {
    const record = refined();
    record.tree.stamps.add('oracle-guided');
    expect([...sftRules.refiner().rows([record])]).toEqual([]);
    expect([...sftRules.judgements().rows([record])]).toEqual([]);
    expect([...sftRules.refiner({ oracleGuided: true }).rows([record])]).toHaveLength(1);
    expect([...sftRules.judgements({ oracleGuided: true }).rows([record])]).toHaveLength(1);
  });

  test('judge where all samples agree', () => {
    const rows = [...sftRules.judgements({ question: 'Right?' }).rows([refined()])];
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      prompt: [user('Task. /draft/better/good\n\nRight?')],
      completion: [assistant('All is there.\nVerdict: yes')],
      score: 1,
      provenance: { nodes: [4], depth: 3, rule: 'judge' },
    });
  });

  test('judge with the majority where the critique can be told apart', () => {
    const split = (says: boolean) =>
      [...sftRules.judgements({ only: 'split', verdict: () => says }).rows([refined()])].map(
        ({ completion, score }) => [completion[0]?.content, score],
      );
    // A quarter says yes: the majority says no.
    expect(split(false)).toEqual([['Too short.\nVerdict: no', 0.75]]);
    expect(split(true)).toEqual([]);
  });
});
