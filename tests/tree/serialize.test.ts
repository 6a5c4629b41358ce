import { describe, expect, test } from 'vitest';
import { EspalierError } from '../../src/base/errors.ts';
import type { Codec } from '../../src/contracts/json.ts';
import { treeFromJson, treeToJson } from '../../src/tree/serialize.ts';
import { SearchTree } from '../../src/tree/tree.ts';
import type { TreeJson } from '../../src/tree/tree-json.ts';
import { grow, plant, type WordTree } from './grow.ts';

/** A tree in which everything that a node can hold is set somewhere. */
function rich(): WordTree {
  const tree = plant();
  tree.stamps.add('oracle-guided');
  tree.simulations = 4;
  const a = grow(tree, tree.root, ['a', { prior: 0.6, reward: 0.1 }]);
  tree.addEvaluation(a, {
    value: 0.7,
    raw: { score: 7, range: [0, 10] },
    parts: { judge: 0.7 },
    rationale: 'Close.',
  });
  const b = grow(tree, tree.root, ['b', { prior: 0.4, value: 1 / 3, answer: true }]);
  const end = grow(tree, a, ['end', { reward: 0.5, terminal: true }]);
  const [, broken = a] = tree.add(a, [
    { action: 'proposed', prior: 0.2, completion: { text: 'said', finishReason: 'stop' } },
    { action: 'broken', prior: 0.1 },
  ]);
  for (const leaf of [a, b, end]) tree.backup(leaf, { discount: 0.9 });
  tree.fail(broken, { kind: 'environment', message: 'It broke.' });
  tree.annotate(a, { g: 2, arms: { best: [1, null, true] } });
  tree.countSamples(a, 4);
  tree.complete(b);
  tree.advance(a);
  tree.conclude({ node: end, optimal: true });
  return tree;
}

/** The JSON of a tree after a change by hand, which no type holds back. */
function tampered(
  change: (tree: Record<string, unknown>, nodes: Record<string, unknown>[]) => void,
) {
  const json = JSON.parse(JSON.stringify(treeToJson(rich()))) as Record<string, unknown>;
  change(json, json['nodes'] as Record<string, unknown>[]);
  return json;
}

