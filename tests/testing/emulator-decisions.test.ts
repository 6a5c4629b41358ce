import { expect, test } from 'vitest';
import { opened, post } from './emulator-support.ts';

const questions = { good: { type: 'noul', instructions: 'Is it good?' } };

test.each(['llama-server', 'ollama', 'sglang'] as const)(
  '%s: answers the questions of System One, or says that its model cannot',
  async (dialect) => {
    const server = await opened({ dialect, reward: ({ label }) => (label === 'true' ? 0.25 : 1) });
    const { body } = await post(server, '/v1/systemone', { body: { state: 'x', questions } });
    expect(body).toMatchObject({ answers: { good: { type: 'noul', noul: 0.25 } } });
    const plain = await opened({ dialect, decides: false });
    const refused = await post(plain, '/v1/systemone', { body: { state: 'x', questions } });
    expect(refused.status).toBe(501);
  },
);

test('Decisions: names a question that has no name null, and takes no kind that it does not know', async () => {
  const server = await opened({ dialect: 'openai', reward: () => 0.5 });
  const ask = (question: object) =>
    post(server, '/v1/decisions', { body: { input: 'x', questions: [question] } });
  expect((await ask({ type: 'predicate', instructions: 'Good?' })).body).toMatchObject({
    answers: [{ type: 'predicate', name: null, probability: 0.5 }],
  });
  expect((await ask({ type: 'essay' })).status).toBe(400);
});

test.each(['openai', 'vllm', 'sglang', 'llama-server', 'ollama'] as const)(
  '%s: gives each text a vector of its own, the same each time',
  async (dialect) => {
    const server = await opened({ dialect });
    const ask = async () => {
      const { body } = await post(server, '/v1/embeddings', { body: { input: ['a', 'b'] } });
      return (body as { data: { embedding: number[] }[] }).data.map(({ embedding }) => embedding);
    };
    const [first, second] = await ask();
    expect(first).toHaveLength(8);
    expect(first).not.toEqual(second);
    expect(await ask()).toEqual([first, second]);
  },
);

test('SGLang: tells the tokens of a text', async () => {
  const server = await opened({ dialect: 'sglang', contextLength: 100 });
  const { body } = await post(server, '/tokenize', { body: { prompt: 'Add five.' } });
  expect(body).toMatchObject({ count: 3, tokens: [0, 1, 2], max_model_len: 100 });
});
