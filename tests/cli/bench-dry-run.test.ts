/** A dry run refuses what the benchmark would refuse, sends nothing and leaves nothing. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { requestFrom } from '../../src/cli/bench-request.ts';
import { openRun } from '../../src/runs/index.ts';
import { espalier } from './espalier.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-cli-dry-run-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

const small = ['--task', 'game24', '--model', 'none', '--limit', '2', '--budgets', 'calls=2'];
const dryRun = (...options: readonly string[]) =>
  espalier('bench', ...small, '--no-times', ...options, '--dry-run');

describe('a dry run refuses', () => {
  test.each(['--out', '--cache', '--inspect'])(
    'a file in place of the folder of %s',
    async (option) => {
      const file = join(folder, 'file.txt');
      writeFileSync(file, 'Mine.');
      const out = join(folder, 'new');
      const { code, stderr } = await dryRun('--out', out, option, file);
      expect(stderr).toBe(
        `\`${file}\` could not be used: there is a file where a folder is needed. Choose another path.\n`,
      );
      expect(code).toBe(2);
      expect(existsSync(out)).toBe(false);
    },
  );

  test('a folder that cannot be made', async () => {
    const { code, stderr } = await dryRun('--out', '/proc/none/here');
    expect([code, stderr]).toEqual([2, expect.stringContaining('/proc/none/here')]);
  });

  test('a folder of another benchmark, of somebody else, and one that is in use', async () => {
    const out = join(folder, 'one');
    await espalier('bench', ...small, '--no-times', '--out', out);
    const before = readdirSync(out, { recursive: true }).toSorted();
    const other = await dryRun('--out', out, '--seed', '1');
    expect(other.stderr).toContain(
      `The run in \`${out}\` is another one: its \`seed\` is 0, this command has 1. Take another \`--out\``,
    );
    const again = await dryRun('--out', out);
    expect(again.stdout).toContain(
      `\nWhat ${out} holds already is part of that, and is not paid for again.`,
    );
    expect(again.code).toBe(0);
    expect((await dryRun('--out', `${out}-new`)).stdout).not.toContain('holds already');
    {
      using _ = openRun(out);
      const { code, stderr } = await dryRun('--out', out);
      expect([code, stderr]).toEqual([2, expect.stringContaining('is writing to this folder')]);
    }
    expect(readdirSync(out, { recursive: true }).toSorted()).toEqual(before);
    writeFileSync(join(folder, 'trees.jsonl'), 'oak\n');
    expect((await dryRun('--out', folder)).stderr).toContain('is not a file of a run');
  });

  test('a method that needs a model, as the benchmark does', async () => {
    const out = join(folder, 'agent-q');
    const [dry, wet] = [
      await dryRun('--methods', 'agent-q', '--out', out),
      await espalier('bench', ...small, '--no-times', '--methods', 'agent-q', '--out', out),
    ];
    expect(dry.stderr).toBe(wet.stderr);
    expect(dry.stderr).toContain('agent-q needs one');
    expect([dry.code, wet.code]).toEqual([2, 2]);
  });
});

test.each([[['--dry-run']], [[]]])(
  'no first call within a budget is refused: %j',
  async (options) => {
    vi.stubEnv('OPENAI_API_KEY', 'key');
    const fetched = vi.spyOn(globalThis, 'fetch');
    const out = join(folder, 'no-room');
    const asked = ['--task', 'game24', '--model', 'openai:gpt-6-luna', '--limit', '40'];
    const { code, stderr } = await espalier('bench', ...asked, '--out', out, ...options);
    expect(stderr).toMatch(
      /^Not one call of greedy fits 1,000 tokens: [^\n]* Raise the budget, or lower [^\n]*\.\n$/,
    );
    expect([code, existsSync(out)]).toEqual([2, false]);
    expect(fetched).not.toHaveBeenCalled();
  },
);

test.each([
  ['--seed', '--dry-run'],
  ['--out', '--json'],
])('an option does not take the next one for its value: %s %s', async (option, next) => {
  const { code, stderr } = await espalier('bench', ...small, '--no-times', option, next);
  expect(code).toBe(2);
  expect(stderr).toContain(`Expected a value after \`${option}\`, got \`${next}\`.`);
});

test.each([
  ['openai:gpt-6-luna', 'OPENAI_API_KEY'],
  ['groq:llama', 'GROQ_API_KEY'],
])(
  'a dry run of %s without a key estimates, and the benchmark leaves no folder',
  async (model, name) => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const options = [
      '--model',
      model,
      '--out',
      join(folder, 'keyless'),
      '--budgets',
      'tokens=20k',
      '--dry-run',
    ];
    vi.stubEnv(name, undefined);
    const without = await espalier('bench', '--task', 'game24', '--limit', '2', ...options);
    expect([without.code, without.stdout]).toEqual([0, expect.stringContaining('upper bound')]);
    expect(without.stderr).toMatch(
      new RegExp(`^The benchmark itself could not begin: ${model} has no key\\. Set ${name}.*\n$`),
    );
    const wet = await espalier(
      'bench',
      '--task',
      'game24',
      '--limit',
      '2',
      ...options.slice(0, -1),
    );
    expect([wet.code, wet.stderr]).toEqual([2, expect.stringContaining(`${model} has no key.`)]);
    expect(existsSync(join(folder, 'keyless'))).toBe(false);
    vi.stubEnv(name, 'key');
    const withKey = await espalier('bench', '--task', 'game24', '--limit', '2', ...options);
    expect([withKey.code, withKey.stderr]).toEqual([0, '']);
    expect(fetched).not.toHaveBeenCalled();
  },
);

test('a dry run tells how many problems hold no call within a budget', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'key');
  const file = join(folder, 'lengths.jsonl');
  const lines = ['short', 'x'.repeat(30_000)].map((question) => ({ question, answer: '#### 1' }));
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  const asked = ['--task', `gsm8k:${file}`, '--model', 'openai:gpt-4o', '--budgets', 'tokens=2k'];
  const { code, stderr } = await espalier('bench', ...asked, '--dry-run');
  expect(stderr).toMatch(
    /^Note: Not one call of greedy, [^\n]* fits 1 of 2 problems at 2,000 tokens: /,
  );
  expect(code).toBe(0);
});

test.each([[['--dry-run']], [[]]])(
  'reports of somebody else are not written over: %j',
  async (options) => {
    const out = join(folder, `mine${options.length}`);
    mkdirSync(out);
    writeFileSync(join(out, 'report.md'), 'Mine.');
    const asked = ['--no-times', '--out', out, ...options];
    const { code, stderr } = await espalier('bench', ...small, ...asked);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('report.md` was not written by this benchmark'),
    ]);
    expect(readdirSync(out)).toEqual(['report.md']);
    expect(readFileSync(join(out, 'report.md'), 'utf8')).toBe('Mine.');
  },
);

test.each(['report.md', 'report.html'])('nor is a %s placed beside a benchmark', async (name) => {
  const out = join(folder, `beside ${name}`);
  const asked = ['bench', ...small, '--no-times'];
  await espalier(...asked, '--out', out);
  expect((await espalier(...asked, '--out', out)).stderr).toContain('reused, 0 to make.');
  writeFileSync(join(out, name), 'Mine.');
  const { code, stderr } = await espalier(...asked, '--out', out);
  expect([code, stderr]).toEqual([
    2,
    `\`${join(out, name)}\` was not written by this benchmark, which would overwrite it: move it, or choose another \`--out\`.\n`,
  ]);
  expect(readFileSync(join(out, name), 'utf8')).toBe('Mine.');
});

test('a recording that cannot be read leaves no benchmark behind', async () => {
  const [out, cache] = [join(folder, 'unbegun'), join(folder, 'foreign')];
  mkdirSync(cache);
  writeFileSync(join(cache, 'rows.jsonl'), '{"mine": 1}\n');
  const asked = ['--no-times', '--out', out, '--cache', cache];
  const { code, stderr } = await espalier('bench', ...small, ...asked);
  expect([code, stderr]).toEqual([
    2,
    `\`${join(cache, 'rows.jsonl')}\` holds no recorded answers, and all \`.jsonl\` files of the folder are read as such: move it, or choose another folder for \`--cache\` (\`recording\` in code).\n`,
  ]);
  expect(existsSync(join(out, 'run.json'))).toBe(false);
});

test('names that are not of ASCII are kept in the name of the folder', () => {
  const names = ['日本.jsonl', '中国.jsonl'].map(
    (task) => requestFrom(undefined, { task, times: true }).out,
  );
  expect(new Set(names).size).toBe(2);
});
