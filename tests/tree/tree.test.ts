import { describe, expect, test } from 'vitest';
import { EspalierError } from '../../src/base/errors.ts';
import { evaluated, grow, plant } from './grow.ts';

describe('a new tree', () => {
  test('is a realised root, which is cursor and best at once', () => {
    const tree = plant();

    expect(tree.size).toBe(1);
    expect(tree.root).toMatchObject({
      kind: 'root',
      id: 0,
      depth: 0,
      state: 'root',
      prior: 1,
      visits: 0,
      value: 0,
      status: 'open',
    });
    expect(tree.cursor).toBe(tree.root);
    expect(tree.best).toBe(tree.root);
    expect(tree.bestTerminal).toBeUndefined();
  });
});

describe('add', () => {
  test('numbers nodes in the order of expansion and appends to the children that are there', () => {
    const tree = plant();
    const [a] = tree.add(tree.root, [{ action: 'a', prior: 0.5 }]);
    const [x] = tree.add(a ?? tree.root, [{ action: 'x', prior: 1 }]);
    const [b, c] = tree.add(tree.root, [
      { action: 'b', prior: 0.3 },
      { action: 'c', prior: 0.2, completion: { text: 'see' } },
    ]);

    expect([a, x, b, c].map((node) => node?.id)).toEqual([1, 2, 3, 4]);
    expect(tree.root.children).toEqual([a, b, c]);
    expect(x).toMatchObject({ kind: 'proposed', parent: a, depth: 2, prior: 1, state: undefined });
    expect(c).toMatchObject({ prior: 0.2, completion: { text: 'see' } });
    expect([...tree.nodes()].map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
    expect(tree.node(3)).toBe(b);
    expect(tree.size).toBe(5);
  });

  test('leaves the list of children that others may be reading as it was', () => {
    const tree = plant();
    grow(tree, tree.root, ['a', {}]);
    const before = tree.root.children;
    grow(tree, tree.root, ['b', {}]);

    expect(before).toHaveLength(1);
    expect(tree.root.children).toHaveLength(2);
  });
});

describe('realise', () => {
  test('records where an action led', () => {
    const tree = plant();
    const [child] = tree.add(tree.root, [{ action: 'a', prior: 1 }]);
    tree.realise(child ?? tree.root, { state: 'there', reward: 0.5, answer: true });

    expect(child).toMatchObject({
      kind: 'realised',
      state: 'there',
      reward: 0.5,
      terminal: false,
      answer: true,
      status: 'open',
    });
  });

  test('tells a state that is `undefined` from one that is not there', () => {
    const tree = plant();
    const [child] = tree.add(tree.root, [{ action: 'a', prior: 1 }]);
    tree.realise(child ?? tree.root, { state: undefined as unknown as string });

    expect(child?.kind).toBe('realised');
  });

  test('marks a terminal node, also in its status', () => {
    const tree = plant();
    const end = grow(tree, tree.root, ['end', { terminal: true }]);

    expect(end).toMatchObject({ terminal: true, status: 'terminal', reward: undefined });
  });
});

describe('notes on a node', () => {
  test('setPrior and addEvaluation set what they say', () => {
    const tree = plant();
    const child = grow(tree, tree.root, ['a', {}]);
    tree.setPrior(child, 0.125);
    tree.addEvaluation(child, { value: 0.5, rationale: 'Half way.' });

    expect(child).toMatchObject({
      prior: 0.125,
      rawValue: 0.5,
      evaluations: [{ value: 0.5, rationale: 'Half way.' }],
    });
  });

  test('annotations add up, and the last of equal names counts', () => {
    const tree = plant();
    const child = grow(tree, tree.root, ['a', {}]);
    tree.annotate(child, { g: 1, h: 2 });
    tree.annotate(child, { h: 3 });

    expect(child.annotations).toEqual({ g: 1, h: 3 });
    expect(tree.root.annotations).toEqual({});
  });

  test('samples are counted on and given back', () => {
    const tree = plant();
    tree.countSamples(tree.root, 4);
    tree.countSamples(tree.root, 2);
    tree.countSamples(tree.root, -1);

    expect(tree.root.samples).toBe(5);
  });

  test('keep what else is rare about the node', () => {
    const tree = plant();
    const child = grow(tree, tree.root, ['a', { answer: true }]);
    tree.annotate(child, { g: 1 });
    tree.countSamples(child, 2);
    tree.fail(child, { kind: 'call', message: 'No.' });

    expect(child).toMatchObject({
      answer: true,
      annotations: { g: 1 },
      failure: { kind: 'call', message: 'No.' },
    });
    expect(child.samples).toBe(2);
  });

  test('a duplicate knows its original, and any other node is its own', () => {
    const tree = plant();
    const first = grow(tree, tree.root, ['a', {}]);
    const again = grow(tree, tree.root, ['a', {}]);
    tree.merge(again, first);

    expect(tree.original(again)).toBe(first);
    expect(tree.original(first)).toBe(first);
  });
});

describe('simulations under way', () => {
  test('are counted at a node and everywhere above it', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', {}]);
    const b = grow(tree, a, ['b', {}]);
    tree.addInFlight(b, 1);
    tree.addInFlight(a, 1);
    expect([tree.root, a, b].map(({ inFlight }) => inFlight)).toEqual([2, 2, 1]);

    tree.addInFlight(b, -1);
    expect([tree.root, a, b].map(({ inFlight }) => inFlight)).toEqual([1, 1, 0]);
  });

  test('are counted no further than below `until`', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', {}]);
    const b = grow(tree, a, ['b', {}]);
    tree.addInFlight(b, 1, a);

    expect([tree.root, a, b].map(({ inFlight }) => inFlight)).toEqual([0, 0, 1]);
  });
});

describe('a node of another tree', () => {
  test('is refused by everything that changes a tree', () => {
    const tree = plant();
    grow(tree, tree.root, ['a', {}]);
    const other = tree.fork();
    const foreign = other.node(1);
    const failure = { kind: 'call', message: 'No.' } as const;
    const changes: readonly (() => unknown)[] = [
      () => tree.add(foreign, [{ action: 'b', prior: 1 }]),
      () => tree.setPrior(foreign, 0),
      () => tree.countSamples(foreign, 1),
      () => tree.complete(foreign),
      () => tree.realise(foreign, { state: '' }),
      () => tree.addEvaluation(foreign, evaluated(1)),
      () => tree.fail(foreign, failure),
      () => tree.prune(foreign),
      () => tree.annotate(foreign, {}),
      () => tree.addInFlight(foreign, 1),
      () => tree.backup(foreign),
      () => tree.advance(foreign),
      () => tree.conclude({ node: foreign, optimal: true }),
      () => tree.prefer(foreign),
      () => tree.fork(foreign),
    ];

    for (const change of changes) {
      expect(change).toThrow('Expected `node` to belong to this tree, got node 1 of another one.');
    }
  });

  test('is a usage error, and so is an id that does not exist', () => {
    const tree = plant();
    try {
      tree.node(3);
      expect.unreachable();
    } catch (error) {
      expect(EspalierError.isInstance(error) && error.code).toBe('usage');
      expect(error).toHaveProperty(
        'message',
        'Expected `id` to be a node of the tree, from 0 to 0, got `3`.',
      );
    }
  });
});
