import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import {
  budgetsOf,
  parseBudgets,
  parseCheck,
  readSuite,
  suiteSchema,
} from '../../src/bench/suite.ts';
import { benchCommand } from '../../src/cli/bench-options.ts';
import { algorithmNames } from '../../src/runs/algorithms.ts';
import { methodNames } from '../../src/runs/methods.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-suite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function suite(text: string) {
  const path = join(folder, 'suite.yaml');
  writeFileSync(path, text);
  return readSuite(path);
}

test('a suite holds a whole benchmark', () => {
  const read = suite(
    'task: game24\nmethods: [mcts, beam]\nbudgets:\n  tokens: [500, 2k, 1.5M]\n  usd: 0.01\nseeds: 3\nfailIfWorse:\n  - mcts:best-of-n@2k\n',
  );
  expect(read).toMatchObject({ task: 'game24', methods: ['mcts', 'beam'], seeds: 3 });
  expect(budgetsOf(read.budgets ?? {})).toEqual([
    { unit: 'tokens', limit: 500 },
    { unit: 'tokens', limit: 2_000 },
    { unit: 'tokens', limit: 1_500_000 },
    { unit: 'usd', limit: 0.01 },
  ]);
});

test('a suite holds what the options say, but for those of the output', () => {
  const options = benchCommand().options.map((option) => option.attributeName());
  const { shape } = suiteSchema as z.ZodObject;
  expect(Object.keys(shape).sort()).toEqual(
    options.filter((name) => name !== 'dryRun' && name !== 'json').sort(),
  );
  for (const kind of Object.values(shape)) expect((kind as z.ZodType).description).toMatch(/\.$/);
  const money = 'priceIn: 0.1\npriceOut: 0.4\nbudgetUsd: 5\nmaxTokens: 90\ncache: bench/bought\n';
  expect(suite(`${money}times: false\nreplay: runs/one\neffort: low\n`)).toEqual({
    ...{ priceIn: 0.1, priceOut: 0.4, budgetUsd: 5, maxTokens: 90, cache: 'bench/bought' },
    ...{ times: false, replay: 'runs/one', effort: 'low' },
  });
});

test.each([
  ['task: [', 'is not valid YAML: '],
  ['a: &a [x]\nb: *a', 'is not valid YAML: '],
  ['', 'suite.yaml` is empty: a suite holds options such as `task: game24`.'],
  ['- a', 'suite.yaml` to be an object with keys such as task: game24, got an array of 1.'],
  [
    'task: game24\n---\ntask: tiles',
    'suite.yaml` holds several YAML documents, and a suite is one',
  ],
  [
    'failIfWorse: [mcts]',
    /^Expected `failIfWorse.0` in `.*suite.yaml` to be a check such as mcts:best-of-n@8k or .*, got `"mcts"`\.$/,
  ],
  ['method: [mcts]', /^Unknown key `method` in `.*suite.yaml`. Did you mean `methods`\?$/],
  ['fail-if-worse: [a]', 'Unknown key `fail-if-worse` in `', 'Did you mean `failIfWorse`?'],
  ['price-in: 1', 'Did you mean `priceIn`?'],
  ['colour: red', 'It has task, replay, split, limit,'],
  ['budgets: { token: 2k }', 'Unknown key `token` in `budgets` in `', 'Did you mean `tokens`?'],
  [
    'budgets: { tokens: -1 }',
    /^Expected `budgets.tokens` in `.*` to be an amount above 0 such as 2k or 1.5M, or a list of them, got `-1`.$/,
  ],
  ['budgets: { tokens: [1k, 2x] }', 'to be an amount above 0 such as 2k', 'got `"2x"`.'],
  ['budgets: 3', 'Expected `budgets` in `', 'to be limits by unit'],
  ['seeds: 0', 'Expected `seeds` in `', 'to be a whole number from 1 up, got `0`.'],
  ['task: 3', 'to be a text, got `3`.'],
  ['methods: mcts', 'to be a list of texts, got `"mcts"`.'],
  ['temperature: hot', 'to be a number from 0 up, got `"hot"`.'],
])('%j is refused by name', (text, ...messages) => {
  for (const message of messages) expect(() => suite(text)).toThrow(message);
});

test.each([
  [
    'tokens=2k,8k',
    [
      ['tokens', 2_000],
      ['tokens', 8_000],
    ],
  ],
  ['usd=0.5', [['usd', 0.5]]],
  [
    'tokens=1M;calls=30',
    [
      ['tokens', 1e6],
      ['calls', 30],
    ],
  ],
])('%s are budgets', (text, expected) => {
  expect(parseBudgets(text).map(({ unit, limit }) => [unit, limit])).toEqual(expected);
});

test.each(['', '2k', 'token=2k', 'tokens=', 'tokens=0', 'tokens=2k,', 'tokens=1e9', 'tokens=2kk'])(
  '%j is no budget',
  (text) => {
    expect(() => parseBudgets(text)).toThrow('Expected `--budgets` as in tokens=2k,8k,32k');
  },
);

test('a check names two methods and a budget', () => {
  expect(parseCheck('mcts:best-of-n@8k')).toEqual({
    method: 'mcts',
    than: 'best-of-n',
    limit: 8_000,
  });
  expect(parseCheck('mcts:best-of-n@calls=8')).toEqual({
    ...{ method: 'mcts', than: 'best-of-n', unit: 'calls', limit: 8 },
  });
  for (const text of [
    'a:b@call=8',
    'mcts',
    'mcts:best-of-n',
    'mcts@8k',
    'a:b:c@8k',
    'a:b@',
    'a:b@x',
  ]) {
    expect(() => parseCheck(text)).toThrow('Expected a check such as mcts:best-of-n@8k');
  }
});

test('the published schema is that of the code', () => {
  const path = join(import.meta.dirname, '../../schemas/bench-suite.json');
  const published = JSON.parse(readFileSync(path, 'utf8'));
  expect(published).toEqual(z.toJSONSchema(suiteSchema));
  expect(published.properties.methods.items.anyOf[0].enum).toEqual([
    ...algorithmNames,
    ...methodNames,
  ]);
});

test('numbers are taken as they are, empty paths and large files refused', () => {
  const { budgets = {} } = suite('budgets: { tokens: 9e99, usd: 0.0000001 }');
  expect(budgetsOf(budgets)).toEqual([
    { unit: 'tokens', limit: 9e99 },
    { unit: 'usd', limit: 1e-7 },
  ]);
  for (const key of ['out', 'cache', 'inspect']) {
    expect(() => suite(`${key}: ""`)).toThrow(`Expected \`${key}\``);
  }
  expect(() => suite(`# ${'x'.repeat(1_000_000)}`)).toThrow('a suite of at most 1 MB, got 1.0 MB');
});
