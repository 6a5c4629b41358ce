import { describe, expect, test } from 'vitest';
import { recipes, type VllmRewardOptions, vllmReward } from '../../../src/backends/index.ts';
import type { RewardQuestion } from '../../../src/testing/emulator/options.ts';
import { opened } from '../../testing/emulator-support.ts';
import { close, containing, mangling, matching, plainCall } from './support.ts';

const two = { prompt: 'What is 2 + 2?', steps: ['First, add.', 'So it is 4.'] };
const one = { prompt: 'Why?', steps: ['Because.'] };

/** 0.9 after one step, 0.3 after two. */
const reward = ({ text }: RewardQuestion): number => (text.includes('4') ? 0.3 : 0.9);

async function modelOf(options: Partial<VllmRewardOptions> = {}, rewarded = reward) {
  const server = await opened({ dialect: 'vllm', reward: rewarded });
  const model = vllmReward({
    baseUrl: `${server.url}/v1`,
    model: 'emulated',
    recipe: recipes.qwenMathPrm,
    retry: false,
    ...options,
  });
  return { server, model };
}

interface Pooled {
  readonly data: readonly { readonly index: number; readonly data: readonly number[][] }[];
  readonly usage: unknown;
}

/** The scores of both solutions where the reply is changed on its way. */
async function scoresWith(change: (body: Pooled) => unknown) {
  const reward = ({ text }: RewardQuestion) => (/4|Because/.test(text) ? 0.25 : 0.75);
  const { model } = await modelOf({ fetch: mangling(change) }, reward);
  return (await model.score({ solutions: [two, one] }, plainCall())).scores;
}

const withData = (change: (data: Pooled['data']) => unknown) => (body: Pooled) => ({
  ...body,
  data: change(body.data),
});

// One score a step, by /pooling.
test('reads the second of two probabilities at each mark, all solutions in one request', async () => {
  const { server, model } = await modelOf();
  const { scores, usage } = await model.score({ solutions: [two, one] }, plainCall());
  expect(scores).toEqual([[0.9, 0.3], [0.9]]);
  expect(server.requests.map(({ path }) => path)).toEqual(['/pooling']);
  expect(usage).toEqual({ inputTokens: server.account.inputTokens, outputTokens: 0 });
  expect(server.requests[0]?.body).toMatchObject({
    model: 'emulated',
    encoding_format: 'float',
    use_activation: true,
    input: [
      '<|im_start|>system\nPlease reason step by step, and put your final answer within \\boxed{}.<|im_end|>\n<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\nFirst, add.<extra_0>So it is 4.<extra_0><|im_end|>',
      containing('Because.<extra_0>'),
    ],
  });
  expect(model).toMatchObject({ provider: 'vllm', incremental: true, scores: 'steps' });
});

test('leaves out the steps before `from`', async () => {
  const { model } = await modelOf();
  const { scores } = await model.score({ solutions: [{ ...two, from: 1 }] }, plainCall());
  expect(scores).toEqual([[0.3]]);
});

test('reads base64, which has the precision of 32 bits', async () => {
  const { server, model } = await modelOf({ encoding: 'base64' });
  const { scores } = await model.score({ solutions: [two] }, plainCall());
  expect(scores[0]).toEqual([close(0.9, 6), close(0.3, 6)]);
  expect(server.requests[0]?.body).toMatchObject({ encoding_format: 'base64' });
});

test('asks for logits where it is told to, and takes their softmax', async () => {
  const { server, model } = await modelOf({ activation: 'logits' });
  const { scores } = await model.score({ solutions: [two] }, plainCall());
  expect(scores[0]).toEqual([close(0.9, 12), close(0.3, 12)]);
  expect(server.requests[0]?.body).toMatchObject({ use_activation: false });
});

test.each([
  ['mathShepherd', 'What is 2 + 2? Step 1: First, add. ки\nStep 2: So it is 4. ки'],
  ['openr', 'What is 2 + 2? First, add. \n\n\n\n\n So it is 4. \n\n\n\n\n'],
] as const)('%s: reads the first of two probabilities', async (name, input) => {
  const { server, model } = await modelOf({ recipe: recipes[name] });
  const { scores } = await model.score({ solutions: [two] }, plainCall());
  expect(scores).toEqual([[0.9, 0.3]]);
  expect(server.requests[0]?.body).toMatchObject({ input: [input] });
});

test('skyworkPrm: sends tokens, and reads the sigmoid of the value at the end of each step', async () => {
  const ends = ({ text }: RewardQuestion) =>
    text.endsWith('add.\nNow.\n') ? 0.8 : text.endsWith('4.\n') ? 0.2 : 0.5;
  const { server, model } = await modelOf({ recipe: recipes.skyworkPrm }, ends);
  const lines = { ...two, steps: ['First, add.\nNow.', 'So it is 4.'] };
  const { scores } = await model.score({ solutions: [lines] }, plainCall());
  expect(scores[0]).toEqual([close(0.8, 12), close(0.2, 12)]);
  const paths = server.requests.map(({ path }) => path);
  // The question, its line break, three lines; a text that was told is not asked for again.
  expect(paths.filter((path) => path === '/tokenize')).toHaveLength(5);
  expect(paths.at(-1)).toBe('/pooling');
  expect(server.requests.at(-1)?.body).toMatchObject({ use_activation: false });
});

