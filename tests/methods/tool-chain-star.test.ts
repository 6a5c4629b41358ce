import { describe, expect, test } from 'vitest';
import type { Environment, GenerateRequest } from '../../src/index.ts';
import { type ToolChainStarOptions, toolChainStar } from '../../src/methods/index.ts';
import { search } from '../../src/search/search.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const environment: Environment<string, string> = {
  name: 'tools',
  reset: () => ({ state: '' }),
  step: (state, action) => ({ state: `${state} ${action}`.trim(), terminal: action === 'close' }),
  notation: {
    prompt: (state) => [{ role: 'user', content: `Done: <${state}>` }],
    format: (action) => action,
    parse: (text) => ({ action: text }),
  },
};

/** Four samples a state, and how many steps the model imagines to be left. */
const drawn: Readonly<Record<string, readonly string[]>> = {
  '': ['search', 'ask', 'search', 'search'],
  search: ['open', 'ask', 'open', 'open'],
  'search open': ['close', 'close', 'close', 'ask'],
};
const left: Readonly<Record<string, number>> = {
  search: 2,
  ask: 3,
  'search open': 1,
  'search ask': 0,
};
const plans = [
  ['search', 'open', 'close'],
  ['search', 'close'],
];

function modelOf() {
  const textOf = ({ messages }: GenerateRequest) => messages.map(({ content }) => content).join();
  return scriptedModel({
    capabilities: { n: true },
    answer: (request, index) => {
      const state = /<(.*)>/.exec(textOf(request))?.[1]?.split('>')[0] ?? '';
      if (!textOf(request).includes('Imagine the whole plan')) return drawn[state]?.[index] ?? '';
      const steps = Array.from({ length: left[state] ?? 0 }, (_, place) => `step ${place}`);
      return JSON.stringify({ steps });
    },
  });
}

async function costs(options: Partial<ToolChainStarOptions<string>>, simulations = 2) {
  const method = toolChainStar<string, string>({ model: modelOf(), samples: 4, ...options });
  const result = await search(environment, { method, budget: { simulations } });
  const noted = [...result.tree.nodes()].map(({ state, notes }) => {
    const { g, h } = notes['astar'] as { readonly g: number; readonly h: number };
    return [state, Number(g.toFixed(4)), Number(h.toFixed(4))] as const;
  });
  return { ...result, noted };
}

/*
 * The root, `search` (3 of 4 samples) and `ask` (1 of 4); below `search` then `open` (3 of 4) and `ask` (1 of 4).
 *
 * search: g₁ = 1, so that its step costs 0. h₁ = (1/3 + 1/2) / 2 = 5/12, h₂ = 1 / (1 + 2).
 * ask: g₁ = 0, g₂ = 1/4: √(1 · 3/4). In no plan: h₁ = 0; h₂ = 1 / (1 + 3): √(1 · 3/4).
 * search, open: 2 of 2 in the first plan: 0. h₁ = 2/3, h₂ = 2 / (2 + 1): √(1/3 · 1/3).
 * search, ask: 1 of 2, g₂ = 1/4: √(1/2 · 3/4). h₁ = 0; nothing is left, h₂ = 2 / 2: 0.
 */
describe('ToolChain*', () => {
  test('has the costs of the paper on a tree of five nodes with two plans', async () => {
    const { noted } = await costs({ plans });
    expect(noted.slice(1)).toEqual([
      ['search', 0, 0.6236],
      ['ask', 0.866, 0.866],
      ['search open', 0, 0.3333],
      ['search ask', 0.6124, 0],
    ]);
  });

  test('weighs plans and samples by α, plans and imagination by β', async () => {
    const { noted } = await costs({ plans, alpha: 0.25, beta: 0.25 });
    // (7/12)^¼ (2/3)^¾; (3/4)^¾ twice; (1/2)^¼ (3/4)^¾.
    expect(noted.slice(1)).toEqual([
      ['search', 0, 0.6448],
      ['ask', 0.8059, 0.8059],
      ['search open', 0, 0.3333],
      ['search ask', 0.6777, 0],
    ]);
  });

  test('goes by samples and imagination alone where there are no plans', async () => {
    const { noted } = await costs({});
    // search: √(1 · 1/4), √(1 · 2/3); open: √(1/4) more, √(1/3); ask: √(3/4) more.
    expect(noted.slice(1)).toEqual([
      ['search', 0.5, 0.8165],
      ['ask', 0.866, 0.866],
      ['search open', 1, 0.5774],
      ['search ask', 1.366, 0],
    ]);
  });

  test('expands by g + h and ends with the plan, without a claim that it is the best', async () => {
    const { actions, stopReason, optimal, spend } = await costs({ plans }, 100);
    expect(actions).toEqual(['search', 'open', 'close']);
    expect([stopReason, optimal]).toEqual(['solved', false]);
    // The root, `search`, `open`, and the end; the end itself is not asked about.
    expect(spend.simulations).toBe(4);
  });

  test('calls an end solved where the environment does, and not for what it cost', async () => {
    const found = async (reward?: number) => {
      const { solved, actions } = await search(
        {
          ...environment,
          step: (state, action) => {
            const terminal = action === 'close';
            const next = { state: `${state} ${action}`.trim(), terminal };
            return terminal && reward !== undefined ? { ...next, reward } : next;
          },
        },
        {
          method: toolChainStar<string, string>({ model: modelOf(), samples: 4, plans }),
          budget: { simulations: 100 },
        },
      );
      return { solved, ends: actions.at(-1) === 'close' };
    };
    expect(await found()).toEqual({ solved: false, ends: true });
    expect(await found(1)).toEqual({ solved: true, ends: true });
    expect(await found(0.5)).toEqual({ solved: false, ends: true });
  });

  test('compares what it is told to compare', async () => {
    const compareBy = (action: string) => action.slice(0, 1);
    const { noted } = await costs({ plans: [['open', 'answer']], compareBy });
    // `ask` is like `answer`: g₁ 1, h₁ 2/2.
    expect(noted[2]).toEqual(['ask', 0, 0]);
  });

  test('takes zero exponents as they stand: 0⁰ is 1', async () => {
    const { noted } = await costs({ plans, alpha: 0, beta: 1 });
    // g: 1 − g₂ alone; h: 1 − h₁ alone.
    expect(noted.slice(1)).toEqual([
      ['search', 0.25, 0.5833],
      ['ask', 0.75, 1],
      ['search open', 0.5, 0.3333],
      ['search ask', 1, 1],
    ]);
  });
});

test('goes no deeper than `maxDepth`, and takes an end that lies there', async () => {
  const depths = async (maxDepth: number) => {
    const { tree, actions } = await costs({ plans, maxDepth }, 100);
    return [Math.max(...[...tree.nodes()].map(({ depth }) => depth)), actions.at(-1)];
  };
  expect(await depths(2)).not.toContain('close');
  expect((await depths(2))[0]).toBe(2);
  expect(await depths(3)).toEqual([3, 'close']);
  expect(() => toolChainStar({ model: modelOf(), maxDepth: 0 })).toThrow(
    'Expected `maxDepth` to be an integer from 1 up, got `0`.',
  );
});
