import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Emulator, emulator } from '../../src/testing/index.ts';
import { build, espalier, fileIn, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();
const file = fileIn(folder, 'file', 'mine');
const problems = fileIn(folder, 'problems.txt', '4 9 10 13\n');
const questions = fileIn(folder, 'questions.jsonl', '{"question": "What is 1 + 1?"}\n');
const many = join(folder, 'many');
const generate = ['generate', '--problems', problems, '--task', 'game24', '--model', 'none'];
const search = ['search', '--task', 'game24', '--input', '4 9 10 13', '--model', 'none'];
const aFile = 'there is a file where a folder is needed. Choose another path.';
let server: Emulator;

beforeAll(async () => {
  await build();
  server = await emulator({ dialect: 'openai', models: ['unheard-of'], answer: () => 'ANSWER: 2' });
  const out = join(folder, 'many-data');
  expect(
    await espalier(...generate, '--simulations', '5', '--run', many, '--out', out),
  ).toMatchObject({ stderr: '' });
}, 120_000);
afterAll(() => server.close());

test.each([
  [
    'tree of a file',
    ['tree', file],
    `There is no run in \`${file}\`: it is a file. Name the folder of a run.`,
  ],
  [
    'export of a file',
    ['export', file, '--out', join(folder, 'x')],
    `There is no run in \`${file}\`: it is a file. Name the folder of a run.`,
  ],
  [
    'missing problems',
    ['generate', '--problems', 'no.jsonl', '--out', join(folder, 'x')],
    '`no.jsonl` cannot be read: there is no such file or folder. Check the path.',
  ],
  [
    'problems that are a folder',
    ['generate', '--problems', folder, '--out', join(folder, 'x')],
    `\`${folder}\` cannot be read: it is a folder. Name a file instead.`,
  ],
  [
    '--out that is a file',
    [...generate, '--out', file],
    `The folder \`${file}\` could not be used: ${aFile}`,
  ],
  ['--save that is a file', [...search, '--save', file], `\`${file}\` could not be used: ${aFile}`],
  [
    '--run that is a file',
    [...generate, '--out', join(folder, 'x'), '--run', file],
    `\`${file}\` could not be used: ${aFile}`,
  ],
  [
    'a replay of a run over many problems',
    [...search.slice(0, -1), `replay:${many}`],
    `\`${many}\` holds a run over many problems, with a journal for each search. Name one of the files in \`${many}/journals\`.`,
  ],
  [
    'a replay of nothing',
    [...search.slice(0, -1), 'replay:no/run'],
    'The file `no/run` could not be used: there is no such file or folder. Check the path.',
  ],
  [
    '--retry-failed without --save',
    [...search, '--retry-failed'],
    'Expected `--save` beside `--retry-failed`: the calls that failed are those of a saved run.',
  ],
  [
    'half a price',
    [...search, '--model', 'tiny', '--price-in', '1'],
    'Expected `--price-in` and `--price-out` together, got only `--price-in`.',
  ],
])('%s is refused in a sentence', async (_name, args, sentence) => {
  const { code, stdout, stderr } = await espalier(...args);
  expect({ stdout, stderr }).toEqual({ stdout: '', stderr: `${sentence}\n` });
  expect(code).toBeGreaterThan(0);
});

/** Root may read everything: another user has to try. */
test.skipIf(process.platform === 'win32')(
  'a run without the right to read is told from no run',
  ({ skip }) => {
    const closed = join(folder, 'closed');
    mkdirSync(closed);
    fileIn(closed, 'run.json', '{}');
    chmodSync(folder, 0o755);
    const as = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const run = (...args: readonly string[]) =>
      spawnSync(process.execPath, ['dist/cli/main.js', ...args], { encoding: 'utf8', ...as });
    skip(run('--version').status !== 0, 'only root may enter the folder of this checkout');
    const draw = () => run('tree', closed);
    const refusal = `The file \`${closed}/run.json\` could not be used: permission is denied. Change its permissions, or choose another path.\n`;
    chmodSync(closed, 0o600);
    expect(draw().stderr).toContain(refusal);
    chmodSync(closed, 0o755);
    chmodSync(join(closed, 'run.json'), 0o000);
    expect(draw().stderr).toContain(refusal);
    chmodSync(closed, 0o700);
  },
);

test('one call is one call', async () => {
  const { stdout } = await espalier(...search, '--calls', '1');
  expect(stdout).toContain('the budget of 1 call is spent.');
  expect(stdout).toMatch(/^1 simulation · 1 call · /m);
  expect(stdout).not.toMatch(/\b1 [a-z]+s\b/);
});

test('a budget in dollars takes a price from the command line, and names the options where it has none', async () => {
  const model = ['--model', `${server.url}#unheard-of`];
  const asked = ['--calls', '4', '--budget-usd', '1'];
  const sentence =
    /^`--budget-usd` needs the price of .*unheard-of, which is not known\. Give it as `--price-in` and `--price-out`, in dollars for a million tokens\.\n$/;
  const price = ['--price-in', '10', '--price-out', '40'];
  const one = ['search', 'What is 1 + 1?', ...model, ...asked];
  const refused = await espalier(...one);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(sentence);
  const paid = await espalier(...one, ...price, '--json');
  expect((JSON.parse(paid.stdout) as { spend: { usd: number } }).spend.usd).toBeGreaterThan(0);

  const place = ['--run', join(folder, 'priced'), '--out', join(folder, 'priced-data')];
  const all = ['generate', '--problems', questions, ...model, ...asked, ...place];
  expect((await espalier(...all)).stderr).toMatch(sentence);
  const run = await espalier(...all, ...price, '--json');
  expect((JSON.parse(run.stdout) as { spend: { usd: number } }).spend.usd).toBeGreaterThan(0);
});

test('dollars that nobody knows are not 0', async () => {
  const model = ['--model', `${server.url}#unheard-of`, '--calls', '4'];
  const place = ['--run', join(folder, 'unpriced'), '--out', join(folder, 'unpriced-data')];
  const all = ['generate', '--problems', questions, ...model, ...place];
  expect((await espalier(...all)).stdout).toMatch(/ · \d+ tokens · \$ unknown · kept in /);
  const told = JSON.parse((await espalier(...all, '--json')).stdout) as {
    spend: { calls: number; usd: unknown };
  };
  expect(told.spend.calls).toBeGreaterThan(0);
  expect(told.spend.usd).toBeNull();
  const card = readFileSync(join(folder, 'unpriced-data', 'README.md'), 'utf8');
  expect(card).toMatch(/\nSpent: \d+ calls, \d+ tokens\.\n/);
});