// What cannot be told from something else.
test('a mark in a step or in the question fails that solution, and nobody is asked about it', async () => {
  const { server, model } = await modelOf();
  const marked = { prompt: 'Q', steps: ['Fine.', 'Use <extra_0> here.'] };
  const asking = { prompt: 'Why <|im_end|>?', steps: ['Fine.'] };
  const { scores } = await model.score({ solutions: [marked, one, asking] }, plainCall());
  expect(scores).toEqual([
    {
      kind: 'invalid',
      message: 'Expected step 2 not to contain "<extra_0>", a mark of the recipe qwen-math-prm.',
    },
    [0.9],
    {
      kind: 'invalid',
      message:
        'Expected the question not to contain "<|im_end|>", a mark of the recipe qwen-math-prm.',
    },
  ]);
  expect(server.requests[0]?.body).toMatchObject({ input: [containing('Because.')] });
  expect((await model.score({ solutions: [marked] }, plainCall())).usage).toEqual({
    inputTokens: 0,
    outputTokens: 0,
  });
  expect(server.requests).toHaveLength(1);
});

test('answers in any order go to their solutions', async () => {
  const scores = await scoresWith(withData((data) => data.toReversed()));
  expect(scores).toEqual([[0.75, 0.25], [0.25]]);
});

test.each([
  ['a row too few', (rows: readonly number[][]) => rows.slice(1), /2 in all, got 1/],
  ['a row too many', (rows: readonly number[][]) => [...rows, [0.5, 0.5]], /2 in all, got 3/],
  [
    'a number too many',
    () => [
      [0.1, 0.2, 0.7],
      [0.5, 0.5],
    ],
    /row of 2 numbers, got 3/,
  ],
  [
    'NaN, which JSON has as null',
    () => [
      [null, null],
      [0.5, 0.5],
    ],
    /a number, got `null`/,
  ],
  [
    'a probability above 1',
    () => [
      [-0.5, 1.5],
      [0.5, 0.5],
    ],
    /from 0 to 1, got `-0.5`/,
  ],
  [
    'probabilities that are none',
    () => [
      [0.9, 0.9],
      [0.5, 0.5],
    ],
    /sum to 1, got `1.8`/,
  ],
  [
    'text',
    () => [
      ['high', 'low'],
      [0.5, 0.5],
    ],
    /got `"high"`/,
  ],
  ['nothing', () => undefined, /one answer per solution/],
  ['base64 of another length', () => 'AAAA', /rows of 2 numbers as base64/],
  ['NaN as base64', () => 'AADAfwAAwH8AAMB/AADAfw==', /a number, got `NaN`/],
])('%s fails one solution and leaves the other', async (_what, change, message) => {
  const [first, second] = await scoresWith(
    withData(([head, ...rest]) => [{ ...head, data: change(head?.data ?? []) }, ...rest]),
  );
  expect(first).toMatchObject({ kind: 'invalid', message: matching(message) });
  expect(second).toEqual([0.25]);
});

test('half of an answer fails the other half', async () => {
  const scores = await scoresWith(withData((data) => data.slice(1)));
  expect(scores).toEqual([
    { kind: 'invalid', message: 'Expected one answer per solution, got none or several.' },
    [0.25],
  ]);
  const twice = await scoresWith(withData((data) => [data[0], data[0], data[1]]));
  expect(twice[0]).toMatchObject({ kind: 'invalid' });
});

test('a reply of another shape is an error of the call', async () => {
  await expect(scoresWith(() => ({ object: 'list' }))).rejects.toMatchObject({
    kind: 'malformed',
    message: 'vllm:emulated answered with JSON with another structure: it has no `data`.',
  });
});

describe('outcome reward models, by /classify', () => {
  const recipe = recipes.sequenceClassifier({ template: 'llama3' });

  test('gives one probability a solution', async () => {
    const { server, model } = await modelOf({ recipe });
    const { scores } = await model.score({ solutions: [two, one] }, plainCall());
    expect(scores).toEqual([[0.3], [0.9]]);
    expect(server.requests.map(({ path }) => path)).toEqual(['/classify']);
    expect(server.requests[0]?.body).toMatchObject({
      input: [
        '<|start_header_id|>user<|end_header_id|>\n\nWhat is 2 + 2?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nFirst, add.\nSo it is 4.<|eot_id|>',
        matching(/./),
      ],
    });
    expect(model).toMatchObject({ scores: 'solution', range: [0, 1], incremental: false });
  });

  test('gives logits as they are, which have no bounds', async () => {
    const { model } = await modelOf({ recipe, activation: 'logits' });
    const { scores } = await model.score({ solutions: [one] }, plainCall());
    // ln(0.9 / 0.1)
    expect(scores[0]).toEqual([close(Math.log(9), 12)]);
    expect(model.range).toEqual([-Infinity, Infinity]);
  });

  test('takes logits for no probabilities', async () => {
    const { model } = await modelOf({ recipe }, () => 7);
    const { scores } = await model.score({ solutions: [one] }, plainCall());
    expect(scores[0]).toMatchObject({
      kind: 'invalid',
      message: containing("Set `activation` to 'logits'"),
    });
  });
});

