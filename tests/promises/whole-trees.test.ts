/** What a live tree knows, a loaded one knows. `npm run verify:trees` does the same for 1,000 searches. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { treeFromJson, treeToJson } from '../../src/index.ts';
import { expectWhole } from './whole-trees.ts';

test.each(Array.from({ length: 40 }, (_, seed) => [seed]))(
  'a random search, saved and loaded, knows and does what the live one does: seed %i',
  (seed) => expectWhole(seed),
);

describe('a tree of version 1', () => {
  const load = (name: string) =>
    treeFromJson<string, string>(
      readFileSync(new URL(`../fixtures/trees/v1-${name}.json`, import.meta.url), 'utf8'),
    );

  test('of a critic that ranks actions has the best node that the live one had', () => {
    const tree = load('agent-q');
    // The end 7 has the best rank, and nobody has played it.
    expect(tree.best.id).toBe(5);
    expect(tree.score(tree.best)).toBeCloseTo(0.9 ** 3, 12);
    expect(tree.node(7)).toMatchObject({ terminal: true, rawValue: 1, outcome: undefined });
    expect(tree.node(4)).toMatchObject({ about: 'action', outcome: { value: 0.1 } });
    expect(tree.node(1)).toMatchObject({ status: 'closed', exact: true });
    expect(tree.discount).toBe(0.9);
    expect(tree.log.size).toBe(0);
  });

  test('of A* has its costs, its duplicate, and the reasons why nodes were put aside', () => {
    const tree = load('astar');
    expect(tree.conclusion).toEqual({ node: tree.node(5), optimal: false });
    expect(tree.root.notes).toEqual({ astar: { g: 0, h: 1 } });
    expect(tree.root.failedProposals).toMatchObject([{ kind: 'parse', count: 1 }]);
    expect([3, 4, 6].map((id) => tree.node(id).pruned)).toEqual([
      'duplicate',
      'hopeless',
      'dominated',
    ]);
    expect(tree.original(tree.node(3))).toBe(tree.node(2));
    expect([...tree.nodes()].map(({ annotations }) => annotations)).toEqual(
      Array.from({ length: tree.size }, () => ({})),
    );
  });

  test('of a world that moved stands where it stood, and is written in the present form', () => {
    const tree = load('stepwise');
    expect(tree.cursor.id).toBe(1);
    expect(tree.root.notes).toEqual({ stepwise: { simulationsBefore: 0 } });
    expect(tree.best.id).toBe(4);
    const json = treeToJson(tree);
    expect(json.version).toBe(2);
    expect(treeToJson(treeFromJson(JSON.stringify(json)))).toEqual(json);
  });
});
