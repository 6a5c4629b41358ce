import { describe, expect, test } from 'vitest';
import type { GenerateRequest } from '../../src/contracts/language-model.ts';
import { inMemoryStore, memory as newMemory } from '../../src/memory/index.ts';
import { rMcts } from '../../src/methods/r-mcts.ts';
import { search } from '../../src/search/search.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import {
  round,
  statisticsOf,
  type Words,
  wordsEnvironment,
  wordsPolicy,
  wordsValue,
} from './table.ts';

const questionOf = ({ messages }: GenerateRequest) =>
  messages.map(({ content }) => content).join('\n');

/** Nine a, five b, three c, one d, one e, one f. */
const samples = [...'aaaaaaaaabbbbbcccdef'];

describe('R-MCTS, by hand', () => {
  test('takes priors from the counts of duplicates among those that it keeps', async () => {
    const model = scriptedModel({ answer: (_request, index) => samples[index % 20] ?? '' });
    const words: Words = { next: {}, values: { '': 0.5 } };
    const { tree, spend } = await search(wordsEnvironment(words), {
      method: rMcts({ model, reflects: false }),
      evaluator: wordsValue(words),
      budget: { simulations: 1 },
    });

    // f is the sixth: 9 + 5 + 3 + 1 + 1 = 19 are kept.
    expect(tree.root.children.map(({ action, prior }) => [action, round(prior)])).toEqual([
      ['a', 0.4737],
      ['b', 0.2632],
      ['c', 0.1579],
      ['d', 0.0526],
      ['e', 0.0526],
    ]);
    expect(spend.calls).toBe(20);
    expect(model.requests).toHaveLength(1);
  });

  test('selects by Q + c · P · √N / (1 + N), evaluates leaves, and commits to the most visited', async () => {
    const words: Words = {
      next: { '': { a: 0.6, b: 0.4 }, a: { c: 1 }, b: { d: 1 }, ac: { x: 1 } },
      values: { '': 0.5, a: 0.2, b: 0.8, ac: 0.1, bd: 0.9, bdx: 0.9 },
    };
    const grow = (simulations: number) =>
      search(wordsEnvironment(words), {
        method: rMcts({
          model: scriptedModel({ answer: () => '' }),
          simulations: 4,
          maxSteps: 1,
          reflects: false,
        }),
        policy: wordsPolicy(words),
        evaluator: wordsValue(words),
        budget: { simulations },
      });

    // The root itself; then, √N taken as 1, a: 0 + 0.6 before b: 0 + 0.4.
    expect(statisticsOf((await grow(2)).tree)).toEqual({ root: [2, 0.35], a: [1, 0.2] });
    // N(root) = Σ N(root, a) = 1: a: 0.2 + 0.6 · 1 / 2 = 0.5, b: 0 + 0.4 · 1 / 1 = 0.4. On to ac.
    expect(statisticsOf((await grow(3)).tree)).toMatchObject({ a: [2, 0.15], ac: [1, 0.1] });
    // N(root) = 2: a: 0.15 + 0.6 · √2 / 3 = 0.4328, b: 0 + 0.4 · √2 = 0.5657.
    const { tree } = await grow(10);
    expect(statisticsOf(tree)).toMatchObject({ a: [2, 0.15], b: [1, 0.8] });
    expect(tree.cursor.state).toBe('a');
  });
});

