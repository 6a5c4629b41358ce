import { describe, expect, test } from 'vitest';
import { memoryJournal, replayed } from '../../src/calls/index.ts';
import {
  budgeted,
  type Environment,
  type Evaluator,
  gumbel,
  type Policy,
  type SearchAlgorithm,
  type SearchTree,
  search,
  treeToJson,
} from '../../src/index.ts';
import { manualClock, scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';

const arms = { a: [0.4, 0.2], b: [0.3, 0.5], c: [0.2, 0.9], d: [0.1, 0.4] } as const;
type Arm = keyof typeof arms;
const armOf = (state: string) => arms[state[0] as Arm];

/** Four actions of fixed values, below each of which there is one way on without an end. */
const environment: Environment<string, string> = {
  name: 'arms',
  reset: () => ({ state: '' }),
  step: (state, action) => ({ state: state + action }),
  key: (state) => state,
};
const policy: Policy<string, string> = {
  propose: ({ state = '' }) =>
    state === ''
      ? Object.entries(arms).map(([action, [prior]]) => ({ action, prior }))
      : [{ action: 'x', prior: 1 }],
};
const evaluator: Evaluator<string, string> = {
  needs: 'realised',
  evaluate: (nodes) =>
    nodes.map(({ state = '' }) => ({
      value: state === '' ? 0.5 : armOf(state)[1],
      about: 'state' as const,
    })),
};

/** Below which action of the root each simulation ended. */
function selections(tree: SearchTree<string, string>): string {
  return [...tree.log].map(({ leaf }) => tree.node(leaf).state?.[0] ?? '.').join('');
}

describe('the first thirty selections, written from the papers', () => {
  test('of the reference code: four actions three times, the best two seven times, and what is left', async () => {
    // ln P orders what was never visited. Then σ = 5.3 · (q − 0.2) / 0.7: a −0.92, b 1.07, c 3.69, d −0.79.
    const algorithm = gumbel({ evaluate: 'leaf', noise: 0, leastRange: 1e-8 });
    const { tree } = await search(environment, {
      policy,
      evaluator,
      algorithm,
      budget: { simulations: 31 },
    });
    expect(selections(tree)).toBe(`.${'abcd'.repeat(3)}${'cb'.repeat(7)}cbcb`);
    expect(tree.preferred?.state?.[0]).toBe('c');
  });

  test('of ours: evaluated when they were made, all actions have had their first visit', async () => {
    // 33 visits, 4 of them made: 4 × 4 and 2 × 8. σ = 5.1 · (q − 0.2) / 0.7: a −0.92, b 0.98, c 3.49, d −0.85.
    const { tree } = await search(environment, {
      policy,
      evaluator,
      algorithm: gumbel(),
      budget: { simulations: 30 },
    });
    expect(selections(tree)).toBe(`c${'cbda'.repeat(3)}${'cb'.repeat(8)}c`);
    expect(tree.preferred?.state?.[0]).toBe('c');
  });
});

test('simulations at the same time visit each action as often as those one after the other, but for one', async () => {
  for (const concurrency of [1, 3, 8]) {
    const model = scriptedModel({ answer: hashedAnswer, latencyMs: (_, call) => 1 + (call % 7) });
    const asked = throughModel({ environment, policy, evaluator }, { model, asks: 'policy' });
    const { tree } = await search(environment, {
      ...{ policy: asked.policy, evaluator, algorithm: gumbel(), concurrency },
      budget: { simulations: 30 },
      clock: manualClock({ auto: true }),
    });
    const visits = tree.root.children.map((child) => child.visits);
    for (const [place, count] of [3, 11, 13, 3].entries()) {
      // One that has been backed up and is still marked counts twice for a moment.
      expect(Math.abs((visits[place] ?? 0) - count)).toBeLessThanOrEqual(1);
    }
  }
});

test('noise decides where there are more actions than are considered, and else none is drawn', async () => {
  const considered = new Set<string>();
  for (let seed = 0; seed < 30; seed++) {
    const settings = { policy, evaluator, budget: { simulations: 12 }, seed };
    const few = await search(environment, { ...settings, algorithm: gumbel({ considered: 2 }) });
    const all = await search(environment, { ...settings, algorithm: gumbel() });
    const { lanes } = few.tree.root.notes['halving'] as { lanes: readonly { id: number }[] };
    expect(lanes).toHaveLength(2);
    for (const { id } of lanes) considered.add(few.tree.node(id).state ?? '');
    expect(all.tree.root.children.map(({ notes }) => notes['gumbel'])).toEqual(
      [0, 0, 0, 0].map((gumbel) => ({ gumbel })),
    );
  }
  expect([...considered].sort()).toEqual(['a', 'b', 'c', 'd']);
});

test.each<[string, () => SearchAlgorithm]>([
  ['gumbel', () => gumbel()],
  ['budgeted', () => budgeted({ evaluate: 'all' })],
  ['budgeted by share', () => budgeted({ by: 'share' })],
])('%s keeps to tokens, and a journal repeats what it did with them', async (_name, create) => {
  for (let seed = 0; seed < 24; seed++) {
    const ask = () =>
      throughModel(syntheticTree({ branching: 3, depth: 4, seed }), {
        model: scriptedModel({
          answer: hashedAnswer,
          latencyMs: (request, call) => 1 + ((Number(hashedAnswer(request)) * 97 + call) % 13),
        }),
      });
    const settings = {
      budget: { tokens: 200 + 100 * seed },
      concurrency: [1, 4, 16][seed % 3] ?? 1,
      algorithm: create(),
    };
    const clock = () => manualClock({ auto: true });
    const journal = memoryJournal();
    const { environment: tree, ...live } = ask();
    const first = await search(tree, { ...live, ...settings, journal, clock: clock() });
    expect(first.spend.tokens).toBeLessThanOrEqual(settings.budget.tokens);
    const { environment: same, ...guides } = ask();
    const again = await search(same, {
      ...guides,
      ...settings,
      journal: replayed(journal),
      clock: clock(),
    });
    expect(JSON.stringify(treeToJson(again.tree))).toBe(JSON.stringify(treeToJson(first.tree)));
    expect(again.coverage.unrecorded).toBe(0);
  }
});
