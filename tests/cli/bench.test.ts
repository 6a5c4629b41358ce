import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Compared } from '../../src/bench/bench.ts';
import type { BenchCell } from '../../src/bench/cell.ts';
import type { BenchBudget, BenchReport } from '../../src/bench/report.ts';
import { failedChecks } from '../../src/cli/bench-checks.ts';
import type { BenchArguments } from '../../src/cli/bench-options.ts';
import { requestFrom } from '../../src/cli/bench-request.ts';
import { exampleCells, exampleReport } from '../support/bench-reports.ts';
import { build, espalier, fileIn, start } from './espalier.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-cli-bench-'));
beforeAll(build, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const small = ['--task', 'game24', '--limit', '4', '--budgets', 'calls=8,16', '--no-times'];

test('measures, keeps the report, and goes on with more', async () => {
  const out = join(folder, 'small');
  const { code, stdout } = await espalier('bench', ...small, '--out', out);
  expect(code).toBe(0);
  expect(stdout).toContain('Model: espalier-tiny, the toy that comes with the package');
  expect(stdout).toMatch(/^best-of-n +16 calls +4 /m);
  expect(stdout).toContain('Undecided. 4 independent problems are too few. Use 30 or more.');
  expect(stdout).not.toContain('Only 4');
  expect(stdout).toContain('\nColumns are explained in report.md.\n');
  for (const name of ['report.json', 'report.md', 'report.html']) {
    expect(existsSync(join(out, name))).toBe(true);
  }
  const again = await espalier('bench', ...small, '--methods', 'mcts,beam', '--out', out, '--json');
  expect(again.stderr).toContain('24 searches reused, 8 to make.\n');
  const report = JSON.parse(again.stdout) as BenchReport;
  expect(report.points.map(({ method }) => method)).toContain('beam');
  expect(readFileSync(join(out, 'report.json'), 'utf8')).toContain('"beam"');
  // What was typed, without what changes only the output.
  const typed = `espalier bench ${small.join(' ')} --methods mcts,beam --out ${out}`;
  expect(readFileSync(join(out, 'report.md'), 'utf8')).toContain(`\`\`\`sh\n${typed}\n\`\`\``);
  expect(readFileSync(join(out, 'report.html'), 'utf8')).toContain(`<code>${typed}</code>`);
}, 60_000);

test('ends with 1 where every search failed, however few they were', async () => {
  const instance = (id: string, state: string) => `{
    id: '${id}',
    guides: { policy: { propose: () => [{ action: 1 }] }, evaluator: () => 0.5 },
    environment: {
      name: 'lift',
      reset: () => ({ state: ${state} }),
      step: () => ({ state: 1, terminal: true, reward: 1 }),
      notation: { prompt: () => [], format: String, parse: () => ({ action: 1 }) },
    },
  }`;
  const broken = instance('a', "(() => { throw new Error('The lift is out of order.'); })()");
  const measure = async (name: string, ...instances: readonly string[]) => {
    const task = join(folder, `${name}.mjs`);
    const all = `[${instances.join(', ')}]`;
    writeFileSync(task, `export default { name: 'lift', title: 'Lift', instances: () => ${all} };`);
    const options = ['--task', task, '--budgets', 'calls=5', '--no-times'];
    return espalier('bench', ...options, '--out', join(folder, name));
  };
  const vain = await measure('vain', broken);
  expect(vain.stderr).toBe('');
  expect(vain.stdout).not.toContain('STOPPED');
  expect(vain.code).toBe(1);
  expect((await measure('half', broken, instance('b', '0'))).code).toBe(0);
});

test('is killed at any time, and comes to the same report', async () => {
  const args = [...small, '--limit', '12', '--seeds', '2', '--methods', 'mcts,beam', '--out'];
  const whole = join(folder, 'whole');
  await espalier('bench', ...args, whole);
  const out = join(folder, 'killed');
  for (const ms of [700, 900, 1_100, 1_300]) {
    const { process: child, finished } = start('bench', ...args, out);
    setTimeout(() => child.kill('SIGKILL'), ms);
    await finished;
  }
  const { code } = await espalier('bench', ...args, out);
  expect(code).toBe(0);
  const [expected, found] = [whole, out].map(
    (path) => JSON.parse(readFileSync(join(path, 'report.json'), 'utf8')) as BenchReport,
  );
  // What a kill lost on its way was bought twice.
  const comparable = (report = expected) => ({
    ...report,
    spend: report?.spend.charged,
    points: report?.points.map(({ reused: _, cold: __, ...point }) => point),
    sum: null,
  });
  expect(comparable(found)).toEqual(comparable());
}, 240_000);

test('reads a suite, in which the command line has the last word', async () => {
  const path = join(folder, 'suite.yaml');
  const out = join(folder, 'suite');
  writeFileSync(path, 'task: game24\nlimit: 9\nmethods: [beam]\nbudgets: { calls: 8 }\nseeds: 2\n');
  const { stdout } = await espalier(
    ...['bench', path, '--limit', '2', '--no-times', '--out', out, '--json'],
  );
  const { task, seeds, points } = JSON.parse(stdout) as BenchReport;
  expect([task.instances, seeds]).toEqual([2, 2]);
  expect(points.map(({ method, n }) => [method, n])).toEqual([
    ['greedy', 4],
    ['best-of-n', 4],
    ['beam', 4],
  ]);
}, 60_000);

test('says beforehand what it may cost, and spends nothing', async () => {
  const out = join(folder, 'dry');
  const { code, stdout } = await espalier(
    ...[
      'bench',
      '--task',
      'game24',
      '--limit',
      '20',
      '--seeds',
      '2',
      '--budgets',
      'tokens=32k,64k',
    ],
    ...['--model', 'openai:gpt-6-luna', '--dry-run', '--out', out],
  );
  expect(code).toBe(0);
  expect(stdout).toContain('20 problems, 3 methods, 2 budgets, 2 seeds: 240 searches.');
  // 20 · 2 · 3 searches at 32,000 and at 64,000 tokens.
  expect(stdout).toMatch(
    /^Budgets in tokens, 240 searches: upper bound 11,520,000 tokens \(at most \$[\d.]+\); likely to pay 7,680,000 tokens \(at most \$[\d.]+\) or less \(shared requests are paid once\)\.$/m,
  );
  expect(existsSync(out)).toBe(false);
});

test('says for each unit of budget what it bounds, and in a suite too', async () => {
  const path = join(folder, 'units.yaml');
  writeFileSync(path, 'task: game24\nlimit: 5\nbudgets: { tokens: 1k, calls: 8, usd: 0.01 }\n');
  const prices = ['--price-in', '1', '--price-out', '1'];
  const { stdout } = await espalier('bench', path, '--dry-run', ...prices);
  expect(stdout.trim().split('\n').slice(2)).toEqual([
    '5 problems, 3 methods, 3 budgets, 1 seed: 45 searches.',
    'Budgets in tokens, 15 searches: upper bound 15,000 tokens (at most $0.015); likely to pay 15,000 tokens (at most $0.015) or less (shared requests are paid once).',
    'Budgets in calls, 15 searches: upper bound 120 calls; likely to pay 120 calls or less (shared requests are paid once). A budget in calls bounds neither tokens nor dollars.',
    'Budgets in dollars, 15 searches: upper bound $0.15; likely to pay $0.15 or less (shared requests are paid once).',
  ]);
});

test('a folder for logs that cannot be made is refused before anything is bought', async () => {
  const file = fileIn(folder, 'file.txt', 'Mine.');
  const out = join(folder, 'no-logs');
  const { code, stderr } = await espalier('bench', ...small, '--out', out, '--inspect', file);
  expect([code, existsSync(out)]).toEqual([2, false]);
  expect(stderr).toContain(file);
});

test.each([
  [['--methods', 'mctss'], 'There is no method `"mctss"`. Did you mean `mcts`?'],
  [['--baseline', 'nothing'], 'Expected `baseline` to be one of greedy, best-of-n, mcts'],
  [['--budgets', 'calls=8,8'], 'Expected `budgets` to be unique, got'],
])('%j is refused before the estimate too', async (options, message) => {
  const { stderr, code } = await espalier(
    ...['bench', '--task', 'game24', '--dry-run'],
    ...options,
  );
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test.each([
  [['--task', 'gam24'], 'There is no task `"gam24"`. Did you mean `game24`?'],
  [[...small, '--methods', 'mctss'], 'There is no method `"mctss"`. Did you mean `mcts`?'],
  [[...small, '--budgets', '2k'], 'Expected `--budgets` as in tokens=2k,8k,32k'],
  [[...small, '--fail-if-worse', 'mcts'], 'Expected a check such as mcts:best-of-n@8k'],
  [
    [...small, '--fail-if-worse', 'mcts:lats@8'],
    'Expected `--fail-if-worse` or `failIfWorse` to be a check of two methods of the benchmark (greedy, best-of-n, mcts), got `"lats"`.',
  ],
  [
    [...small, '--fail-if-worse', 'mcts:greedy@tokens=8'],
    'to be a check at a budget of the benchmark (calls=8, calls=16), got `"tokens=8"`.',
  ],
  [
    [...small, '--methods', 'mcts,self-consistency'],
    '`self-consistency` lets answers vote, and the problems of `game24` have no answers to vote on. Leave it out of the methods.',
  ],
  [
    [...small, '--methods', 'mcts,beam,mcts'],
    'Expected `methods` to be unique, got `"mcts"` twice.',
  ],
  [[...small, '--effort', 'low'], '`--effort` changes nothing with `--model tiny`: leave it out'],
  [
    [...small, '--model', 'none', '--key-variable', 'KEY'],
    '`--key-variable` changes nothing with `--model none`: leave it out',
  ],
  [
    ['--task', 'shop', '--model', 'none'],
    'Expected `--model` to name a model, got `none`: what is asked can only be searched with one.',
  ],
  [
    ['problems.jsonl'],
    'A suite is a YAML file with options: name problems or a task as `--task problems.jsonl`.',
  ],
  [[], 'Expected `--task`, `--replay` or a suite'],
  [['nowhere.yaml'], '`nowhere.yaml`'],
  [['--task', 'questions:none.jsonl', '--model', 'ollama:x'], 'none.jsonl'],
])('%j is refused in one sentence', async (args, message) => {
  const out = join(folder, 'refused');
  const { code, stderr } = await espalier('bench', ...args, '--out', out);
  expect(stderr).toContain(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(code).toBe(2);
  expect(existsSync(out)).toBe(false);
});

test('fails where a method is worse than it may be', async () => {
  const out = join(folder, 'checked');
  const options = ['--task', 'game24', '--limit', '60', '--budgets', 'tokens=1k', '--no-times'];
  const { code, stdout } = await espalier(
    ...['bench', ...options, '--temperature', '0.7', '--out', out],
    ...['--fail-if-worse', 'greedy:mcts@1k', '--fail-if-worse', 'mcts:greedy@1k'],
  );
  expect(stdout).toMatch(
    /^Failed: greedy is worse than mcts at 1,000 tokens: −\d+\.\d \[.*\] points\.$/m,
  );
  expect(stdout).not.toContain('mcts is worse than greedy');
  expect(code).toBe(1);
}, 120_000);

const priced = ['--price-in', '1000', '--price-out', '1000', '--budget-usd', '0.5'];

test('says first that it was stopped, how to go on, and fails checks of what is not measured', async () => {
  const out = join(folder, 'spent');
  const check = ['--fail-if-worse', 'mcts:best-of-n@16'];
  const { code, stdout } = await espalier('bench', ...small, ...priced, ...check, '--out', out);
  expect(stdout).toMatch(
    /^STOPPED: the budget of the benchmark is spent; \d+ searches are left\. Raise `--budget-usd` and run the same command to continue\.\n/,
  );
  expect(stdout).toMatch(/^Failed: .* at 16 calls .*: the budget was spent\.$/m);
  expect(code).toBe(1);
  expect(readFileSync(join(out, 'report.md'), 'utf8')).toContain('\n**STOPPED: the budget');
  const again = await espalier('bench', ...small, ...priced, ...check, '--json', '--out', out);
  expect(() => JSON.parse(again.stdout) as unknown).not.toThrow();
  expect(again.stderr).toMatch(/^\d+ searches? reused, \d+ to make\.\nSTOPPED: .*\nFailed: /);
}, 60_000);

test('keeps benchmarks that are others in folders of their own', () => {
  const of = (more: Partial<BenchArguments>) =>
    requestFrom(undefined, { task: 'game24', times: true, ...more }).out;
  expect(of({})).toBe(join('bench', 'game24'));
  const others = [
    of({ model: 'ollama:qwen3' }),
    of({ temperature: 0.7 }),
    of({ seed: 1 }),
    of({ split: 'all' }),
    of({ effort: 'low' }),
    of({ maxTokens: 64 }),
    of({ policy: './policy.js' }),
    of({ times: false }),
  ];
  expect(others[0]).toBe(join('bench', 'game24-ollama-qwen3'));
  expect(new Set([of({}), ...others]).size).toBe(9);
  expect(of({ methods: ['beam'], seeds: 2, limit: 3 })).toBe(of({}));
});

test('takes the task of the command line and not the run of the suite', () => {
  const path = join(folder, 'replay.yaml');
  writeFileSync(path, 'replay: runs/one\ntimes: false\nmaxTokens: 20\n');
  const of = (more: Partial<BenchArguments>) => requestFrom(path, { times: true, ...more });
  expect(of({})).toMatchObject({ task: 'runs/one', replay: 'runs/one', times: false });
  expect(of({ task: 'game24' })).toMatchObject({ task: 'game24', maxTokens: 20 });
  expect(of({ task: 'game24' })).not.toHaveProperty('replay');
});

test.each([
  [{ replay: 'runs/one', task: 'game24' }, 'task'],
  [{ replay: 'runs/one', model: 'tiny' }, 'model'],
] as const)('refuses %j, which contradict each other', (given, name) => {
  expect(() => requestFrom(undefined, { times: true, ...given })).toThrow(
    `\`replay\` and \`${name}\` contradict each other`,
  );
});

test('searches with steps no longer than was asked for', async () => {
  const out = join(folder, 'short');
  const args = ['--limit', '2', '--budgets', 'calls=8', '--no-times', '--max-tokens', '2'];
  const { stdout } = await espalier(
    ...['bench', '--task', 'game24', ...args, '--out', out, '--json'],
  );
  // No step of two tokens is a whole one.
  const { points } = JSON.parse(stdout) as BenchReport;
  for (const { accuracy, outputTokens, calls } of points) {
    expect(accuracy).toBe(0);
    expect(outputTokens).toBeLessThanOrEqual(2 * 8 * calls);
  }
}, 60_000);

describe('checks', () => {
  const budget = { unit: 'calls', limit: 300 } as const;
  const tokens = { unit: 'tokens', limit: 300 } as const;
  const measures = { methods: ['best-of-n', 'mcts'], budgets: [tokens, budget], searches: 40 };
  const cells = (method: string, of: BenchBudget, more: Partial<BenchCell>) =>
    Array.from({ length: 40 }, (_, place) => ({
      ...(exampleCells(exampleReport({ problems: 1, seeds: 1 }))[0] as BenchCell),
      ...{ instance: `${place}`, cluster: `${place}`, method, budget: of },
      ...{ status: 'scored' as const, isGuided: false, ...more },
    }));
  const found = (...all: readonly (readonly BenchCell[])[]): Compared => ({
    ...{ report: exampleReport({ guided: [] }), cells: all.flat() },
    ...{ stopReason: 'finished', unfinished: 0 },
  });
  const check = { method: 'mcts', than: 'best-of-n', limit: 300 };
  const good = [
    cells('mcts', tokens, { right: true }),
    cells('best-of-n', tokens, { right: true }),
  ];

  test('look at all units that have the limit, or at the one that is named', () => {
    const bad = [
      cells('mcts', budget, { right: false }),
      cells('best-of-n', budget, { right: true }),
    ];
    const of = (unit?: BenchBudget['unit']) =>
      failedChecks([{ ...check, ...(unit !== undefined && { unit }) }], found(...good, ...bad), {
        ...measures,
      });
    const worse = [
      expect.stringMatching(/^Failed: mcts is worse than best-of-n at 300 calls: −100\.0/),
    ];
    expect(of()).toEqual(worse);
    expect(of('calls')).toEqual(worse);
    expect(of('tokens')).toEqual([]);
  });

  test('fail where all searches of a method failed, and where some were not made', () => {
    const failed = cells('mcts', tokens, { status: 'failed', reason: 'It broke.' });
    const other = cells('best-of-n', tokens, { status: 'failed', reason: 'It broke.' });
    const one = { ...measures, budgets: [tokens] };
    expect(failedChecks([check], found(failed, other), one)).toEqual([
      'Failed: all searches of mcts at 300 tokens failed.',
      'Failed: all searches of best-of-n at 300 tokens failed.',
    ]);
    const spent = {
      ...found(good[0] ?? [], (good[1] ?? []).slice(3)),
      stopReason: 'budget',
    } as const;
    expect(failedChecks([check], spent, one)).toEqual([
      'Failed: only 37 of 40 searches of best-of-n at 300 tokens have been made: the budget was spent.',
    ]);
  });
});
