import fc from 'fast-check';
import { expect } from 'vitest';
import type { SearchNode } from '../../src/contracts/node.ts';
import type { PairNodes, PairRule, PairSiblings } from '../../src/data/pairs/pair-rule.ts';
import * as pairRules from '../../src/data/pairs/pair-rules.ts';
import * as pairScores from '../../src/data/pairs/pair-scores.ts';
import { pairsOf } from '../../src/data/pairs/pairs-of.ts';
import { preferences } from '../../src/data/pairs/preferences.ts';
import type { TreeRecord } from '../../src/data/record.ts';
import type { PreferenceRow } from '../../src/data/rows.ts';
import { treeFromJson, treeToJson } from '../../src/tree/serialize.ts';
import { property } from '../support/property.ts';
import { type Bundle, enumeratePairs, placeKey } from './pairs-enumeration.ts';
import { canary, randomRecords } from './pairs-trees.ts';

const allNodes: readonly PairNodes[] = ['all', 'path', 'right-path', 'success-path'];
const allSiblings: readonly PairSiblings[] = [
  'all-above-below',
  'all-ordered',
  'best-vs-all',
  'best-vs-random',
  'best-vs-second',
  'best-vs-worst',
  'path-vs-all',
  'path-vs-worst',
  'success-path-vs-siblings',
];

/** Every filter, off as often as not. Caps are left to a property of their own. */
const filters = fc.record(
  {
    minMargin: fc.constantFrom(0, 0.1, 0.25, 0.5),
    minVisits: fc.nat(2),
    threshold: fc.constantFrom(0.25, 0.5, 0.6),
    requireRight: fc.boolean(),
    requireMixedOutcome: fc.boolean(),
    minEditDistance: fc.nat(4),
    maxLengthRatio: fc.constantFrom(1, 1.5, 3),
  },
  { requiredKeys: [] },
);

const rules: fc.Arbitrary<PairRule> = fc
  .tuple(fc.constantFrom(...allNodes), fc.constantFrom(...allSiblings), filters)
  .chain(([nodes, siblings, chosen]) =>
    fc.constantFrom(pairScores.q, pairScores.hardOutcome).map((score) => ({
      name: 'random',
      nodes,
      siblings,
      score,
      ...chosen,
    })),
  );

const runs = { numRuns: 300 };

property([randomRecords, rules], runs)(
  'pairs are all those, and only those, that an enumeration of all child pairs finds',
  ([record], rule) => {
    if (record === undefined) expect.fail();
    const found = pairsOf(record, rule).map(
      ({ parent, chosen, rejected, margin }) =>
        `${placeKey(record, parent)}: ${chosen.id}>${rejected.id} ${margin}`,
    );
    const expected = enumeratePairs(record, rule);
    const described = expected.map((pair) => describePair(record, pair));
    if (rule.siblings !== 'best-vs-random') {
      expect(found.toSorted()).toEqual(described.toSorted());
      return;
    }
    // One of those at each node that has any.
    const possible = new Set(described);
    expect(found.filter((pair) => !possible.has(pair))).toEqual([]);
    const placeOf = (pair: string) => pair.slice(0, pair.lastIndexOf(': '));
    expect(found.map(placeOf).toSorted()).toEqual([...new Set(described.map(placeOf))].toSorted());
  },
);

function describePair(
  record: TreeRecord<string, string>,
  { parent, chosen, rejected }: ReturnType<typeof enumeratePairs>[number],
) {
  const name = (bundle: Bundle) => bundle.node.id;
  return `${placeKey(record, parent)}: ${name(chosen)}>${name(rejected)} ${chosen.score - rejected.score}`;
}

property([randomRecords, rules, fc.integer({ min: 1, max: 5 })], runs)(
  'caps keep as many as there are, up to the cap, and none that is worse than one that went',
  ([record], rule, cap) => {
    if (record === undefined) expect.fail();
    const all = pairsOf(record, rule);
    const kept = pairsOf(record, { ...rule, maxPairsPerTree: cap });
    const keys = (pairs: typeof all) =>
      pairs.map(({ chosen, rejected }) => `${chosen.id}>${rejected.id}`);
    const keptKeys = new Set(keys(kept));
    const gone = all.filter((pair) => !keptKeys.has(keys([pair])[0] ?? ''));

    expect(kept).toHaveLength(Math.min(cap, all.length));
    expect(keys(kept)).toEqual(keys(all).filter((key) => keptKeys.has(key)));
    for (const { margin } of gone) {
      expect(kept.every((pair) => pair.margin >= margin)).toBe(true);
    }
    const perNode = pairsOf(record, { ...rule, maxPairsPerNode: cap });
    for (const { parent } of all) {
      const here = (pairs: typeof all) => pairs.filter((pair) => pair.parent === parent);
      expect(here(perNode)).toHaveLength(Math.min(cap, here(all).length));
    }
  },
);

/**
 * Rows that an enumeration finds: of equal ones the one with the largest margin, none that another contradicts. The
 * space around a text does not count.
 */
function enumerateRows(records: readonly TreeRecord<string, string>[], rule: PairRule) {
  const margins = new Map<string, number>();
  for (const record of records) {
    for (const { parent, chosen, rejected } of enumeratePairs(record, rule)) {
      const prompt = JSON.stringify(record.notation.prompt(parent.state ?? ''));
      const key = JSON.stringify([prompt, chosen.node.action.trim(), rejected.node.action.trim()]);
      const margin = chosen.score - rejected.score;
      margins.set(key, Math.max(margin, margins.get(key) ?? 0));
    }
  }
  // Of two that contradict each other the one with the larger margin, and neither of equal ones.
  return new Map(
    [...margins].filter(([key, margin]) => {
      const [prompt, chosen, rejected] = JSON.parse(key);
      return margin > (margins.get(JSON.stringify([prompt, rejected, chosen])) ?? -1);
    }),
  );
}

