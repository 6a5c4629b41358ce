import { describe, expect, test } from 'vitest';
import { tiny } from '../../src/backends/tiny/index.ts';
import { gameOf24 } from '../../src/environments/index.ts';
import { lats, search, valueWidening } from '../../src/index.ts';
import {
  agentQ,
  iMcts,
  mctsDpo,
  restMcts,
  rMcts,
  type WideningMethodOptions,
} from '../../src/methods/index.ts';
import { judge } from '../../src/values/judge/judge.ts';

const model = tiny();
const environment = gameOf24.environment({ numbers: [3, 3, 8, 8] });

type Widening = Pick<WideningMethodOptions, 'widening'>;

/** What the search is made of, and the most actions that a node gets without widening. */
const searches = {
  agentQ: (options: Widening) => agentQ({ model, width: 2, maxTokens: 48, ...options }),
  mctsDpo: (options: Widening) => mctsDpo({ model, width: 2, maxTokens: 48, ...options }),
  restMcts: (options: Widening) => restMcts({ model, width: 2, maxTokens: 48, ...options }),
  iMcts: (options: Widening) => iMcts({ model, width: 2, maxTokens: 48, ...options }),
  lats: (options: Widening) => ({
    ...restMcts({ model, maxTokens: 48 }),
    algorithm: lats({ width: 2, ...options }),
  }),
};

describe.each(Object.entries(searches))('%s', (_, create) => {
  const mostSamples = async (options: Widening) => {
    const method = { ...create(options), stopWhen: [] };
    const evaluator = judge({ model });
    const budget = { calls: 80 };
    const { tree } = await search(environment, { method, evaluator, budget });
    return Math.max(...[...tree.nodes()].map(({ samples }) => samples));
  };

  test('draws as many actions a node as the paper does', async () => {
    expect(await mostSamples({})).toBe(2);
  });

  test('draws more where it may widen', async () => {
    expect(await mostSamples({ widening: valueWidening({ below: 1 }) })).toBeGreaterThan(2);
  });
});

test('rMcts draws more where it may widen', async () => {
  const most = async (options: Widening) => {
    const settings = {
      model,
      samples: 2,
      width: 2,
      simulations: 60,
      reflects: false,
      maxTokens: 48,
    };
    const method = rMcts({ ...settings, ...options });
    const evaluator = judge({ model });
    const { tree } = await search(environment, { method, evaluator, budget: { calls: 80 } });
    return Math.max(...[...tree.nodes()].map(({ samples }) => samples));
  };
  expect(await most({})).toBe(2);
  expect(await most({ widening: valueWidening({ below: 1 }) })).toBeGreaterThan(2);
});

test.each(Object.entries(searches))('%s refuses a widening that is no function', (_, create) => {
  const widening = 3 as unknown as WideningMethodOptions['widening'];
  expect(() => create({ ...(widening !== undefined && { widening }) })).toThrow('widening');
});
