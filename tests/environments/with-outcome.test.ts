import { describe, expect, test } from 'vitest';
import type { Environment } from '../../src/contracts/environment.ts';
import type { Verifier } from '../../src/contracts/verifier.ts';
import { search } from '../../src/search/search.ts';
import { withOutcome } from '../../src/search/with-outcome.ts';
import { callContext } from '../support/call-context.ts';

const context = callContext();

/** Counts up; it ends at 3, and 2 is an answer that may still be refined. */
const counting: Environment<number, number> = {
  name: 'counting',
  reset: () => ({ state: 0 }),
  step: (state, action) => {
    const next = state + action;
    return { state: next, ...(next >= 3 && { terminal: true, reward: 0.9 }), answer: next === 2 };
  },
  key: String,
};

const even: Verifier<number> = {
  verify: (state) => ({ correct: state % 2 === 0 }),
};

describe('an outcome', () => {
  test('is the reward of ends and answers, in place of their own', async () => {
    const environment = withOutcome(counting, even);

    expect(await environment.step(0, 1, context)).toEqual({ state: 1, answer: false });
    expect(await environment.step(0, 2, context)).toMatchObject({ state: 2, reward: 1 });
    expect(await environment.step(0, 3, context)).toMatchObject({ terminal: true, reward: 0 });
    expect(await environment.step(0, 4, context)).toMatchObject({ terminal: true, reward: 1 });
  });

  test('may be partial, and may be waited for', async () => {
    const verifier = { verify: async () => ({ correct: false, score: 0.25 }) };
    const environment = withOutcome(
      { ...counting, step: async (state, action) => counting.step(state, action, context) },
      verifier,
    );

    expect(await environment.step(0, 3, context)).toMatchObject({ reward: 0.25 });
  });

  test('must be a number from 0 to 1', async () => {
    const environment = withOutcome(counting, {
      verify: () => ({ correct: true, score: Number.NaN }),
    });

    expect(() => environment.step(0, 3, context)).toThrow(
      'Expected `verifier.verify().score` to be a number from 0 to 1, got `NaN`.',
    );
  });

  test('leaves all else as it was', () => {
    const environment = withOutcome(counting, even);

    expect(environment.name).toBe('counting');
    expect(environment.reset(context)).toEqual({ state: 0 });
    expect(environment.key?.(7)).toBe('7');
    expect(environment.codec).toBeUndefined();
  });

  test('does not come from an oracle', () => {
    // @ts-expect-error an oracle is no verifier
    expect(() => withOutcome(counting, { label: () => ({ correct: true }) })).toThrow(
      'Expected `outcome` to have a method `verify`, got an oracle: gold answers must not guide a search.',
    );
  });
});

test('stamps of environment, policy, evaluator and verifier reach the tree', async () => {
  const { tree } = await search(
    withOutcome({ ...counting, stamps: ['world'] }, { ...even, stamps: ['gold'] }),
    {
      policy: { stamps: ['policy'], propose: () => [{ action: 1 }, { action: 3 }] },
      evaluator: {
        needs: 'realised',
        stamps: ['value', 'gold'],
        evaluate: (nodes) => nodes.map(() => ({ value: 0.5 })),
      },
      budget: { simulations: 4 },
    },
  );

  expect([...tree.stamps]).toEqual(['world', 'gold', 'policy', 'value']);
});