function errorOf(act: () => unknown): EspalierError {
  try {
    act();
  } catch (error) {
    if (EspalierError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('It was expected to throw.');
}

describe('treeToJson', () => {
  test('writes what differs from the default, and nothing else', () => {
    const tree = plant();
    grow(tree, tree.root, ['a', { prior: 0.5, value: 0.25 }]);
    tree.backup(tree.node(1));

    expect(treeToJson(tree)).toEqual({
      format: 'espalier-tree',
      version: 2,
      environment: 'words',
      seed: 0,
      stamps: [],
      simulations: 0,
      cursor: 0,
      nodes: [
        { state: 'root', visits: 1, value: 0.25 },
        {
          parent: 0,
          action: 'a',
          state: 'root/a',
          prior: 0.5,
          visits: 1,
          value: 0.25,
          evaluations: [{ value: 0.25 }],
        },
      ],
    });
  });

  test('names the path of a state that is not JSON', () => {
    const tree = new SearchTree<unknown, string>({ board: [] }, { environment: 'maps', seed: 0 });
    const [child = tree.root] = tree.add(tree.root, [{ action: 'a', prior: 1 }]);
    tree.realise(child, { state: { board: [1, new Map()] } });
    const error = errorOf(() => treeToJson(tree));

    expect(error.code).toBe('usage');
    expect(error.message).toBe(
      'Expected `nodes.1.state` to be JSON, got a Map at `nodes.1.state.board.1`. Give the environment a codec, which `treeToJson(tree, environment)` and `events.json()` use.',
    );
  });

  test('names the path of an action that is not JSON', () => {
    const tree = new SearchTree<number, unknown>(0, { environment: 'numbers', seed: 0 });
    tree.add(tree.root, [{ action: { by: Number.NaN }, prior: 1 }]);

    expect(() => treeToJson(tree)).toThrow('got `NaN` at `nodes.1.action.by`');
  });
});

describe('treeFromJson', () => {
  test('gives back the tree that was written, node by node', () => {
    const tree = rich();
    const read = treeFromJson<string, string>(treeToJson(tree));

    expect(read.size).toBe(6);
    for (const node of tree.nodes()) {
      const { parent, children, ...own } = read.node(node.id);
      const { parent: _, children: _children, ...expected } = node;
      expect(own).toEqual(expected);
      expect(read.node(node.id).kind).toBe(node.kind);
      expect(read.node(node.id).failure).toEqual(node.failure);
      expect(read.node(node.id).completion).toEqual(node.completion);
      expect(read.node(node.id).annotations).toEqual(node.annotations);
      expect(read.node(node.id).answer).toBe(node.answer);
      expect(read.node(node.id).samples).toBe(node.samples);
      expect(parent?.id).toBe(node.parent?.id);
      expect(children.map(({ id }) => id)).toEqual(node.children.map(({ id }) => id));
    }
  });

  test('gives back what is true of the tree as a whole', () => {
    const read = treeFromJson<string, string>(JSON.stringify(treeToJson(rich())));

    expect(read.origin).toEqual({ environment: 'words', seed: 0 });
    expect([...read.stamps]).toEqual(['oracle-guided']);
    expect(read.simulations).toBe(4);
    expect(read.cursor.id).toBe(1);
    expect(read.conclusion).toEqual({ node: read.node(3), optimal: true });
    expect(read.bestTerminal?.id).toBe(3);
  });

  test('gives back the node that an unfinished search would bet on', () => {
    const tree = plant();
    grow(tree, tree.root, ['a', {}]);
    const b = grow(tree, tree.root, ['b', {}]);
    tree.prefer(b);
    const json = treeToJson(tree);

    expect(json).toMatchObject({ preferred: 2 });
    expect(treeFromJson(json).best.id).toBe(2);
    expect(() => treeFromJson({ ...json, preferred: 3 })).toThrow('field `preferred`:');
  });

  test('writes the same JSON again', () => {
    const json = treeToJson(rich());

    expect(treeToJson(treeFromJson(json))).toEqual(json);
  });

  test('can be searched on', () => {
    const read = treeFromJson<string, string>(treeToJson(rich()));
    const child = grow(read, read.node(2), ['next', { value: 0.5 }]);
    read.backup(child);

    expect(child.id).toBe(6);
    expect(read.root.visits).toBe(4);
  });
});

describe('a codec', () => {
  test('turns the states of an environment into JSON and back', () => {
    const codec: Codec<Set<number>> = {
      encode: (state) => [...state],
      decode: (json) => new Set(json as number[]),
    };
    const tree = new SearchTree<Set<number>, string>(new Set([1, 2]), {
      environment: 'sets',
      seed: 0,
    });
    tree.add(tree.root, [{ action: 'never taken', prior: 1 }]);
    const json = treeToJson(tree, { codec });

    expect(json.nodes[0]).toEqual({ state: [1, 2] });
    const read = treeFromJson<Set<number>, string>(json, { codec });
    expect(read.root.state).toEqual(new Set([1, 2]));
    expect(read.node(1).kind).toBe('proposed');
  });

  test('is at fault where it cannot decode a state: the node is named', () => {
    const decode = (): never => {
      throw new Error('Unknown piece.');
    };
    const error = errorOf(() =>
      treeFromJson(treeToJson(rich()), { codec: { encode: () => null, decode } }),
    );

    expect(error.code).toBe('invalid-tree');
    expect(error.message).toContain('field `nodes.0.state`: its codec could not decode it');
    expect(error.cause).toHaveProperty('message', 'Unknown piece.');
  });
});

describe('a tree that cannot be read', () => {
  test('was written by another version', () => {
    const error = errorOf(() =>
      treeFromJson(tampered((tree) => Object.assign(tree, { version: 3, shape: [] }))),
    );

    expect(error.code).toBe('invalid-tree');
    expect(error.message).toBe(
      'The tree cannot be read: field `version`: it is 3, this espalier reads 2.',
    );
  });

  test.each([
    [{ nodes: [] }, 'an object without it'],
    [{ format: 'other' }, 'an object without it'],
    [[1], 'an array of 1'],
    [null, '`null`'],
  ])('is none: %j', (value, got) => {
    const { code, message } = errorOf(() => treeFromJson(value));
    expect({ code, message }).toEqual({
      code: 'invalid-tree',
      message: `Expected a tree as \`treeToJson\` writes it, with the \`format\` espalier-tree, got ${got}.`,
    });
  });

  test('was cut off anywhere', () => {
    const text = JSON.stringify(treeToJson(rich()));
    for (const length of [0, 1, Math.floor(text.length / 2), text.length - 1]) {
      const error = errorOf(() => treeFromJson(text.slice(0, length)));
      expect(error.code).toBe('invalid-tree');
      expect(error.message).toContain('is not JSON. Was the file cut off?');
    }
  });

  test.each<[string, (tree: Record<string, unknown>, nodes: Record<string, unknown>[]) => void]>([
    ['nodes', (tree) => Object.assign(tree, { nodes: [] })],
    ['nodes.2.visits', (_, nodes) => Object.assign(nodes[2] ?? {}, { visits: -1 })],
    ['nodes.1.value', (_, nodes) => Object.assign(nodes[1] ?? {}, { value: null })],
    ['nodes.1.prior', (_, nodes) => Object.assign(nodes[1] ?? {}, { prior: 'high' })],
    ['nodes.3.status', (_, nodes) => Object.assign(nodes[3] ?? {}, { status: 'done' })],
    [
      'nodes.1.evaluations.0.value',
      (_, nodes) => Object.assign(nodes[1] ?? {}, { evaluations: [{}] }),
    ],
    ['nodes.1.duplicateOf', (_, nodes) => Object.assign(nodes[1] ?? {}, { duplicateOf: 6 })],
    ['nodes.1.cost', (_, nodes) => Object.assign(nodes[1] ?? {}, { cost: -1 })],
    ['log.leaves.0', (tree) => Object.assign(tree, { log: { leaves: [6], returns: [0] } })],
    ['log', (tree) => Object.assign(tree, { log: { leaves: [1, 2], returns: [0] } })],
    ['nodes.3.parent', (_, nodes) => Object.assign(nodes[3] ?? {}, { parent: 3 })],
    ['nodes.3.parent', (_, nodes) => delete nodes[3]?.['parent']],
    ['nodes.3.action', (_, nodes) => delete nodes[3]?.['action']],
    ['nodes.0.state', (_, nodes) => delete nodes[0]?.['state']],
    ['cursor', (tree) => Object.assign(tree, { cursor: 6 })],
    ['conclusion.node', (tree) => Object.assign(tree, { conclusion: { node: 9, optimal: true } })],
  ])('has its field `%s` named', (field, change) => {
    const error = errorOf(() => treeFromJson(tampered(change)));

    expect(error.code).toBe('invalid-tree');
    expect(error.message).toContain(`field \`${field}\`:`);
  });

  test.each([null, 7, 'null', [], {}])('is no tree at all: %j', (source) => {
    expect(errorOf(() => treeFromJson(source)).code).toBe('invalid-tree');
  });

  test('has a field that this version does not know', () => {
    expect(() =>
      treeFromJson(tampered((_, [root]) => Object.assign(root ?? {}, { colour: 1 }))),
    ).toThrow('field `nodes.0`');
  });
});

test('notes of any name are kept', () => {
  const tree = rich();
  tree.annotate(tree.root, Object.fromEntries([['__proto__', 1]]));
  const loaded = treeFromJson(JSON.stringify(treeToJson(tree)));
  expect(Object.entries(loaded.root.annotations)).toContainEqual(['__proto__', 1]);
});

test('what a plug-in puts into an evaluation or a completion beyond the contract is kept', () => {
  const json = treeToJson(rich());
  const nodes = json.nodes.map((node) =>
    node.evaluations === undefined
      ? node
      : { ...node, evaluations: node.evaluations.map((each) => ({ ...each, votes: 3 })) },
  );
  const again: TreeJson = treeToJson(treeFromJson({ ...json, nodes }));

  expect(again.nodes[1]?.evaluations?.[0]).toHaveProperty('votes', 3);
});
