import { describe, expect, test } from 'vitest';
import { grow, plant } from './grow.ts';

const broken = { kind: 'environment', message: 'It broke.' } as const;

describe('a complete node', () => {
  test('is solved once all its children are closed, and so is what that leaves above it', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', {}]);
    const end = grow(tree, a, ['end', { reward: 1, terminal: true }]);
    tree.complete(tree.root);
    tree.complete(a);
    expect([tree.root, a, end].map(({ status }) => status)).toEqual(['open', 'open', 'terminal']);

    tree.backup(end);
    expect([tree.root, a, end].map(({ status }) => status)).toEqual([
      'closed',
      'closed',
      'terminal',
    ]);
  });

  test('stays open while one child has not been visited', () => {
    const tree = plant();
    const left = grow(tree, tree.root, ['left', { reward: 0, terminal: true }]);
    const right = grow(tree, tree.root, ['right', { reward: 1, terminal: true }]);
    tree.complete(tree.root);
    tree.backup(left);
    expect(tree.root.status).toBe('open');

    tree.backup(right);
    expect(tree.root.status).toBe('closed');
  });

  test('closes at once where its children were closed before it was complete', () => {
    const tree = plant();
    const end = grow(tree, tree.root, ['end', { reward: 1, terminal: true }]);
    tree.backup(end);
    expect(tree.root.status).toBe('open');

    tree.complete(tree.root);
    expect(tree.root).toMatchObject({ status: 'closed', complete: true });
  });

  test('fails once all its children have failed, and says so', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', {}]);
    const [x, y] = [grow(tree, a, ['x', {}]), grow(tree, a, ['y', {}])];
    tree.complete(a);
    tree.fail(x, broken);
    expect(a.status).toBe('open');

    tree.fail(y, broken);
    expect(a).toMatchObject({
      status: 'failed',
      failure: {
        kind: 'empty',
        message: 'All continuations failed, the first with: It broke.',
      },
    });
    expect(x.failure).toEqual(broken);
  });

  test('is solved where some children failed and the others are known', () => {
    const tree = plant();
    const bad = grow(tree, tree.root, ['bad', {}]);
    const end = grow(tree, tree.root, ['end', { reward: 1, terminal: true }]);
    tree.complete(tree.root);
    tree.fail(bad, broken);
    tree.backup(end);

    expect(tree.root.status).toBe('closed');
  });
});

describe('a complete node without an open child', () => {
  test('is solved by pruning its last open child', () => {
    const tree = plant();
    const child = grow(tree, tree.root, ['a', {}]);
    tree.complete(tree.root);
    tree.prune(child);

    expect(child.status).toBe('pruned');
    expect(tree.root.status).toBe('closed');
  });

  test('is solved without children: nothing follows, and nothing failed', () => {
    const tree = plant();
    const leaf = grow(tree, tree.root, ['a', {}]);
    tree.complete(leaf);

    expect(leaf.status).toBe('closed');
    expect(tree.root.status).toBe('open');
  });
});

describe('closing', () => {
  test('carries a failure up through complete nodes and stops at the first that may grow', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', {}]);
    const b = grow(tree, a, ['b', {}]);
    const c = grow(tree, b, ['c', {}]);
    tree.complete(a);
    tree.complete(b);
    tree.fail(c, broken);

    expect([tree.root, a, b, c].map(({ status }) => status)).toEqual([
      'open',
      'failed',
      'failed',
      'failed',
    ]);
  });

  test('leaves a node alone whose policy may have more to offer', () => {
    const tree = plant();
    const child = grow(tree, tree.root, ['a', {}]);
    tree.fail(child, broken);

    expect(tree.root.status).toBe('open');
  });

  test('keeps the reason of a node that has already failed', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', {}]);
    const b = grow(tree, a, ['b', {}]);
    tree.fail(a, broken);
    tree.complete(a);
    tree.fail(b, { kind: 'call', message: 'Later.' });

    expect(a).toMatchObject({ status: 'failed', failure: broken });
  });
});
