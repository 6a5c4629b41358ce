import { expect, test } from 'vitest';
import { memoryJournal, replayed } from '../../src/calls/journal.ts';
import type { Provenance } from '../../src/contracts/provenance.ts';
import { promptsOf } from '../../src/prompting/prompts.ts';
import { mcts } from '../../src/search/algorithms/mcts.ts';
import type { SearchAlgorithm } from '../../src/search/contracts.ts';
import { banditTree } from '../../src/testing/index.ts';
import { treeFromJson, treeToJson } from '../../src/tree/serialize.ts';
import { searchOf } from '../support/search-of.ts';

const problem = banditTree();
const critic = { name: 'critic', version: 2, texts: { ask: 'Is it good?' } };

function run(marks: Provenance, options: object = {}) {
  return searchOf({
    ...problem,
    policy: { ...problem.policy, ...marks },
    budget: { simulations: 4 },
    ...options,
  });
}

test('the prompts of policy and evaluator are in the header of the journal', async () => {
  const journal = memoryJournal();
  await run({ prompts: promptsOf(critic) }, { journal });
  const [header] = journal.lines;

  expect(header).toMatchObject({
    type: 'journal',
    run: { prompts: { critic: expect.stringMatching(/^2 [\w-]{43}$/) as unknown } },
  });
});

test('a run goes on only with the prompts that it began with; a replay may ask others', async () => {
  const journal = memoryJournal();
  await run({ prompts: promptsOf(critic) }, { journal });
  const reworded = promptsOf({ ...critic, texts: { ask: 'Is it?' } });

  await expect(run({ prompts: reworded }, { journal })).rejects.toThrow(
    'The journal belongs to another run: its `prompts` is ',
  );
  await run({ prompts: promptsOf(critic) }, { journal });
  await run({ prompts: reworded }, { journal: replayed(journal) });
});

test('a tree keeps its stamps when it is saved, and takes those of searches within', async () => {
  const nested: SearchAlgorithm = {
    ...mcts(),
    async run(tree, context) {
      const { policy, environment, evaluator } = problem;
      await context.search(environment, {
        policy: { ...policy, stamps: ['oracle-guided'] },
        evaluator,
        share: 0.5,
      });
      await mcts().run(tree, context);
    },
  };
  const { tree } = await run({ stamps: ['outer'] }, { algorithm: nested });

  expect([...tree.stamps]).toEqual(['outer', 'oracle-guided']);
  const saved = treeFromJson<unknown, unknown>(treeToJson(tree));
  expect([...saved.stamps]).toEqual(['outer', 'oracle-guided']);
});