describe('the labels of a model that writes, by /generative_scoring', () => {
  test('gives the share of the good label, each step with all before it', async () => {
    const asked: RewardQuestion[] = [];
    const { server, model } = await modelOf(
      { recipe: recipes.mathShepherd, endpoint: 'generative_scoring' },
      (question) => {
        asked.push(question);
        return reward({ text: question.text });
      },
    );
    const call = plainCall();
    const { scores } = await model.score({ solutions: [two, one] }, call);
    expect(scores).toEqual([[0.9, 0.3], [0.9]]);
    expect(asked.map(({ query, text }) => [query, text])).toEqual([
      ['What is 2 + 2?', ' Step 1: First, add. ки'],
      ['What is 2 + 2?', ' Step 1: First, add. ки\nStep 2: So it is 4. ки'],
      ['Why?', ' Step 1: Because. ки'],
    ]);
    expect(server.requests[0]?.body).toMatchObject({
      label_token_ids: [648, 387],
      apply_softmax: true,
      item_first: false,
    });
    expect(call.leaves).toEqual(['Each step is scored by itself.']);
  });

  test('refuses a recipe without labels', () => {
    expect(() =>
      vllmReward({ model: 'm', recipe: recipes.qwenMathPrm, endpoint: 'generative_scoring' }),
    ).toThrow('Expected `labelIds` to be two token ids, because the recipe has no labels');
  });
});

// Calls that fail.
test('a solution that is too long fails alone', async () => {
  const server = await opened({
    dialect: 'vllm',
    reward,
    faults: ({ body }) =>
      JSON.stringify(body).includes('long') ? ['context-overflow' as const] : [],
  });
  const model = vllmReward({
    baseUrl: server.url,
    model: 'emulated',
    recipe: recipes.qwenMathPrm,
  });
  const long = { prompt: 'A long one', steps: ['…'] };
  const { scores } = await model.score({ solutions: [two, long, one] }, plainCall());
  expect(scores).toEqual([
    [0.9, 0.3],
    { kind: 'call', message: containing('does not fit the context') },
    [0.9],
  ]);
  expect(server.requests).toHaveLength(4);
});

test('a 500 is an error of the call, and is tried again', async () => {
  const server = await opened({
    dialect: 'vllm',
    reward,
    faults: ({ index }) => (index === 0 ? ['server-error' as const] : []),
  });
  const options = { baseUrl: server.url, model: 'emulated', recipe: recipes.qwenMathPrm };
  await expect(
    vllmReward({ ...options, retry: false }).score({ solutions: [one] }, plainCall()),
  ).rejects.toMatchObject({ code: 'model-call', kind: 'overloaded', status: 500 });
  const again = await opened({
    dialect: 'vllm',
    reward,
    faults: ({ index }) => (index === 0 ? ['server-error' as const] : []),
  });
  const { scores } = await vllmReward({ ...options, baseUrl: again.url }).score(
    { solutions: [one] },
    plainCall(),
  );
  expect(scores).toEqual([[0.9]]);
});

test('no error shows the key', async () => {
  const apiKey = 'secret-key-of-mine';
  const server = await opened({ dialect: 'vllm', faults: ['auth'] });
  const model = vllmReward({
    ...{ baseUrl: server.url, model: 'emulated', recipe: recipes.qwenMathPrm, apiKey },
  });
  const failing = model.score({ solutions: [one] }, plainCall());
  await expect(failing).rejects.toMatchObject({ kind: 'auth' });
  await expect(failing).rejects.not.toThrow(apiKey);
});

test('an abort closes the call with its reason', async () => {
  const server = await opened({ dialect: 'vllm', faults: ['stall'] });
  const controller = new AbortController();
  const model = vllmReward({
    baseUrl: server.url,
    model: 'emulated',
    recipe: recipes.qwenMathPrm,
  });
  const failing = model.score({ solutions: [one] }, plainCall(controller.signal));
  controller.abort(new Error('changed my mind'));
  await expect(failing).rejects.toThrow('changed my mind');
});

test.each([
  [{ model: '' }, 'Expected `model` to be the name of a model'],
  [{ recipe: recipes.rlhflow as never }, 'which is a conversation; use logprobReward'],
  [{ recipe: {} as never }, 'Expected `recipe` to be a recipe'],
  [{ baseUrl: 'ftp://x' }, 'Expected `baseUrl`'],
  [{ encoding: 'hex' as never }, 'Expected `encoding`'],
])('refuses %o', (wrong, message) => {
  const sound = { model: 'm', recipe: recipes.qwenMathPrm };
  expect(() => vllmReward({ ...sound, ...wrong })).toThrow(message);
});
