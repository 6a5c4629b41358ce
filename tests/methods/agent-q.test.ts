import { describe, expect, test } from 'vitest';
import { agentQ } from '../../src/methods/agent-q.ts';
import { search } from '../../src/search/search.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { mixedValue } from '../../src/tree/qtransform.ts';
import {
  pairsIn,
  round,
  statisticsOf,
  type Words,
  wordsEnvironment,
  wordsPolicy,
  wordsValue,
} from './table.ts';

/** A critic ranks b before a before c; the world thinks otherwise. */
const words: Words = {
  next: { '': 'abc' },
  values: { a: 0.5, b: 1, c: 0 },
  rewards: { a: 0.8, b: 0.4, c: 0 },
};

function method(options: Partial<Parameters<typeof agentQ>[0]> = {}) {
  return agentQ({
    model: scriptedModel({ answer: () => '' }),
    ...options,
  });
}

function grow(simulations: number) {
  return search(wordsEnvironment(words), {
    method: method(),
    policy: wordsPolicy(words),
    evaluator: wordsValue(words, 'proposed'),
    budget: { simulations },
  });
}

describe('Agent Q, by hand', () => {
  test('takes actions in the order of the mixed value', async () => {
    const orders: string[][] = [];
    for (const simulations of [1, 2, 3]) {
      const { tree } = await grow(simulations);
      orders.push(Object.keys(statisticsOf(tree)));
    }

    // ln N(root) is 0 up to the second: the critic's 1, then 0.5, then 0.
    expect(orders).toEqual([
      ['root', 'b'],
      ['root', 'a', 'b'],
      ['root', 'a', 'b', 'c'],
    ]);
  });

  test('mixes what the search found with what the critic said', async () => {
    const { tree } = await grow(3);
    const mixed = tree.root.children.map((child) => round(mixedValue(child, 0.5)));

    // α = 0.5: (0.8 + 0.5) / 2, (0.4 + 1) / 2, (0 + 0) / 2; with α = 0.75: 0.75 · 0.8 + 0.25 · 0.5 …
    expect(mixed).toEqual([0.65, 0.7, 0]);
    expect(tree.root.children.map((child) => round(mixedValue(child, 0.25)))).toEqual([
      0.725, 0.55, 0,
    ]);
    // (0.4 + 0.8 + 0) / 3
    expect(round(tree.root.value)).toBe(0.4);
  });

  test('pairs every two actions further apart than θ', async () => {
    const { tree } = await grow(3);
    const look = (options: Partial<Parameters<typeof agentQ>[0]>) =>
      pairsIn(tree, method(options)).map(
        ({ chosen, rejected, margin }) => `${chosen}>${rejected} ${margin}`,
      );

    // b 0.7, a 0.65, c 0: b and a are only 0.05 apart.
    expect(look({})).toEqual(['b>c 0.7', 'a>c 0.65']);
    expect(look({ theta: 0.04 })).toEqual(['b>a 0.05', 'b>c 0.7', 'a>c 0.65']);
    // With the search alone a is best: 0.8, 0.4, 0.
    expect(look({ alpha: 1 })).toEqual(['a>b 0.4', 'a>c 0.8', 'b>c 0.4']);
  });

  test('refuses a mix that is none', () => {
    expect(() => method({ alpha: 1.5 })).toThrow(
      'Expected `alpha` to be a finite number from 0 to 1, got `1.5`.',
    );
    expect(() => method({ theta: -1 })).toThrow('`theta`');
  });
});

test('where the world gives no reward, a judge says what the end is worth', async () => {
  const ends: Words = { next: { '': 'ab' }, values: {} };
  const plain = wordsEnvironment(ends);
  const environment = {
    ...plain,
    step: (state: string, action: string) => ({ state: state + action, terminal: true }),
  };
  const model = scriptedModel({
    capabilities: { n: true },
    answer: ({ messages }, index) => {
      const question = messages.at(-1)?.content ?? '';
      if (question.endsWith('`.')) return ['a', 'b'][index % 2] ?? '';
      if (question.includes('yes')) return question.includes('`b`') ? 'yes' : 'no';
      return '{"best": 1}';
    },
  });
  const { tree, best, solved } = await search(environment, {
    method: agentQ({ model, width: 2 }),
    budget: { simulations: 2 },
  });

  expect(tree.root.children.map(({ action, value }) => [action, value])).toEqual([
    ['a', 0],
    ['b', 1],
  ]);
  expect(tree.root.children.map(({ rawValue }) => rawValue)).toEqual([1, 0]);
  expect([best.state, solved]).toEqual(['b', true]);
});
