import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { SearchNode } from '../../src/contracts/node.ts';
import * as stepLabels from '../../src/data/labels/step-labels.ts';
import type { TreeRecord } from '../../src/data/record.ts';
import type { RowRule, StepwiseRow } from '../../src/data/rows.ts';
import { treeFromJson, treeToJson } from '../../src/tree/serialize.ts';
import { SearchTree } from '../../src/tree/tree.ts';
import { property } from '../support/property.ts';

type Node = SearchNode<string, string>;

const canary = 'CANARY-4711';

interface Seedling {
  readonly parent: number;
  readonly word: number;
  readonly kind: 'answer' | 'duplicate' | 'failed' | 'inner' | 'terminal';
  readonly reward: number;
  readonly value: number;
}

const seedling: fc.Arbitrary<Seedling> = fc.record({
  parent: fc.nat(1000),
  word: fc.nat(5),
  kind: fc.constantFrom('answer', 'duplicate', 'failed', 'inner', 'inner', 'terminal', 'terminal'),
  reward: fc.constantFrom(0, 0, 1),
  value: fc.double({ min: 0, max: 1, noNaN: true }),
});
const forest = fc.array(fc.array(seedling, { minLength: 1, maxLength: 25 }), {
  minLength: 1,
  maxLength: 3,
});

function recordOf(tree: SearchTree<string, string>, id: string): TreeRecord<string, string> {
  return {
    problem: 'p',
    id,
    tree,
    answer: canary,
    notation: {
      prompt: (state) => [{ role: 'user', content: `Task. So far: ${state}` }],
      format: (action) => action,
    },
  };
}

function grow(seedlings: readonly Seedling[], id: string): TreeRecord<string, string> {
  const tree = new SearchTree<string, string>('', { environment: 'words', seed: 3 });
  for (const { parent, word, kind, reward, value } of seedlings) {
    const open: Node[] = [...tree.nodes()].filter(
      (node) => !node.terminal && node.status === 'open' && node.duplicateOf === undefined,
    );
    const above = open[parent % open.length] ?? tree.root;
    const [child] = tree.add(above, [{ action: `w${word}-${above.children.length}`, prior: 0.1 }]);
    if (child === undefined) throw new Error('A child was added.');
    const state = `${above.state ?? ''}/${child.action}`;
    if (kind === 'failed') tree.fail(child, { kind: 'call', message: 'It broke.' });
    else tree.realise(child, { state, terminal: kind === 'terminal', answer: kind === 'answer' });
    if (kind === 'duplicate') tree.merge(child, tree.node(1));
    if (kind === 'terminal' || kind === 'answer') tree.addEvaluation(child, { value: reward });
    if (kind === 'inner') tree.addEvaluation(child, { value });
  }
  return recordOf(tree, id);
}

const rules: readonly RowRule<StepwiseRow>[] = [
  stepLabels.mathShepherd(),
  stepLabels.mathShepherd({ paths: 'leaves', from: 'evaluation' }),
  stepLabels.mathShepherd({ paths: 'balanced' }),
  stepLabels.restMcts({ paths: 'leaves' }),
  stepLabels.omegaPrm(),
  stepLabels.prm800k(),
  stepLabels.pav({ paths: { best: 3 } }),
];

function actionsTo(node: Node): readonly string[] {
  return node.kind === 'root' ? [] : [...actionsTo(node.parent), node.action.trim()];
}

/** The share of right ends of all trees, by looking at every end whether its path begins with these steps. */
function shareBehind(
  records: readonly TreeRecord<string, string>[],
  steps: readonly string[],
): number | undefined {
  const worths = records.flatMap(({ tree }) =>
    [...tree.nodes()].flatMap((end) => {
      const path = actionsTo(end);
      const leads = steps.every((step, place) => step === path[place]);
      const counts = leads && (end.terminal || end.answer) && end.status !== 'failed';
      return counts && end.duplicateOf === undefined ? [end.rawValue ?? -1] : [];
    }),
  );
  if (worths.length === 0) return undefined;
  return worths.filter((worth) => worth === 1).length / worths.length;
}

describe('labels of random trees', () => {
  property([forest])('are the shares that a search through all ends finds', (trees) => {
    const records = trees.map((own, place) => grow(own, `t${place}`));
    for (const row of stepLabels.mathShepherd().rows(records)) {
      const { tree, nodes } = row.provenance;
      const [record] = records.filter(({ id }) => id === tree);
      if (record === undefined) throw new Error('The row names a tree.');
      const shares = nodes
        .slice(1)
        .map((id) => shareBehind(records, actionsTo(record.tree.node(id))));
      expect(row.steps.map(({ value }) => value)).toEqual(shares);
      expect(row.steps.map(({ label }) => label)).toEqual(shares.map((share) => share !== 0));
    }
  });

  property([forest])('are the same after saving, unequal, and free of the answer', (trees) => {
    const records = trees.map((own, place) => grow(own, `t${place}`));
    const again = records.map(({ tree }, place) =>
      recordOf(treeFromJson<string, string>(JSON.stringify(treeToJson(tree))), `t${place}`),
    );
    for (const rule of rules) {
      const rows = [...rule.rows(records)];
      expect([...rule.rows(again)]).toEqual(rows);
      const texts = rows.map(({ prompt, steps }) =>
        JSON.stringify([prompt, steps.map(({ text }) => text)]),
      );
      expect(new Set(texts).size).toBe(rows.length);
      expect(JSON.stringify(rows)).not.toContain(canary);
      for (const { steps, alternatives, taken } of rows) {
        expect(steps.length).toBeGreaterThan(0);
        expect(taken.map((index, place) => alternatives[place]?.[index])).toEqual(steps);
      }
    }
  });
});
