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

test.each([
  ['task: [', 'is no YAML: '],
  ['seeds: 2', '`task`: '],
  ['task: game24\nseed: 1\nbudget: 3', 'budget'],
  ['task: game24\nbudgets: { token: 2k }', 'token'],
  ['task: game24\nbudgets: { tokens: -1 }', '`budgets.tokens`'],
  ['task: game24\nseeds: 0', '`seeds`'],
  ['a: &a [x]\nb: *a', 'is no YAML: '],
])('%j is refused by name', (text, message) => {
  expect(() => suite(text)).toThrow(message);
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
  for (const text of ['mcts', 'mcts:best-of-n', 'mcts@8k', 'a:b:c@8k', 'a:b@', 'a:b@x']) {
    expect(() => parseCheck(text)).toThrow('Expected a check such as mcts:best-of-n@8k');
  }
});

test('the published schema is that of the code', () => {
  const path = join(import.meta.dirname, '../../schemas/bench-suite.json');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(z.toJSONSchema(suiteSchema));
});
