import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { auditDataset, readRows } from '../../src/data/index.ts';
import { gameOf24 } from '../../src/environments/index.ts';
import { actionsTo, treeFromJson, treeToJson } from '../../src/index.ts';
import { readRun } from '../../src/runs/index.ts';

/** Files of each release, as it wrote them: what one has written, all later ones read. */
const releases = readdirSync(import.meta.dirname).filter((name) => /^\d/.test(name));
describe.each(releases)('files of version %s', (release) => {
  const kept = join(import.meta.dirname, release);
  const run = join(kept, 'run');

  test('a tree is what it was, and its best path solves the puzzle', () => {
    const [entry] = readRun(run).trees;
    const saved = entry?.read() ?? {};
    const puzzle = gameOf24.parse('4 9 10 13');
    const tree = treeFromJson(saved, gameOf24.environment(puzzle));
    expect(gameOf24.check(puzzle, actionsTo(tree.best)).correct).toBe(true);
    expect(treeToJson(tree)).toEqual(saved);
  });

  test('a journal goes on without a call', () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-kept-'));
    try {
      cpSync(run, folder, { recursive: true });
      const told = execFileSync(
        process.execPath,
        [
          ...['dist/cli/main.js', 'search', '--task', 'game24', '--input', '4 9 10 13'],
          ...['--algorithm', 'mcts', '--calls', '30', '--save', folder],
        ],
        { encoding: 'utf8' },
      );
      expect(told).toContain('Solved in 3 steps: (13 - 9) * (10 - 4)');
      const asked = (of: string) =>
        readFileSync(join(of, 'journal.jsonl'), 'utf8').match(/"type":"intent"/g)?.length;
      expect(asked(folder)).toBe(asked(run));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a run of `generate` goes on without a call, and its rows keep their columns', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-kept-'));
    try {
      const again = join(folder, 'generated');
      cpSync(join(kept, 'generated'), again, { recursive: true });
      execFileSync(process.execPath, [
        ...['dist/cli/main.js', 'generate', '--problems', join(kept, 'problems.jsonl')],
        ...['--method', 'agent-q', '--rule', 'agent-q', '--rule', 'math-shepherd'],
        ...['--calls', '30', '--run', again, '--out', join(folder, 'parquet'), '--file', 'parquet'],
      ]);
      const asked = (of: string) =>
        readdirSync(join(of, 'journals')).map(
          (name) =>
            readFileSync(join(of, 'journals', name), 'utf8').match(/"type":"intent"/g)?.length,
        );
      expect(asked(again)).toEqual(asked(join(kept, 'generated')));
      for (const rule of ['agent-q', 'math-shepherd']) {
        const [before, now] = await Promise.all(
          [kept, folder].map((of) => columnsOf(join(of, 'parquet', rule))),
        );
        expect(before?.length).toBeGreaterThan(3);
        expect(now).toEqual(expect.arrayContaining([...(before ?? [])]));
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a dataset is read without a finding that it had not', async () => {
    const { sets, findings } = await auditDataset(join(kept, 'data'));
    expect(sets.map(({ rows }) => rows)).toEqual([2]);
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});

/** The columns of the first row of a dataset. */
async function columnsOf(path: string): Promise<readonly string[]> {
  for await (const { columns } of readRows(path)) return Object.keys(columns);
  return [];
}
