import { describe, expect, test } from 'vitest';
import type { GenerateRequest } from '../../src/index.ts';
import { type TreeOfThoughtsOptions, treeOfThoughts } from '../../src/methods/index.ts';
import { search } from '../../src/search/search.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { type Words, wordsEnvironment } from './table.ts';

const words: Words = { next: {}, rewards: { ax: 0, ay: 0.5, bx: 0, by: 1, cx: 0, cy: 0 } };
const textOf = ({ messages }: GenerateRequest) => messages.map(({ content }) => content).join('\n');
const wordIn = (text: string) => /The word so far: `(\w*)`/.exec(text)?.[1] ?? '';

/** The three answers about each word. */
const said: Readonly<Record<string, readonly string[]>> = {
  // 20 + 1 + 0.001 against 20 + 0.001 + 0.001 and 1 + 1 + 1, as the paper adds them up.
  a: ['sure', 'impossible', 'impossible'],
  b: ['sure', 'likely', 'impossible'],
  c: ['likely', 'likely', 'likely'],
};

/** A model that proposes, judges and votes. */
function modelOf(votes: readonly string[] = []) {
  return scriptedModel({
    capabilities: { n: true, temperature: true },
    answer: (request, index) => {
      const text = textOf(request);
      const word = wordIn(text);
      const letters = word === '' ? ['a', 'b', 'c'] : ['x', 'y'];
      if (text.includes('"best"')) return `{"best": ${votes[index] ?? 1}}`;
      if (text.includes('Judge how likely')) return said[word]?.[index] ?? 'likely';
      if (text.includes('different steps')) return JSON.stringify({ steps: letters });
      return letters[index % letters.length] ?? '';
    },
  });
}

async function grow(options: Partial<TreeOfThoughtsOptions>, votes?: readonly string[]) {
  const model = modelOf(votes);
  const method = treeOfThoughts({ model, ...options });
  const result = await search(wordsEnvironment(words), { method, budget: { simulations: 100 } });
  const asked = model.requests
    .map(textOf)
    .filter((text) => !text.includes('Judge how likely') && !text.includes('"best"'))
    .map(wordIn);
  return { ...result, model, asked };
}

describe('Tree of Thoughts, breadth-first', () => {
  test('adds up its values as the paper does, and keeps the b greatest', async () => {
    const { tree, asked, actions } = await grow({ width: 1 });
    const [a, b, c] = tree.root.children.map(({ rawValue = 0 }) => rawValue * 60);
    expect(a).toBeCloseTo(20.002, 9);
    expect(b).toBeCloseTo(21.001, 9);
    expect(c).toBeCloseTo(3, 9);
    expect(asked).toEqual(['', 'b']);
    expect(actions).toEqual(['b', 'y']);
    expect((await grow({ width: 2 })).asked).toEqual(['', 'b', 'a']);
  });

  test('is exhaustive with b = ∞', async () => {
    const { tree, asked, actions } = await grow({ width: Number.POSITIVE_INFINITY });
    expect(asked).toEqual(['', 'b', 'a', 'c']);
    expect(tree.size).toBe(10);
    expect(actions).toEqual(['b', 'y']);
  });

  test('proposes in one completion, and samples each thought by itself, at 0.7', async () => {
    const listed = await grow({ width: 1 });
    const [list] = listed.model.requests;
    expect([list?.samples, list?.temperature]).toEqual([1, 0.7]);
    const sampled = await grow({ width: 1, generate: 'sample' });
    const [samples] = sampled.model.requests;
    expect([samples?.samples, samples?.temperature]).toEqual([5, 0.7]);
    expect(sampled.actions).toEqual(['b', 'y']);
  });

  test('votes on all states of a level, and keeps one', async () => {
    const votes = ['2', '3', '3', '2', '3'];
    const { tree, asked, model } = await grow({ evaluate: 'vote' }, votes);
    expect(tree.root.children.map(({ rawValue }) => rawValue)).toEqual([0, 2 / 5, 3 / 5]);
    expect(asked).toEqual(['', 'c']);
    const asking = model.requests.find((request) => textOf(request).includes('"best"'));
    expect(asking && textOf(asking)).toContain('1. a\n2. b\n3. c');
    expect([asking?.samples, asking?.temperature]).toEqual([5, 1]);
  });

  test('counts only votes that can be read', async () => {
    const { tree } = await grow({ evaluate: 'vote', maxDepth: 1 }, ['2', 'two', '9', '1', '2']);
    expect(tree.root.children.map(({ rawValue }) => rawValue)).toEqual([1 / 3, 2 / 3, 0]);
    expect(tree.root.children[0]?.evaluations[0]?.unscored).toBe(2);
  });
});

describe('Tree of Thoughts, depth-first', () => {
  test('goes on from the best child, and gives up what all answers call impossible', async () => {
    // b first, then a; c is given up.
    const model = modelOf();
    const doubting = scriptedModel({
      capabilities: { n: true },
      answer: (request, index) => {
        const about = textOf(request).includes('Judge how likely') && wordIn(textOf(request));
        return about === 'c' ? 'impossible' : (said[about || '']?.[index] ?? 'likely');
      },
    });
    const method = treeOfThoughts({ model, judgeModel: doubting, order: 'depth-first' });
    const { tree } = await search(wordsEnvironment(words), { method, budget: { simulations: 9 } });
    expect(model.requests.map(textOf).map(wordIn)).toEqual(['', 'b', 'a']);
    expect(tree.root.children.map(({ pruned }) => pruned)).toEqual([
      undefined,
      undefined,
      'hopeless',
    ]);
  });

  test('knows no votes', () => {
    expect(() =>
      treeOfThoughts({ model: modelOf(), order: 'depth-first', evaluate: 'vote' }),
    ).toThrow("Expected `evaluate` to be 'value'");
  });
});
