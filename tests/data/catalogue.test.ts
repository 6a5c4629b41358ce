import { expect, test } from 'vitest';
import { rowRules, ruleNamed } from '../../src/data/catalogue.ts';
import { mathShepherd } from '../../src/data/labels/math-shepherd.ts';

test('every rule has the name and the kind that it is listed with', () => {
  const made = rowRules.map((entry) => ({ entry, rule: entry.create() }));
  expect(made.map(({ rule }) => [rule.name, rule.kind])).toEqual(
    made.map(({ entry }) => [entry.name, entry.kind]),
  );
  expect(new Set(rowRules.map(({ name }) => name)).size).toBe(rowRules.length);
});

test('a rule is found by its name', () => {
  expect(ruleNamed('math-shepherd')?.create().name).toBe(mathShepherd().name);
  expect(ruleNamed('q-star')).toBeUndefined();
});
