import { describe, expect, test } from 'vitest';
import { logprobReward, recipes, rewardFrom, sglangReward } from '../../../src/backends/index.ts';
import type { RewardQuestion } from '../../../src/testing/emulator/options.ts';
import type { EmulatedQuestion } from '../../../src/testing/index.ts';
import { opened } from '../../testing/emulator-support.ts';
import { close, mangling, matching, plainCall } from './support.ts';

const two = { prompt: 'What is 2 + 2?', steps: ['First, add.', 'So it is 4.'] };
const other = { prompt: 'What is 2 + 2?', steps: ['It is 5.'] };
const one = { prompt: 'Why?', steps: ['Because.'] };
const reward = ({ text }: RewardQuestion) => (text.includes('4') ? 0.3 : 0.9);

// SGLang.
test('/classify: gives the logit of a whole solution, all in one request', async () => {
  const server = await opened({ dialect: 'sglang', reward: () => 2.5 });
  const recipe = recipes.sequenceClassifier();
  const model = sglangReward({ baseUrl: server.url, model: 'rm', recipe });
  const { scores } = await model.score({ solutions: [two, one] }, plainCall());
  expect(scores).toEqual([[2.5], [2.5]]);
  expect(model.range).toEqual([-Infinity, Infinity]);
  expect(server.requests.map(({ body }) => body)).toEqual([
    {
      model: 'rm',
      text: [
        '<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\nFirst, add.\nSo it is 4.<|im_end|>\n',
        '<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\nBecause.<|im_end|>\n',
      ],
    },
  ]);
});

test('/classify: a number that is missing fails its solution, an answer too few all of them', async () => {
  const server = await opened({ dialect: 'sglang', reward: () => 2.5 });
  const scoresWith = async (change: (body: never[]) => unknown) => {
    const fetch = mangling(change);
    const recipe = recipes.sequenceClassifier();
    const model = sglangReward({ baseUrl: server.url, model: 'rm', recipe, fetch });
    return (await model.score({ solutions: [two, one] }, plainCall())).scores;
  };
  expect(await scoresWith(([, last]) => [{ embedding: [null] }, last])).toEqual([
    { kind: 'invalid', message: 'Expected a score to be a number, got `null`.' },
    [2.5],
  ]);
  const short = await scoresWith((body) => body.slice(1));
  expect(short).toEqual([short[0], short[0]]);
  expect(short[0]).toMatchObject({ message: 'Expected 2 answers, got 1.' });
});

test('/v1/score: one request a question, each step with all before it', async () => {
  const server = await opened({ dialect: 'sglang', reward });
  const recipe = recipes.mathShepherd;
  const model = sglangReward({ baseUrl: server.url, model: 'rm', recipe });
  const call = plainCall();
  const { scores } = await model.score({ solutions: [two, one, other] }, call);
  expect(scores).toEqual([[0.9, 0.3], [0.9], [0.9]]);
  const bodies = server.requests.map(({ body }) => body as { query: string; items: string[] });
  expect(bodies.map(({ query, items }) => [query, items.length])).toEqual([
    ['What is 2 + 2?', 3],
    ['Why?', 1],
  ]);
  expect(call.leaves).toHaveLength(1);
});

test('/v1/score: asks for new steps only, and needs no further leave for one', async () => {
  const server = await opened({ dialect: 'sglang', reward });
  const model = sglangReward({ baseUrl: server.url, model: 'rm', recipe: recipes.mathShepherd });
  const call = plainCall();
  const { scores } = await model.score({ solutions: [{ ...two, from: 1 }, one] }, call);
  expect(scores).toEqual([[0.3], [0.9]]);
  expect(call.leaves).toEqual([]);
  const items = server.requests.flatMap(({ body }) => (body as { items: string[] }).items);
  expect(items).toHaveLength(2);
});

test.each([
  ['a score too few', (rows: unknown[]) => rows.slice(1), /Expected 2 scores, got 1/],
  [
    'NaN',
    () => [
      [null, null],
      [0.3, 0.7],
    ],
    /probability of a label to be a number/,
  ],
  [
    'a share above 1',
    () => [
      [1.5, -0.5],
      [0.3, 0.7],
    ],
    /from 0 to 1, got `1.5`/,
  ],
  [
    'shares of more than all',
    () => [
      [0.7, 0.7],
      [0.3, 0.7],
    ],
    /sum to 1/,
  ],
])('/v1/score: %s fails the solution', async (_what, change, message) => {
  const server = await opened({ dialect: 'sglang', reward });
  const fetch = mangling((body: { scores: unknown[] }) => ({ scores: change(body.scores) }));
  const recipe = recipes.mathShepherd;
  const model = sglangReward({ baseUrl: server.url, model: 'rm', recipe, fetch });
  const { scores, usage } = await model.score({ solutions: [two] }, plainCall());
  expect(scores[0]).toMatchObject({ kind: 'invalid', message: matching(message) });
  expect(usage).toBeUndefined();
});

/** A model that gives `+` and `-` these probabilities, and the rest to `x`. */
const labelled = (good: number, bad: number) => ({
  text: '+',
  logprobs: [
    {
      token: '+',
      logprob: Math.log(0.5),
      top: [
        { token: '▁+', logprob: Math.log(good) },
        { token: ' -', logprob: Math.log(bad) },
        { token: 'x', logprob: Math.log(1 - good - bad) },
      ].filter(({ logprob }) => Number.isFinite(logprob)),
    },
  ],
});

