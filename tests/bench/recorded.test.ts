import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Two runs of two levels with b = 2. The second one has a thought twice, whose second copy is worth 0, and no solution. */
const runs = [
  {
    steps: [
      {
        ys: [''],
        new_ys: ['a\n', 'b\n', 'c\n'],
        values: [1.002, 2.001, 20.002],
        select_new_ys: ['c\n', 'b\n'],
      },
      {
        ys: ['c\n', 'b\n'],
        new_ys: ['c\nx\n', 'c\ny\n', 'b\nx\n', 'b\ny\n'],
        values: [3, 60, 3, 0.003],
        select_new_ys: ['c\ny\n', 'c\nx\n'],
      },
    ],
    ys: ['c\ny\n', 'c\nx\n'],
    infos: [{ r: 1 }, { r: 0 }],
  },
  {
    steps: [
      {
        ys: [''],
        new_ys: ['a\n', 'a\n', 'b\n'],
        values: [3, 0, 0.003],
        select_new_ys: ['a\n', 'b\n'],
      },
      {
        ys: ['a\n', 'b\n'],
        new_ys: ['a\nx\n', 'b\nx\n', 'b\ny\n'],
        values: [3, 3, 3],
        select_new_ys: ['a\nx\n', 'b\nx\n'],
      },
    ],
    ys: ['a\nx\n', 'b\nx\n'],
    infos: [{ r: 0 }, { r: 0 }],
  },
];

function bench(content: unknown) {
  const file = join(mkdtempSync(join(tmpdir(), 'espalier-recorded-')), 'runs.json');
  writeFileSync(file, JSON.stringify(content));
  const script = join(import.meta.dirname, '../perf/recorded.ts');
  return spawnSync(process.execPath, ['--import', 'tsx', script, file, '--json'], {
    encoding: 'utf8',
  });
}

test('a recorded Tree of Thoughts is repeated level by level, and searched again by others', () => {
  const { status, stdout, stderr } = bench(runs);
  expect([status, stderr]).toEqual([0, '']);
  const { treeOfThoughts, rows } = JSON.parse(stdout) as {
    readonly treeOfThoughts: unknown;
    readonly rows: readonly { readonly algorithm: string }[];
  };
  expect(treeOfThoughts).toEqual({ solved: 1, of: 2 });
  const rowOf = (name: string) => rows.find(({ algorithm }) => algorithm === name);
  const row = (algorithm: string, expansions: number) => ({
    ...{ algorithm, solved: 1, of: 1 },
    ...{ medianExpansions: expansions, meanExpansions: expansions },
  });
  // The start, c and b; by value the start and c; by DFSDT the start, a, which nobody expanded, b and c.
  expect(rowOf('tree-of-thoughts')).toEqual(row('tree-of-thoughts', 3));
  expect(rowOf('best-first')).toEqual(row('best-first', 2));
  expect(rowOf('astar')).toEqual(row('astar', 2));
  expect(rowOf('depth-first')).toEqual(row('depth-first', 4));
});

test('a recording that keeps other states than its values say is told', () => {
  const [first] = structuredClone(runs);
  first?.steps[1]?.values.splice(0, 4, 3, 60, 20, 0.003);
  const { status, stderr } = bench([first]);
  expect(status).toBe(1);
  expect(stderr).toBe('Run 0 keeps other states than the recorded ones at level 2.\n');
});
