import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { auditDataset } from '../../src/data/index.ts';
import { gameOf24 } from '../../src/environments/index.ts';
import { actionsTo, treeFromJson, treeToJson } from '../../src/index.ts';
import { readRun } from '../../src/runs/index.ts';

/** Files of each release, as it wrote them: what one has written, all later ones read. */
const releases = readdirSync(import.meta.dirname).filter((name) => /^\d/.test(name));
describe.each(releases)('files of version %s', (release) => {
  const run = join(import.meta.dirname, release, 'run');

  test('a tree is what it was, and its best path solves the puzzle', () => {
    const [entry] = readRun(run).trees;
    const kept = entry?.read() ?? {};
    const puzzle = gameOf24.parse('4 9 10 13');
    const tree = treeFromJson(kept, gameOf24.environment(puzzle));
    expect(gameOf24.check(puzzle, actionsTo(tree.best)).correct).toBe(true);
    expect(treeToJson(tree)).toEqual(kept);
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

  test('a dataset is read without a finding that it had not', async () => {
    const { sets, findings } = await auditDataset(join(import.meta.dirname, release, 'data'));
    expect(sets.map(({ rows }) => rows)).toEqual([2]);
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});
