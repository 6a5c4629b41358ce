import { expect, test } from 'vitest';
import { memoryJournal } from '../../src/calls/index.ts';
import { type Environment, mcts, search } from '../../src/index.ts';
import { algorithms } from '../../src/search/algorithms/algorithms.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { judge } from '../../src/values/index.ts';

const eight = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const open: Environment<string, string> = {
  name: 'open',
  reset: () => ({ state: '' }),
  step: (state, action) => ({ state: state + action }),
  answer: (state) => state,
};
const runs = algorithms.flatMap(({ name, create }) =>
  (['policy', 'evaluator'] as const).map((part) => ({ name, create, part })),
);

test.each(runs)(
  'a $part that always throws ends a search by $name early',
  async ({ create, part }) => {
    let asked = 0;
    const letters = ['i', ...eight];
    const broken = (): never => {
      asked++;
      throw new Error('The database is down');
    };
    const { stopReason, failure, failures, spend } = await search(open, {
      policy:
        part === 'policy'
          ? broken
          : (_, { offset, count }) =>
              letters.slice(offset, offset + count).map((action) => ({ action })),
      evaluator: part === 'evaluator' ? broken : () => 0.5,
      algorithm: create({ asksModel: true }),
      budget: { simulations: 60, nodes: 300 },
    });
    // Some only compare finished paths, of which this environment has none.
    if (part === 'evaluator' && asked === 0) return;
    expect(stopReason).toBe('failed');
    expect(failure?.message).toMatch(
      new RegExp(`^The ${part} failed .+ it was asked: The database is down\\.$`),
    );
    expect(failures.kinds.call).toBe(asked);
    expect(asked).toBeLessThanOrEqual(letters.length);
    expect(spend.simulations).toBeLessThan(60);
  },
);

test('the failure tells how often an evaluator was asked', async () => {
  const evaluator = () => {
    throw new Error('The database is down.');
  };
  const policy = () => eight.map((action) => ({ action }));
  const { failure } = await search(open, { policy, evaluator });
  expect(failure?.message).toBe(
    'The evaluator failed each of the 8 times it was asked: The database is down.',
  );
});

test('an evaluator whose calls all failed is asked again by the next run on the journal, with `retryFailed`', async () => {
  const journal = memoryJournal();
  const asking = (answers: boolean) => {
    const model = scriptedModel({
      answer: () => {
        if (!answers) throw new Error('The key is wrong.');
        return 'likely';
      },
    });
    const policy = () => eight.map((action) => ({ action }));
    return search(
      {
        ...open,
        notation: {
          prompt: () => [{ role: 'user', content: 'Go.' }],
          format: String,
          parse: (action) => ({ action }),
        },
      },
      {
        ...{ policy, journal, retryFailed: answers, budget: { simulations: 20 } },
        evaluator: judge({ model, samples: 1 }),
        algorithm: mcts({ evaluate: 'all' }),
      },
    );
  };
  const refused = await asking(false);
  expect(refused.failure?.message).toMatch(/^The evaluator failed each of the 8 times/);
  const { stopReason, failures } = await asking(true);
  expect(stopReason).toBe('budget');
  expect(failures.count).toBe(0);
});
