import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { datasetFormats, rowRules, ruleNamed } from '../../src/data/catalogue.ts';
import { mathShepherd } from '../../src/data/labels/math-shepherd.ts';
import * as pairRules from '../../src/data/pairs/pair-rules.ts';

test('every rule has the name and the kind that it is listed with', () => {
  const made = rowRules.map((entry) => ({ entry, rule: entry.create() }));
  expect(made.map(({ rule }) => [rule.name, rule.kind])).toEqual(
    made.map(({ entry }) => [entry.name, entry.kind]),
  );
  expect(new Set(rowRules.map(({ name }) => name)).size).toBe(rowRules.length);
});

test('every rule says what it makes, and keeps the options that it was made with', () => {
  expect(rowRules.filter(({ title }) => title === undefined)).toEqual([]);
  expect(pairRules.mctsDpo({ rightOnly: true })).toMatchObject({
    name: 'mcts-dpo',
    options: { rightOnly: true },
    paper: 'Xie et al., 2024, arXiv 2405.00451',
  });
});

test('the guide lists every rule and every format', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/datasets.md'), 'utf8');
  const listed = guide
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([\w-]+)`/g)])
    .map(([, name]) => name);
  for (const { name } of [...rowRules, ...datasetFormats]) expect(listed).toContain(name);
});

test('a rule is found by its name', () => {
  expect(ruleNamed('math-shepherd')?.create().name).toBe(mathShepherd().name);
  expect(ruleNamed('q-star')).toBeUndefined();
});
