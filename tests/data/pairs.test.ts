import { describe, expect, test } from 'vitest';
import { type PairRule, pairsOf } from '../../src/data/pairs.ts';
import type { SearchNode } from '../../src/spec/node.ts';
import { SearchTree } from '../../src/tree/tree.ts';

const rule: PairRule = {
  name: 'by-value',
  nodes: 'all',
  siblings: 'all-ordered',
  score: ({ value }) => value,
};

/** A tree whose root has children with these values, each visited once; the last one is never visited. */
function family(...values: readonly number[]): SearchTree<string, string> {
  const tree = new SearchTree<string, string>('root', { environment: 'letters', seed: 0 });
  const letters = [...values, undefined].map((_, place) => 'abcdefgh'[place] ?? '');
  const children = tree.add(
    tree.root,
    letters.map((action) => ({ action, prior: 0 })),
  );
  for (const [place, value] of values.entries()) {
    const child = children[place] as SearchNode<string, string>;
    tree.realise(child, { state: letters[place] ?? '', terminal: true, reward: value });
    tree.backup(child);
  }
  return tree;
}

function look(tree: SearchTree<string, string>, changes: Partial<PairRule> = {}) {
  return pairsOf(tree, { ...rule, ...changes }).map(
    ({ chosen, rejected, margin }) => `${chosen.action}>${rejected.action} ${margin.toFixed(2)}`,
  );
}

describe('pairs', () => {
  const tree = family(0.5, 0.9, 0.5, 0.1);

  test('match each sibling with each worse one', () => {
    expect(look(tree)).toEqual(['b>a 0.40', 'b>c 0.40', 'b>d 0.80', 'a>d 0.40', 'c>d 0.40']);
  });

  test('match the best with all, or with the worst', () => {
    expect(look(tree, { siblings: 'best-vs-all' })).toEqual(['b>a 0.40', 'b>c 0.40', 'b>d 0.80']);
    expect(look(tree, { siblings: 'best-vs-worst' })).toEqual(['b>d 0.80']);
  });

  test('need a margin above the least one', () => {
    expect(look(family(0.75, 0.5, 0.25), { minMargin: 0.25 })).toEqual(['a>c 0.50']);
  });

  test('need so many visits on both sides', () => {
    expect(look(tree, { minVisits: 2 })).toEqual([]);
    expect(look(tree, { minVisits: 0, siblings: 'best-vs-worst' })).toEqual(['b>e 0.90']);
  });

  test('leave out what has no score, has failed or is a duplicate', () => {
    const odd = family(0.5, 0.9, 0.5, 0.1);
    const [a, b] = odd.root.children as [SearchNode<string, string>, SearchNode<string, string>];
    odd.fail(b, { kind: 'call', message: 'It broke.' });
    odd.annotate(a, { duplicateOf: 3 });

    expect(look(odd)).toEqual(['c>d 0.40']);
    expect(look(odd, { score: ({ action }) => (action === 'd' ? undefined : 1) })).toEqual([]);
  });

  test('may be those along the best path alone', () => {
    const deep = family(0.5, 0.9);
    const second = deep.root.children[0] as SearchNode<string, string>;
    expect(look(deep, { nodes: 'path' })).toEqual(['b>a 0.40']);
    expect(second.depth).toBe(1);
  });
});