// Logprobs of any server.
test('text completions: all steps in one request; p(+) / (p(+) + p(−))', async () => {
  const answer = ({ prompt }: EmulatedQuestion) =>
    prompt?.includes('4') === true ? labelled(0.2, 0.6) : labelled(0.6, 0.2);
  const server = await opened({ dialect: 'vllm', answer });
  const recipe = recipes.mathShepherd;
  const model = logprobReward({ baseUrl: server.url, model: 'emulated', recipe });
  const { scores, usage } = await model.score({ solutions: [two, one] }, plainCall());
  expect(scores).toEqual([[close(0.75, 12), close(0.25, 12)], [close(0.75, 12)]]);
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]?.body).toMatchObject({
    prompt: [
      'What is 2 + 2? Step 1: First, add. ки',
      'What is 2 + 2? Step 1: First, add. ки\nStep 2: So it is 4. ки',
      'Why? Step 1: Because. ки',
    ],
    ...{ max_tokens: 1, temperature: 0, logprobs: 20 },
  });
  expect(usage).toEqual({ inputTokens: server.account.inputTokens, outputTokens: 3 });
});

test('text completions one by one, for servers that take no list', async () => {
  const server = await opened({ dialect: 'vllm', answer: () => labelled(0.6, 0.2) });
  const recipe = recipes.openr;
  const model = logprobReward({
    ...{ baseUrl: server.url, model: 'emulated', recipe, batches: false },
  });
  const { scores } = await model.score({ solutions: [two] }, plainCall());
  expect(scores[0]).toEqual([close(0.75, 12), close(0.75, 12)]);
  expect(server.requests).toHaveLength(2);
});

test('chat: a turn of the user a step, those before answered +', async () => {
  const server = await opened({ dialect: 'vllm', answer: () => labelled(0.1, 0.3) });
  const recipe = recipes.rlhflow;
  const model = logprobReward({ baseUrl: server.url, model: 'emulated', recipe });
  const { scores } = await model.score({ solutions: [{ ...two, from: 1 }] }, plainCall());
  expect(scores[0]).toEqual([close(0.25, 12)]);
  expect(server.requests.map(({ body }) => body)).toMatchObject([
    {
      messages: [
        { role: 'user', content: 'What is 2 + 2? First, add.' },
        { role: 'assistant', content: '+' },
        { role: 'user', content: 'So it is 4.' },
      ],
      ...{ logprobs: true, top_logprobs: 20, max_tokens: 1 },
    },
  ]);
});

test.each([
  ['neither label', labelled(0, 0)],
  ['one label, and a likely stranger', labelled(0.6, 0)],
])('%s among the tokens: not known', async (_what, answered) => {
  const server = await opened({ dialect: 'vllm', answer: () => answered });
  const recipe = recipes.mathShepherd;
  const model = logprobReward({ baseUrl: server.url, model: 'emulated', recipe });
  const { scores } = await model.score({ solutions: [one] }, plainCall());
  expect(scores[0]).toMatchObject({ kind: 'parse' });
});

test('a label that is less likely than all that is told counts as 0 where that is as good as known', async () => {
  // 0.995 against at most 0.005: the score is between 0.995 and 1.
  const server = await opened({ dialect: 'vllm', answer: () => labelled(0.995, 0) });
  const recipe = recipes.mathShepherd;
  const model = logprobReward({ baseUrl: server.url, model: 'emulated', recipe });
  const { scores } = await model.score({ solutions: [one] }, plainCall());
  expect(scores[0]).toEqual([1]);
});

test('a server that tells none is one that cannot', async () => {
  const server = await opened({ dialect: 'vllm', faults: ['ignores-logprobs'] });
  const recipe = recipes.mathShepherd;
  const model = logprobReward({ baseUrl: server.url, model: 'emulated', recipe });
  await expect(model.score({ solutions: [one] }, plainCall())).rejects.toMatchObject({
    kind: 'capability',
    parameter: 'logprobs',
  });
});

test('refuses a recipe without labels', () => {
  const recipe = recipes.qwenMathPrm;
  expect(() => logprobReward({ baseUrl: 'http://x', model: 'm', recipe })).toThrow(
    'Expected `recipe` to be one with labels',
  );
});

describe('functions', () => {
  test('what throws fails one solution', async () => {
    const model = rewardFrom({
      name: 'rule',
      score: ({ steps }) => {
        if (steps[0] === 'Because.') throw new Error('no reason');
        return steps.map(({ length }) => length / 100);
      },
    });
    expect(model).toMatchObject({ provider: 'local', modelId: 'rule' });
    expect(await model.score({ solutions: [two, one] }, plainCall())).toEqual({
      scores: [[0.11, 0.11], { kind: 'call', message: 'no reason' }],
      usage: { inputTokens: 0, outputTokens: 0 },
    });
  });

  test('an abort ends all of it', async () => {
    const controller = new AbortController();
    const model = rewardFrom({
      name: 'rule',
      score: () => {
        controller.abort();
        throw new Error('aborted');
      },
    });
    await expect(model.score({ solutions: [one] }, plainCall(controller.signal))).rejects.toThrow(
      'aborted',
    );
  });
});
