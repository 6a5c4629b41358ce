import { expect, test } from 'vitest';
import { chat, get, opened, post, some, textOf } from './emulator-support.ts';

const partial = (content: string) => [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content },
];

test('takes a trailing answer for a turn of the user unless it is told otherwise', async () => {
  const server = await opened({ dialect: 'sglang' });
  const whole = textOf(await chat(server));
  const messages = partial(whole.slice(0, 4));
  const own = { continue_final_message: true };
  expect(textOf(await chat(server, { messages, ...own }))).toBe(whole.slice(4));
  await chat(server, { messages });
  expect(server.requests[2]?.questions[0]).toMatchObject({
    continues: false,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'user', content: whole.slice(0, 4) },
    ],
  });
});

test('names the stop text, or the token that ended the turn', async () => {
  const server = await opened({
    dialect: 'sglang',
    answer: () => ({ reasoning: 'Hm', text: 'One two' }),
  });
  expect((await chat(server, { stop: [' two'] })).body).toMatchObject({
    choices: [
      {
        message: { content: 'One', reasoning_content: 'Hm' },
        finish_reason: 'stop',
        matched_stop: ' two',
      },
    ],
    usage: { completion_tokens: 2 },
  });
  expect((await chat(server)).body).toMatchObject({ choices: [{ matched_stop: 2 }] });
  expect((await chat(server, { max_tokens: 2 })).body).toMatchObject({
    choices: [{ finish_reason: 'length', matched_stop: null }],
  });
  const kept = await chat(server, { stop: ['two'], no_stop_trim: true });
  expect(textOf(kept)).toBe('One two');
});

test('has its errors at the top level', async () => {
  const server = await opened({ dialect: 'sglang', contextLength: 10 });
  const { status, body } = await chat(server, { max_tokens: 7 });
  expect(status).toBe(400);
  expect(body).toEqual({
    object: 'error',
    message:
      "Requested token count exceeds the model's maximum context length of 10 tokens. You requested a total of 11 tokens: 4 tokens from the input messages and 7 tokens for the completion.",
    type: 'BadRequestError',
    param: null,
    code: 400,
  });
  const long = { messages: [{ role: 'user', content: 'a b c d e f g h' }] };
  expect((await chat(server, long)).body).toMatchObject({
    message: "The input (11 tokens) is longer than the model's context length (10 tokens).",
  });
});

test('serves any model name, and tells of itself', async () => {
  const server = await opened({ dialect: 'sglang', models: ['a/b'] });
  expect((await chat(server)).status).toBe(200);
  expect((await get(server, '/get_model_info')).body).toMatchObject({
    model_path: 'a/b',
    is_generation: true,
  });
  expect((await get(server, '/v1/models')).body).toMatchObject({ data: [{ id: 'a/b' }] });
  expect((await get(server, '/health')).status).toBe(200);
  expect(await get(server, '/nowhere')).toMatchObject({
    status: 404,
    body: { detail: 'Not Found' },
  });
});

test('counts what it read before, token by token', async () => {
  const server = await opened({ dialect: 'sglang', answer: () => 'Yes' });
  await chat(server);
  // All but the last of the four tokens; then the prompt and the answer, whose turn is not over yet.
  expect((await chat(server)).body).toMatchObject({
    usage: { prompt_tokens_details: { cached_tokens: 3 } },
  });
  const messages = [...partial('Yes'), { role: 'user', content: 'More' }];
  expect((await chat(server, { messages })).body).toMatchObject({
    usage: { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 5 } },
  });
});

test('generates natively', async () => {
  const server = await opened({ dialect: 'sglang', answer: ({ sample }) => `${sample} two` });
  const text = '<|user|>Hi<|end|><|assistant|>';
  const { body } = await post(server, '/generate', {
    body: { text, return_logprob: true, return_text_in_logprobs: true },
  });
  expect(body).toMatchObject({
    text: '0 two',
    meta_info: {
      finish_reason: { type: 'stop', matched: 2 },
      prompt_tokens: 4,
      completion_tokens: 2,
      cached_tokens: 0,
      output_token_logprobs: [
        [some(Number), some(Number), '0'],
        [some(Number), some(Number), ' two'],
      ],
    },
  });
  const several = await post(server, '/generate', {
    body: { text, sampling_params: { n: 2, max_new_tokens: 1 } },
  });
  expect(several.body).toMatchObject([
    { text: '0', meta_info: { finish_reason: { type: 'length', length: 1 } } },
    { text: '1' },
  ]);
  const question = server.requests[0]?.questions[0];
  expect(question?.messages).toEqual([{ role: 'user', content: 'Hi' }]);
  expect(question?.maxTokens).toBe(128);
});

test('scores labels and conversations', async () => {
  const server = await opened({ dialect: 'sglang', reward: () => 0.6 });
  const request = { query: 'q', items: ['a', 'b'], label_token_ids: [1, 2, 3], model: 'm' };
  const soft = await post(server, '/v1/score', { body: { ...request, apply_softmax: true } });
  const { scores } = soft.body as { scores: number[][] };
  expect(soft.body).toMatchObject({ object: 'scoring', model: 'm', usage: { prompt_tokens: 2 } });
  expect(scores).toHaveLength(2);
  for (const row of scores) {
    expect(row[0]).toBe(0.6);
    expect(row).toHaveLength(3);
    expect(row.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 12);
  }
  const classified = await post(server, '/classify', { body: { model: 'm', text: ['x', 'y'] } });
  expect(classified.body).toMatchObject([{ embedding: [0.6] }, { embedding: [0.6] }]);
});
