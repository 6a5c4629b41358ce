import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { methods } from '../../src/methods/index.ts';
import { build, espalier } from './espalier.ts';

beforeAll(build, 60_000);

describe('espalier methods', () => {
  test('--json lists name, title and paper of each', async () => {
    const { code, stdout } = await espalier('methods', '--json');
    const list = JSON.parse(stdout) as readonly Record<string, string>[];

    expect(code).toBe(0);
    expect(list.map((entry) => Object.keys(entry))).toEqual(
      methods.map(() => ['name', 'title', 'paper']),
    );
    expect(list.map(({ name }) => name)).toEqual([
      'agent-q',
      'dfsdt',
      'i-mcts',
      'mcts-dpo',
      'r-mcts',
      'rest-mcts',
      'tool-chain-star',
      'tree-of-thoughts',
    ]);
    for (const { name, paper } of list) {
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(paper).toMatch(/ et al\., .+, 20\d\d, arXiv \d{4}\.\d{5}$/);
    }
  });

  test('tells people how to run one', async () => {
    const { stdout } = await espalier('methods');

    expect(stdout).toMatch(/^r-mcts {13}R-MCTS \(ExACT\)\n {19}Yu et al\., /m);
    expect(stdout).toContain('--method agent-q');
  });
});

describe('espalier search --method', () => {
  const game = ['search', '--task', 'game24', '--input', '1 2 3 4'] as const;

  test.each(methods.map(({ name }) => name))(
    'runs %s within its budget',
    async (name) => {
      const { code, stdout } = await espalier(...game, '--method', name, '--calls', '30', '--json');
      const report = JSON.parse(stdout) as { readonly spend: { readonly calls: number } };

      expect(code).toBe(0);
      expect(report.spend.calls).toBeGreaterThan(0);
      expect(report.spend.calls).toBeLessThanOrEqual(30);
    },
    60_000,
  );

  test.each([
    [['--method', 'lats'], 'Expected `--method` to be '],
    [['--method', 'r-mcts', '--algorithm', 'mcts'], 'cannot be used with option'],
    [
      ['--method', 'r-mcts', '--model', 'none'],
      'Expected `--model` to name a model: a method needs one.',
    ],
  ])('refuses %j', async (options, sentence) => {
    const { code, stderr } = await espalier(...game, ...options);

    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});

test('which parts of a method the toy cannot play is told by the run folder and by its rows', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'espalier-parts-')), 'run');
  const options = ['--task', 'game24', '--input', '1 2 3 4', '--calls', '40', '--save', folder];
  await espalier('search', ...options, '--method', 'r-mcts');
  const run = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as object;
  expect(run).toMatchObject({
    method: 'r-mcts',
    replaced: ['algorithm', 'evaluator'],
    pairs: null,
  });

  const out = join(folder, '../rows');
  const { code } = await espalier(
    'export',
    folder,
    '--rule',
    'omega-prm',
    '--out',
    out,
    '--file',
    'jsonl',
  );
  expect(code).toBe(0);
  const rows = readdirSync(out, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(out, name), 'utf8'));
  expect(rows.join('')).toContain('r-mcts (algorithm, evaluator replaced)');
}, 60_000);
