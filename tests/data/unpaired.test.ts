import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as pairScores from '../../src/data/pairs/pair-scores.ts';
import type { TreeRecord } from '../../src/data/record.ts';
import type { RowRule, UnpairedRow } from '../../src/data/rows.ts';
import * as unpairedRules from '../../src/data/unpaired-rules.ts';
import { property } from '../support/property.ts';
import { canary, example, paths, planted, randomRecords } from './pairs-trees.ts';

const record = planted(example);

function look(rule: RowRule<UnpairedRow>, of: readonly TreeRecord<string, string>[] = [record]) {
  return [...rule.rows(of)].map(
    ({ completion, label, score }) => `${label ? '+' : '-'}${completion[0]?.content} ${score}`,
  );
}

describe('steps', () => {
  test('are wanted from one score up, and not wanted up to another', () => {
    expect(look(unpairedRules.siblings())).toEqual([
      '+a 0.8',
      '+a1 1',
      '-x 0',
      '+y 0.9',
      '-a3 0',
      '-b2 0.2',
      '-c 0.1',
      '-c1 0',
    ]);
    expect(look(unpairedRules.siblings({ from: 0.9, to: 0.05 }))).toEqual([
      '+a1 1',
      '-x 0',
      '+y 0.9',
      '-a3 0',
      '-c1 0',
    ]);
    expect(look(unpairedRules.siblings({ minVisits: 2 }))).toEqual(['+a 0.8', '+a1 1', '-c 0.1']);
    expect(look(unpairedRules.siblings({ minVisits: 0 }))).toContain('+d 0.9');
  });

  test('may be those along the best path, and scored otherwise', () => {
    // Children of the root, of a and of a1.
    expect(look(unpairedRules.siblings({ nodes: 'path' }))).toEqual([
      '+a 0.8',
      '+a1 1',
      '-a3 0',
      '-c 0.1',
    ]);
    const rule = unpairedRules.siblings({ score: pairScores.hardOutcome, nodes: 'path' });
    // b leads to wrong ends only, a2 to a right one too.
    expect(look(rule)).toEqual(['+a 1', '+a1 1', '+a2 1', '-a3 0', '-b 0', '-c 0']);
  });

  test('have the prompt of their parent', () => {
    const row = [...unpairedRules.siblings().rows([record])].at(3);
    expect(row).toMatchObject({
      kind: 'unpaired',
      prompt: [{ role: 'user', content: 'So far: /a/a2' }],
      completion: [{ role: 'assistant', content: 'y' }],
      label: true,
      ends: true,
      provenance: { nodes: [3, 5], depth: 2, visits: [2, 1], rule: 'unpaired-siblings' },
    });
  });
});

describe('whole paths', () => {
  test('are wanted where they end right', () => {
    expect(look(unpairedRules.ends())).toEqual([
      '+a\na1 1',
      '-a\na2\nx 0',
      '+a\na2\ny 1',
      '-a\na3 0',
      '-b\nb1 0',
      '-c\nc1 0',
    ]);
    expect(look(unpairedRules.ends({ minVisits: 2 }))).toEqual(['+a\na1 1', '-b\nb1 0']);
    const [, row] = unpairedRules.ends().rows([record]);
    expect(row?.prompt).toEqual([{ role: 'user', content: 'So far: ' }]);
    expect(row?.provenance).toMatchObject({ nodes: [0, 1, 3, 4], depth: 0, rule: 'unpaired-ends' });
  });

  test('of equal completions the most visited stays', () => {
    const other = planted([
      { text: 'a', below: [{ text: 'a1', visits: 9, end: 0 }] },
      { text: 'c', below: [{ text: 'c1', visits: 1, end: 1 }] },
    ]);
    // a, a1 was visited three times and found right, then nine times and found wrong. c, c1: once each, the first stays.
    expect(look(unpairedRules.ends(), [record, other])).toEqual([
      '-a\na2\nx 0',
      '+a\na2\ny 1',
      '-a\na3 0',
      '-b\nb1 0',
      '-c\nc1 0',
      '-a\na1 0',
    ]);
  });
});

test('labels are balanced: the furthest scores stay', () => {
  // Wanted 0.8, 1, 0.9; not wanted 0, 0, 0.2, 0.1, 0.
  expect(look(unpairedRules.siblings({ maxRatio: 1 }))).toEqual([
    '+a 0.8',
    '+a1 1',
    '-x 0',
    '+y 0.9',
    '-a3 0',
    '-c1 0',
  ]);
  // One and a half for each of three: four.
  expect(look(unpairedRules.siblings({ maxRatio: 1.5 })).filter((row) => row[0] === '-')).toEqual([
    '-x 0',
    '-a3 0',
    '-c 0.1',
    '-c1 0',
  ]);
  // More wanted than not: the highest stay.
  expect(look(unpairedRules.siblings({ maxRatio: 1, to: 0.1, minVisits: 2 }))).toEqual([
    '+a1 1',
    '-c 0.1',
  ]);
  const onlyRight = planted([{ text: 'a', visits: 1, end: 1 }]);
  expect(look(unpairedRules.ends({ maxRatio: 3 }), [onlyRight])).toEqual([]);
  expect(look(unpairedRules.ends(), [onlyRight])).toEqual(['+a 1']);
});

test('a completion that another tree labels otherwise is left out, and counted', () => {
  const [right, wrong] = [1, 0].map((end) => planted([{ text: 'a', visits: 2 - end, end }]));
  if (right === undefined || wrong === undefined) return;
  const reasons: string[] = [];
  const rows = [...unpairedRules.ends().rows([right, wrong], (reason) => reasons.push(reason))];
  expect(rows.map(({ label }) => label)).toEqual([false]);
  expect(reasons).toEqual([expect.stringContaining('the other label')]);
});

test('refuses what is no rule', () => {
  expect(() => unpairedRules.siblings({ from: 0.2 })).toThrow(
    'Expected `to` to be less than `from`, 0.2, got `0.25`.',
  );
  expect(() => unpairedRules.siblings({ minVisits: -1 })).toThrow('`minVisits`');
  expect(() => unpairedRules.siblings({ nodes: 'some' as 'all' })).toThrow('`nodes`');
  expect(() => unpairedRules.ends({ maxRatio: 0.5 })).toThrow('`maxRatio`');
  const silent = planted(example, { notation: { ...paths, prompt: () => [] } });
  expect(() => look(unpairedRules.ends(), [silent])).toThrow('at least one message');
});

const someRules = fc.constantFrom(
  unpairedRules.siblings({ minVisits: 0 }),
  unpairedRules.siblings({ maxRatio: 2 }),
  unpairedRules.ends(),
);

property([randomRecords, someRules])(
  'no two rows are equal, none is empty, and none tells the answer',
  (records, rule) => {
    const rows = [...rule.rows(records)];
    const keys = rows.map(({ prompt, completion }) => JSON.stringify([prompt, completion]));
    expect(new Set(keys).size).toBe(rows.length);
    expect(rows.every(({ completion }) => completion[0]?.content.trim() !== '')).toBe(true);
    expect(JSON.stringify(rows)).not.toContain(canary);
    expect([...rule.rows(records)]).toEqual(rows);
  },
);
