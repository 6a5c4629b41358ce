/** Reflection at the end of a search, within its budget and its journal. */
import { expect, test } from 'vitest';
import { type Journal, memoryJournal, replayed } from '../../src/calls/journal.ts';
import type { Budget } from '../../src/contracts/spend.ts';
import {
  type ContrastiveOptions,
  contrastive,
  inMemoryStore,
  memory,
  type ReflectionReport,
} from '../../src/memory/index.ts';
import { mcts } from '../../src/search/algorithms/mcts.ts';
import type { SearchAlgorithm } from '../../src/search/contracts.ts';
import { scriptedModel, tableMdp } from '../../src/testing/index.ts';
import { environmentOf } from '../support/environment-of.ts';
import { type SearchOf, searchOf } from '../support/search-of.ts';
import { notation } from './paths.ts';

const problem = tableMdp(
  {
    start: { on: { to: 'bright' } },
    bright: { on: { to: 'end' } },
    end: { on: { to: 'over', reward: 0 } },
  },
  { values: { bright: 0.9, end: 0.9 } },
);

async function run(
  journal: Journal,
  budget: Budget,
  {
    order = 'arrival',
    ...rules
  }: Pick<SearchOf<string, string>, 'order'> &
    Partial<Pick<ContrastiveOptions<string>, 'value'>> = {},
) {
  const store = inMemoryStore();
  const model = scriptedModel({
    answer: ({ messages }) =>
      messages.length < 4 && messages.at(-1)?.content.includes('LESSON') !== true
        ? 'It gets better.'
        : 'LESSON: Bright rooms deceive.',
    latencyMs: 1,
  });
  let report: ReflectionReport | undefined;
  const algorithm: SearchAlgorithm = {
    ...mcts(),
    async run(tree, context) {
      await context.simulate(async () => {
        const leaf = [...tree.nodes()].at(-1) ?? tree.root;
        const [child = leaf] = leaf.terminal ? [] : await context.expand(leaf);
        await context.evaluate([child]);
        tree.backup(child);
        return child.terminal ? 'solved' : 'continue';
      });
      const { reflect } = contrastive<string, string>({
        ...{ model, memory: memory({ store }), task: 'go' },
        ...rules,
      });
      report = await reflect([...tree.nodes()] as never, {
        environment: { ...environmentOf(notation), name: 'rooms' },
        context,
      });
    },
  };
  const options = { ...problem, algorithm, journal, budget, order };
  const result = await searchOf(options);
  return { report, model, result, learnt: await store.all() };
}

test.each(['arrival', 'issued'] as const)(
  'in order %s it is paid for and journaled; a replay writes nothing',
  async (order) => {
    const journal = memoryJournal();
    const first = await run(journal, { simulations: 10 }, { order });
    // Q of `bright` is (0.9 + 0.9 + 0) / 3 = 0.6 and of `end` 0.45; the last step had Q = 0 as expected.
    const { written = [] } = first.report ?? {};
    expect(written.map(({ kind, source }) => [kind, source.node])).toEqual([['value', 2]]);
    expect(first.result.spend.calls).toBe(1);
    expect(first.learnt).toEqual(written);
    const again = await run(replayed(journal), { simulations: 10 }, { order });
    expect(again.report).toEqual(first.report);
    expect(again.model.requests).toHaveLength(0);
    expect(again.learnt).toEqual([]);
  },
);

test('a budget that is spent ends it gracefully', async () => {
  const { report, result, learnt } = await run(
    memoryJournal(),
    { simulations: 10, calls: 1 },
    { value: { most: 2, threshold: 0.4 } },
  );
  // The judgement of `bright` was off by 0.9 − 0.45, and that of `end` by 0.9: only one can be paid for.
  expect(report).toMatchObject({ unaffordable: 1, unreadable: 0, failures: [] });
  expect(report?.written.map(({ source }) => source.node)).toEqual([2]);
  expect(result.spend.calls).toBe(1);
  expect(learnt).toEqual(report?.written);
});