property([randomRecords, rules], runs)(
  'rows are the pairs of all trees, each once, with the largest margin',
  (records, rule) => {
    fc.pre(rule.siblings !== 'best-vs-random');
    const rows = [...preferences(rule).rows(records)];
    const expected = enumerateRows(records, rule);

    const contentOf = (side: PreferenceRow['chosen']) => side[0]?.content.trim();
    const found = rows.map(({ prompt, chosen, rejected, margin }) => [
      JSON.stringify([JSON.stringify(prompt), contentOf(chosen), contentOf(rejected)]),
      margin,
    ]);
    expect(new Map(found as [string, number][])).toEqual(expected);
    expect(rows).toHaveLength(expected.size);
    expect([...preferences({ ...rule, maxPairsPerProblem: 2 }).rows(records)]).toHaveLength(
      Math.min(2, expected.size),
    );
  },
);

const presets = fc.constantFrom(
  pairRules.mctsDpo(),
  pairRules.mctsDpo({ rejected: 'random', minVisits: 1 }),
  pairRules.agentQ(),
  pairRules.stepApo(),
  pairRules.toolPreference(),
  pairRules.stepQ({ rejected: 'all' }),
  pairRules.stepDpo(),
  pairRules.rStarMath({ minEditDistance: 0, minMargin: 0 }),
  pairRules.spar({ by: 'score' }),
  pairRules.trajectory(),
  pairRules.trajectory({ by: 'score', paths: 'all-ordered' }),
);

property([randomRecords, presets], runs)('rows of every preset are sound', (records, preset) => {
  const rows = [...preset.rows(records)];
  for (const row of rows) {
    const record = records.find((one) => one.id === row.provenance.tree) ?? expect.fail();
    const [parent, ...sides] = row.provenance.nodes.map((id) => record.tree.node(id));
    if (parent === undefined) expect.fail();
    const isWhole = ['spar', 'trajectory'].includes(preset.name);

    expect(row.prompt).toEqual(record.notation.prompt(parent.state as string));
    expect(textOf(row.chosen)).not.toBe(textOf(row.rejected));
    expect(textOf(row.chosen)).not.toBe('');
    expect(textOf(row.rejected)).not.toBe('');
    expect(row.margin).toBe(row.chosenScore - row.rejectedScore);
    expect(row.margin).toBeGreaterThan(0);
    expect(row.weight).toBeGreaterThan(0);
    expect(row.labelSmoothing).toBeGreaterThanOrEqual(0);
    expect(row.labelSmoothing).toBeLessThanOrEqual(0.5);
    if (isWhole) expect(parent.kind).toBe('root');
    else {
      const place = placeKey(record, parent);
      for (const side of sides) expect(placeKey(record, side.parent ?? side)).toBe(place);
    }
  }
  expect(JSON.stringify(rows)).not.toContain(canary);
  expect(new Set(rows.map(keyOf)).size).toBe(rows.length);
});

property([randomRecords, presets], runs)('equal trees give equal rows', (records, preset) => {
  const rows = [...preset.rows(records)];
  const copies = records.map((record) => ({
    ...record,
    tree: treeFromJson<string, string>(JSON.stringify(treeToJson(record.tree))),
  }));

  expect([...preset.rows(records)]).toEqual(rows);
  expect([...preset.rows(copies)]).toEqual(rows);
});

function textOf(messages: readonly { readonly content: string }[]): string {
  return messages
    .map(({ content }) => content)
    .join('\n')
    .trim();
}

function keyOf({ prompt, chosen, rejected }: PreferenceRow): string {
  return JSON.stringify([prompt, chosen, rejected]);
}

property([randomRecords], runs)(
  'rStar-Math goes below what is split, and nowhere else',
  (records) => {
    const rule = pairRules.rStarMath({ minEditDistance: 0, minMargin: 0 });
    for (const record of records) {
      for (const { provenance, weight } of rule.rows([record])) {
        const [parent] = provenance.nodes;
        let node: SearchNode | undefined = record.tree.node(parent ?? -1);
        for (; node !== undefined; node = node.parent) {
          const outcomes = outcomesBehind(record, node);
          expect(outcomes).toEqual(new Set([true, false]));
        }
        expect([1, 1 / 2, 1 / 3, 1 / 4]).toContain(weight);
      }
    }
  },
);

/** The outcomes of all ends behind the step of a node, each checked by its path. */
function outcomesBehind(record: TreeRecord<string, string>, at: SearchNode): ReadonlySet<boolean> {
  const outcomes = new Set<boolean>();
  const stepOf = (node: SearchNode) => [
    node.parent && placeKey(record, node.parent as SearchNode<string, string>),
    (node.action as string | undefined)?.trim(),
  ];
  const step = JSON.stringify(stepOf(at));
  for (const end of record.tree.nodes()) {
    const isEnd = (end.terminal || end.answer) && end.status !== 'failed';
    const score = record.tree.score(end);
    if (!isEnd || score === undefined) continue;
    for (let node: SearchNode | undefined = end; node !== undefined; node = node.parent) {
      if (JSON.stringify(stepOf(node)) === step) outcomes.add(score >= (record.correctFrom ?? 1));
    }
  }
  return outcomes;
}
