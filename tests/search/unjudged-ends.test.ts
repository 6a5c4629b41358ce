import { expect, test } from 'vitest';
import type { Environment, Evaluator, Policy } from '../../src/index.ts';
import { algorithms } from '../../src/search/algorithms/algorithms.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { searchOf } from '../support/search-of.ts';

/** Two steps lead to an answer, which brings no reward. */
const environment: Environment<string, string> = {
  name: 'pairs of letters',
  reset: () => ({ state: '' }),
  step: (state, action) => ({ state: state + action, terminal: state.length === 1 }),
  answer: (state) => (state.length === 2 ? state : undefined),
};

const model = scriptedModel({ answer: (_request, index) => `answer ${index}` });

const policy: Policy<string, string> = {
  async propose(_node, { context, count, offset }) {
    const messages = [{ role: 'user' as const, content: 'next' }];
    await context.generate(model, { messages, samples: 1, offset });
    return ['a', 'b', 'c'].slice(0, count).map((action) => ({ action }));
  },
};

/** Asks the model about each state. */
const evaluator: Evaluator<string, string> = {
  needs: 'realised',
  evaluate: (nodes, { context }) =>
    Promise.all(
      nodes.map(async ({ id }) => {
        await context.generate(model, { messages: [{ role: 'user', content: `judge ${id}` }] });
        return { value: 0.5 };
      }),
    ),
};

test.each(algorithms)('$name answers wherever its tree holds an answer', async (entry) => {
  let held = 0;
  for (let calls = 1; calls <= 16; calls++) {
    const options = {
      environment,
      policy,
      evaluator,
      algorithm: entry.create({ asksModel: true }),
    };
    const { tree, answer } = await searchOf({ ...options, budget: { calls } });
    const ends = [...tree.nodes()].filter(
      ({ terminal, status }) => terminal && status !== 'failed',
    );
    if (ends.length > 0) held++;
    expect({ calls, answers: answer !== undefined }).toEqual({ calls, answers: ends.length > 0 });
  }
  expect(held).toBeGreaterThan(0);
});