describe('the debate of R-MCTS, by hand', () => {
  test('values a leaf by the mean of six verdicts', async () => {
    const verdicts = ['A', 'B', 'C', 'C', 'D', 'E'];
    const asked: string[] = [];
    let drawn = 0;
    const model = scriptedModel({
      answer: (request) => {
        const question = questionOf(request);
        asked.push(question);
        if (question.includes('Argue for')) return 'It is good.';
        if (question.includes('Argue against')) return 'It is bad.';
        if (question.includes('status')) return `{"reason": "", "status": "${verdicts[drawn++]}"}`;
        return 'a';
      },
    });
    const { tree, spend } = await search(wordsEnvironment({ next: {} }), {
      method: rMcts({ model, reflects: false }),
      budget: { simulations: 1 },
    });

    // (1 + 0.9 + 0.5 + 0.5 + 0.2 + 0) / 6
    expect(tree.root.rawValue).toBeCloseTo(0.5166666666666667, 14);
    // 20 samples, two arguments, twice three verdicts.
    expect(spend.calls).toBe(28);
    const orders = asked.filter((text) => text.includes('status'));
    expect(
      orders.filter((text) => text.indexOf('It is good.') < text.indexOf('It is bad.')),
    ).toHaveLength(3);
    expect(
      orders.filter((text) => text.indexOf('It is bad.') < text.indexOf('It is good.')),
    ).toHaveLength(3);
  });
});

/** `a` looks good and ends badly; `b` looks bad and ends well. */
const reversal: Words = {
  next: { '': { a: 0.9, b: 0.1 }, a: { x: 1 }, b: { y: 1 } },
  values: { '': 0.5, a: 0.9, b: 0.1 },
  rewards: { ax: 0, by: 0.75 },
};

function setting() {
  const store = inMemoryStore();
  const memory = newMemory({ store });
  const model = scriptedModel({
    answer: (request) =>
      questionOf(request).includes('LESSON:') ? 'LESSON: Look further.' : 'It will go well.',
  });
  const method = () =>
    rMcts({
      model,
      memory,
      task: 'Find the best word.',
      simulations: 2,
      horizon: 1,
    });
  const run = () =>
    search(wordsEnvironment(reversal), {
      method: method(),
      policy: wordsPolicy(reversal),
      evaluator: wordsValue(reversal),
      budget: { simulations: 40, calls: 40 },
    });
  return { store, model, run };
}

describe('reflection in R-MCTS', () => {
  test('looks at the steps that turned out otherwise, in the end, and remembers where', async () => {
    const { store, run } = setting();
    const { tree } = await run();
    const reflections = await store.all();

    // Two simulations see the root and `a`, worth 0.9: it is taken, then x, which ends with 0. The outcome is
    // estimated from Q of the steps taken: the mean of a and x is not above 0.7, so 0.
    expect(tree.cursor.state).toBe('ax');
    const [a, x] = [tree.root.children[0], tree.cursor];
    // u(a) = |V(a) − Q(root, a)|, u(x) = |0 − Q(a, x)|; V(a) − Q(a, x) for the judge.
    expect(round(Math.abs((a?.rawValue ?? 0) - (a?.value ?? 0)))).toBeLessThan(0.5);
    expect(reflections.map(({ kind, action, source }) => [kind, action, source.node])).toEqual([
      ['value', 'a', a?.id],
    ]);
    expect(reflections[0]?.source).toMatchObject({ environment: 'words', realised: 0 });
    expect(round(reflections[0]?.source.expected ?? 0)).toBe(0.9);
    expect(x.value).toBe(0);
  });

  test('costs calls of the same budget, and none without reflection', async () => {
    const { run } = setting();
    const { spend } = await run();

    // One lesson for judges: one call.
    expect(spend.calls).toBe(1);
  });
});

test('tells the lesson to the judge of the next search, and not to who proposes', async () => {
  const { store, run } = setting();
  await run();
  const model = scriptedModel({
    answer: (request) => {
      const question = questionOf(request);
      if (question.includes('status')) return '{"reason": "", "status": "C"}';
      return question.includes('Argue') ? 'So it is.' : 'a';
    },
  });
  await search(wordsEnvironment(reversal), {
    method: rMcts({
      model,
      memory: newMemory({ store, minSimilarity: 0 }),
      task: 'Find the best word.',
      reflects: false,
    }),
    budget: { simulations: 1 },
  });
  const told = model.requests.filter((request) => questionOf(request).includes('Look further.'));

  expect(told.length).toBeGreaterThan(0);
  expect(told.every((request) => questionOf(request).includes('status'))).toBe(true);
});
