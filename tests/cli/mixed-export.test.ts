import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { espalier, fileIn, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();
const puzzles = ['4 9 10 13', '1 3 4 6', '2 4 6 7', '3 3 8 8'];
const [one, other] = [join(folder, 'one'), join(folder, 'other')];

beforeAll(async () => {
  const problems = join(folder, 'puzzles.txt.gz');
  writeFileSync(problems, gzipSync(puzzles.join('\n')));
  for (const [run, seed] of [
    [one, '1'],
    [other, '2'],
  ] as const) {
    const place = ['--run', run, '--out', join(folder, 'first')];
    const how = ['--task', 'game24', '--model', 'none', '--simulations', '40', '--seed', seed];
    const { code } = await espalier('generate', '--problems', problems, ...place, ...how);
    expect(code).toBe(0);
  }
}, 60_000);

async function exported(...options: readonly string[]) {
  const out = join(folder, 'mixed');
  const rule = ['--rule', 'unpaired-siblings', '--out', out];
  const written = ['--file', 'jsonl.gz', '--json'];
  const { code, stdout, stderr } = await espalier('export', ...options, ...rule, ...written);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const rows = (split: string) =>
    gunzipSync(readFileSync(join(out, 'unpaired-siblings', `${split}-00000-of-00001.jsonl.gz`)))
      .toString('utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<'problem_id' | 'tree_id', string>>);
  const { problems, trees } = JSON.parse(stdout) as Readonly<Record<'problems' | 'trees', number>>;
  return { rows, problems, trees, card: readFileSync(join(out, 'README.md'), 'utf8') };
}

test('runs are put together, each problem once with the trees of all', async () => {
  const { rows, card, ...counts } = await exported(one, other);
  expect(counts).toEqual({ problems: 4, trees: 8 });
  // Rows that both trees have stand there once, under the name of the first run.
  const trees = new Set(rows('train').map(({ tree_id: id }) => id));
  expect(trees).toEqual(new Set(puzzles.map((id) => `${one}/${id}`)));
  expect([...new Set(rows('train').map(({ problem_id: id }) => id))]).toEqual(puzzles);
  // As anybody can work it out from the file.
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const lines = readFileSync(join(one, 'trees.jsonl'), 'utf8').trimEnd().split('\n');
  expect(card).toContain(
    sha256(
      lines
        .map((line) => `${sha256(line)}\n`)
        .toSorted()
        .join(''),
    ),
  );
});

test('of a run the share of its problems is taken, and splits are exact', async () => {
  const shares = ['--weight', '1,0.5', '--split', 'train=0.5,test=0.5', '--exact-split'];
  const { rows, ...counts } = await exported(one, other, ...shares);
  expect(counts).toMatchObject({ problems: 4, trees: 6 });
  for (const split of ['train', 'test']) {
    expect(new Set(rows(split).map(({ problem_id: id }) => id)).size).toBe(2);
  }
});

test('what cannot be mixed is refused in a sentence', async () => {
  const out = ['--out', join(folder, 'refused')];
  const few = await espalier('export', one, other, '--weight', '1', ...out);
  expect(few.stderr).toContain('Expected `--weight` to have a share for each run, got 1 for 2.');
  const none = await espalier('export', one, '--weight', '0', ...out);
  expect(none.stderr).toContain('Expected `--weight` to be shares above 0 and at most 1');
  const problems = fileIn(
    folder,
    'named.jsonl',
    '{"task":"game24","id":"4 9 10 13","input":"1 1 4 6"}\n',
  );
  const run = ['--run', join(folder, 'named'), '--out', join(folder, 'first')];
  await espalier(
    'generate',
    '--problems',
    problems,
    '--model',
    'none',
    '--simulations',
    '5',
    ...run,
  );
  const clash = await espalier('export', one, join(folder, 'named'), ...out);
  expect(clash.code).toBe(2);
  expect(clash.stderr).toContain('The problem "4 9 10 13" of');
});
