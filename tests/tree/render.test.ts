import { describe, expect, test } from 'vitest';
import type { SearchNode } from '../../src/contracts/node.ts';
import { renderTree } from '../../src/tree/render.ts';
import { SearchTree } from '../../src/tree/tree.ts';
import { grow, plant } from './grow.ts';

describe('renderTree', () => {
  test('shows visits, values and priors, and marks the best path', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', { prior: 0.75, value: 0.5 }]);
    const b = grow(tree, tree.root, ['b', { prior: 0.25, value: 0.25 }]);
    const end = grow(tree, a, ['end', { reward: 1, terminal: true }]);
    for (const leaf of [a, b, end]) tree.backup(leaf);

    expect(renderTree(tree)).toBe(
      [
        '★ ●            N 3      V 0.583',
        '├─ ★ "a"       N 2      Q 0.750  P 0.750',
        '│  └─ ★ "end"  N 1      Q 1.000  P 1.000  r 1  terminal',
        '└─ "b"         N 1      Q 0.250  P 0.250',
      ].join('\n'),
    );
  });

  test('shows the most visited children first and counts those it hides', () => {
    const tree = plant();
    const children = ['a', 'b', 'c', 'd'].map((action) =>
      grow(tree, tree.root, [action, { value: 0.5 }]),
    );
    for (const place of [2, 2, 2, 1, 1]) tree.backup(children[place] ?? tree.root);

    const lines = renderTree(tree, { breadth: 2 }).split('\n');
    expect(lines.map((line) => line.split(/ {2,}/)[0])).toEqual([
      '★ ●',
      '├─ ★ "c"',
      '├─ "b"',
      '└─ … 2 more',
    ]);
  });

  test('goes as deep as it is told, and further along the best path', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', { value: 0.1 }]);
    const b = grow(tree, tree.root, ['b', { value: 0.1 }]);
    grow(tree, b, ['hidden', {}]);
    const aa = grow(tree, a, ['aa', {}]);
    grow(tree, aa, ['end', { reward: 1, terminal: true }]);

    const text = renderTree(tree, { depth: 1 });
    expect(text).toContain('★ "end"');
    expect(text).not.toContain('hidden');
    expect(text).toContain('… 1 more');
  });
});

test('visits are left out of a tree that was grown without any', () => {
  const tree = plant();
  const child = grow(tree, tree.root, ['a', { prior: 0.5, value: 0.5 }]);
  expect(renderTree(tree)).toBe('★ ●\n└─ ★ "a"  P 0.500');

  tree.backup(child);
  expect(renderTree(tree)).toBe(
    ['★ ●       N 1      V 0.500', '└─ ★ "a"  N 1      Q 0.500  P 0.500'].join('\n'),
  );
});

describe('the text of an action', () => {
  test('shows control characters of a model and sends none to the terminal', () => {
    const tree = plant();
    grow(tree, tree.root, ['one\ntwo\u001b[31mred\u0007\u2028\u202e', {}]);

    const text = renderTree(tree, { format: (action) => action });
    expect(text).toContain('one⏎two\\u001b[31mred\\u0007\\u2028\\u202e');
    expect(text.split('\n')).toHaveLength(2);
    expect(text).not.toContain('\u001b');
  });

  test('cuts a long action off', () => {
    const tree = plant();
    grow(tree, tree.root, ['abcdefghij', {}]);

    expect(renderTree(tree, { format: (action) => action, width: 6 })).toContain(
      '─ ★ abcde…  P 1.000',
    );
  });

  test('cuts no emoji in half, and shows half of one as a code', () => {
    const tree = plant();
    grow(tree, tree.root, ['😀😀😀😀', {}]);
    const format = (action: string) => action;
    expect(renderTree(tree, { format, width: 6 })).toContain('─ ★ 😀😀…  P 1.000');
    expect(renderTree(tree, { format, width: 7 })).toContain('─ ★ 😀😀😀…  P 1.000');

    const half = plant();
    grow(half, half.root, ['a\ud83d', {}]);
    expect(renderTree(half)).toContain('─ ★ "a\\ud83d"');
    expect(renderTree(half, { format })).toContain('─ ★ a\\ud83d  P');
  });
});

describe('a rendered tree', () => {
  test('shows g, h and rewards, rounded to a thousandth', () => {
    const tree = plant();
    const child = grow(tree, tree.root, ['a', { reward: -1 / 3 }]);
    tree.note(child, 'astar', { g: 2 / 3, h: 1 });

    expect(renderTree(tree)).toContain('g 0.667  h 1  r -0.333');
  });

  test('draws a path of thousands of steps', () => {
    const tree = new SearchTree<number, number>(0, { environment: 'long', seed: 0 });
    let node: SearchNode<number, number> = tree.root;
    for (let depth = 1; depth <= 3_000; depth++) {
      const [child = tree.root]: readonly SearchNode<number, number>[] = tree.add(node, [
        { action: depth, prior: 1 },
      ]);
      tree.realise(child, { state: depth, terminal: depth === 3_000 });
      node = child;
    }
    tree.addEvaluation(node, { value: 1 });

    expect(renderTree(tree)).toContain('★ 3000');
  });
});

const cycle: { self?: unknown } = {};
cycle.self = cycle;

test.each([
  ['a big integer', 12n, '"12"'],
  ['an object with a big integer', { pay: 12n }, '{"pay":"12"}'],
  ['a cycle', cycle, 'an object'],
  ['a function', () => 1, 'a function'],
  ['a symbol', Symbol('up'), 'a symbol'],
  ['nothing', undefined, 'undefined'],
])('an action that is %s is shown', (_what, action, shown) => {
  const tree = new SearchTree<string, unknown>('', { environment: 'odd', seed: 0 });
  tree.add(tree.root, [{ action, prior: 1 }]);
  expect(renderTree(tree)).toContain(`─ ${shown}  P 1.000`);
});

test.each([
  ['throws', () => Object(undefined).text.length],
  ['returns no text', () => undefined as never],
])('the JSON of an action is shown if `format` %s', (_what, format) => {
  const tree = plant();
  grow(tree, tree.root, ['a', {}]);
  expect(renderTree(tree, { format })).toContain('─ ★ "a"');
});

test('a format that is no function is refused', () => {
  expect(() => renderTree(plant(), { format: 'json' as never })).toThrow(
    'Expected `format` to be a function, got `"json"`.',
  );
});
