import { describe, expect, test } from 'vitest';
import type { NodeStatistics } from '../../src/contracts/node.ts';
import { grow, plant, type WordTree } from './grow.ts';

describe('advance', () => {
  test('moves the cursor down and keeps the siblings', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', {}]);
    const b = grow(tree, tree.root, ['b', {}]);
    const bb = grow(tree, b, ['bb', {}]);
    tree.advance(bb);

    expect(tree.cursor).toBe(bb);
    expect(tree.root.children).toEqual([a, b]);
  });

  test('may stay where it is', () => {
    const tree = plant();
    tree.advance(tree.root);

    expect(tree.cursor).toBe(tree.root);
  });

  test('refuses a node that is not below the cursor', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', {}]);
    const b = grow(tree, tree.root, ['b', {}]);
    tree.advance(a);
    const message = 'to be a realised node below the cursor 1, got node';

    expect(() => tree.advance(b)).toThrow(`${message} 2.`);
    expect(() => tree.advance(tree.root)).toThrow(`${message} 0.`);
    expect(tree.cursor).toBe(a);
  });

  test('refuses a node whose action has not been taken', () => {
    const tree = plant();
    const [proposed = tree.root] = tree.add(tree.root, [{ action: 'a', prior: 1 }]);

    expect(() => tree.advance(proposed)).toThrow(
      'Expected `node` to be a realised node below the cursor 0, got node 1.',
    );
  });
});

/** A tree in which everything that a node can hold is set somewhere. */
function rich(): WordTree {
  const tree = plant();
  tree.stamps.add('oracle-guided');
  tree.simulations = 3;
  const a = grow(tree, tree.root, ['a', { prior: 0.6, reward: 0.25, value: 0.5 }]);
  const b = grow(tree, tree.root, ['b', { prior: 0.4, value: 0.75, answer: true }]);
  const end = grow(tree, a, ['end', { reward: 0.5, terminal: true }]);
  tree.add(a, [{ action: 'proposed', prior: 0.5, completion: { text: 'said' } }]);
  for (const leaf of [a, b, end]) tree.backup(leaf, { discount: 0.5 });
  tree.annotate(a, { g: 2 });
  tree.countSamples(a, 4);
  tree.complete(b);
  return tree;
}

function numbersOf(tree: WordTree): readonly unknown[] {
  const own = (node: NodeStatistics) => {
    const { id, depth, visits, value, prior, reward, rawValue, status, terminal, answer } = node;
    return { id, depth, visits, value, prior, reward, rawValue, status, terminal, answer };
  };
  return [...tree.nodes()].map((node) => ({
    ...own(node),
    parent: node.parent?.id,
    children: node.children.map(({ id }) => id),
    kind: node.kind,
    action: node.action,
    state: node.state,
    complete: node.complete,
    evaluations: node.evaluations,
    annotations: node.annotations,
    completion: node.completion,
    samples: node.samples,
  }));
}

describe('fork', () => {
  test('copies every number of every node', () => {
    const tree = rich();
    const copy = tree.fork();

    expect(numbersOf(copy)).toEqual(numbersOf(tree));
    expect(copy.origin).toEqual({ environment: 'words', seed: 0 });
    expect(copy.simulations).toBe(3);
    expect([...copy.stamps]).toEqual(['oracle-guided']);
    expect(copy.bestTerminal?.id).toBe(tree.bestTerminal?.id);
    expect([...copy.nodes()].some((node) => [...tree.nodes()].includes(node))).toBe(false);
  });

  test('shares nothing that may change', () => {
    const tree = rich();
    const before = numbersOf(tree);
    const copy = tree.fork();
    const a = copy.node(1);
    copy.backup(a);
    copy.annotate(a, { g: 3 });
    copy.countSamples(a, 1);
    copy.setPrior(a, 0);
    grow(copy, a, ['new', { reward: 9, terminal: true }]);
    copy.stamps.add('other');
    copy.simulations++;
    copy.advance(a);

    expect(numbersOf(tree)).toEqual(before);
    expect(tree.stamps.has('other')).toBe(false);
    expect(tree.simulations).toBe(3);
    expect(tree.cursor).toBe(tree.root);
    expect(tree.bestTerminal?.action).not.toBe('new');
  });

  test('copies on which node the search would bet', () => {
    const tree = plant();
    grow(tree, tree.root, ['a', {}]);
    tree.prefer(grow(tree, tree.root, ['b', {}]));

    expect(tree.fork().best).toMatchObject({ id: 2, action: 'b' });
  });

  test('starts at the node it is given', () => {
    const tree = rich();

    expect(tree.fork(tree.node(1)).cursor.id).toBe(1);
    expect(tree.cursor).toBe(tree.root);
  });

  test('starts at the cursor otherwise, and cannot go back above it', () => {
    const tree = rich();
    tree.advance(tree.node(1));

    expect(tree.fork().cursor.id).toBe(1);
    expect(() => tree.fork(tree.root)).toThrow(
      'to be a realised node below the cursor 1, got node 0.',
    );
  });

  test('forgets simulations under way and what was concluded', () => {
    const tree = rich();
    tree.addInFlight(tree.node(1), 1);
    tree.conclude({ node: tree.node(2), optimal: true });
    const copy = tree.fork();

    expect([...copy.nodes()].map(({ inFlight }) => inFlight)).toEqual([0, 0, 0, 0, 0]);
    expect(copy.conclusion).toBeUndefined();
    expect(copy.best).toBe(copy.bestTerminal);
  });
});
