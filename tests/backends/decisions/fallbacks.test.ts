import { expect, test } from 'vitest';
import { decisionsFromModel, decisionsFromScores } from '../../../src/backends/index.ts';
import type { DecisionRequest } from '../../../src/contracts/decision-model.ts';
import type { Completion } from '../../../src/contracts/language-model.ts';
import type { RewardQuestion } from '../../../src/testing/emulator/options.ts';
import { scriptedModel } from '../../../src/testing/index.ts';
import { opened } from '../../testing/emulator-support.ts';
import { close, mangling, matching, plainCall } from '../rewards/support.ts';

const messages = [{ role: 'user', content: 'A house on sand.' }] as const;
const sound = { type: 'yes-no', text: 'Is it sound?', no: 'It falls.' } as const;
const quality = { type: 'scale', text: 'How good?', levels: ['bad', 'fair', 'fine'] } as const;
const next = {
  type: 'choice',
  text: 'What next?',
  choices: { build: null, stop: 'Quit.' },
} as const;
const request: DecisionRequest = { messages, questions: { sound, quality, next } };

/** A completion whose first token has these probabilities. */
function told(probabilities: Readonly<Record<string, number>>): Completion {
  const top = Object.entries(probabilities).map(([token, p]) => ({ token, logprob: Math.log(p) }));
  return { text: 'x', logprobs: [{ token: 'x', logprob: -1, top }] };
}

const capabilities = { logprobs: true, temperature: true };
const model = (answer: (text: string) => Completion) =>
  scriptedModel({ capabilities, answer: (asked) => answer(asked.messages.at(-1)?.content ?? '') });

test('reads one token a question, normalised over the codes', async () => {
  const language = model((text) => {
    if (text.includes('sound')) return told({ Yes: 0.2, ' yes': 0.1, no: 0.1, maybe: 0.6 });
    if (text.includes('good')) return told({ '0': 0.1, '1': 0.1, ' 2': 0.2, a: 0.5 });
    return told({ A: 0.1, B: 0.3, a: 0.5 });
  });
  const { answers, usage } = await decisionsFromModel({ model: language }).decide(
    request,
    plainCall(),
  );
  expect(answers).toEqual({
    sound: { type: 'yes-no', probability: close(0.75) },
    // (0 · 0.1 + 1 · 0.1 + 2 · 0.2) / 0.4
    quality: {
      type: 'scale',
      level: close(1.25),
      probabilities: [0.25, 0.25, 0.5].map((share) => close(share)),
    },
    next: {
      type: 'choice',
      choice: 'stop',
      probabilities: { build: close(0.25), stop: close(0.75) },
    },
  });
  expect(usage?.outputTokens).toBe(3);
  expect(language.requests.map(({ messages: [only], ...rest }) => [only?.content, rest])).toEqual(
    [
      'A house on sand.\n\nIs it sound?\nno means: It falls.\nAnswer in one word: yes or no.',
      'A house on sand.\n\nHow good?\n0: bad\n1: fair\n2: fine\nAnswer with the number in front of the level that fits best.',
      'A house on sand.\n\nWhat next?\nA: build\nB: stop (Quit.)\nAnswer with the letter in front of the choice that fits best.',
    ].map((text) => [text, { maxTokens: 1, temperature: 0, logprobs: true, topLogprobs: 20 }]),
  );
});

test('passes its call on, with its name, price and prompts', async () => {
  const calls: unknown[] = [];
  const language = {
    ...model(() => told({ yes: 1 })),
    price: { input: 1, output: 2 },
    generate: (_request: unknown, call: unknown) => {
      calls.push(call);
      return Promise.resolve({ completions: [told({ yes: 0.5, no: 0.5 })], usage: {} });
    },
  };
  const deciding = decisionsFromModel({
    model: language,
    prompts: { yesNo: '{question} Y/N{options}' },
  });
  const call = plainCall();
  await deciding.decide({ messages, questions: { sound } }, call);
  expect(calls).toEqual([call]);
  expect(deciding).toMatchObject({ provider: 'scripted', modelId: 'script', price: { input: 1 } });
  const usual = decisionsFromModel({ model: language });
  expect(Object.keys(usual.prompts ?? {})).toEqual(['decisions-from-model']);
  expect(deciding.prompts).not.toEqual(usual.prompts);
});

test('fails where none of the codes was likely, or the model declined', async () => {
  const none = model(() => told({ The: 0.9, perhaps: 0.1 }));
  const one = { messages, questions: { sound } };
  expect((await decisionsFromModel({ model: none }).decide(one, plainCall())).answers).toEqual({
    sound: {
      kind: 'parse',
      message: 'Expected one of yes, no with a probability of 0.1 or more, got "The", "perhaps".',
    },
  });
  const shy = model(() => ({ text: '', finishReason: 'refusal' }));
  expect((await decisionsFromModel({ model: shy }).decide(one, plainCall())).answers).toEqual({
    sound: { kind: 'call', message: 'The model declined to answer `sound`.' },
  });
});

test('needs log-probabilities', async () => {
  const silent = model(() => ({ text: 'yes' }));
  await expect(
    decisionsFromModel({ model: silent }).decide(request, plainCall()),
  ).rejects.toMatchObject({ kind: 'capability', parameter: 'logprobs' });
});

const weights: Readonly<Record<string, number>> = {
  yes: 0.4,
  '0': 0.1,
  '1': 0.3,
  '2': 0.6,
  A: 0.8,
};

test('vLLM: one request a code, and one for two', async () => {
  const reward = ({ label = '' }: RewardQuestion) => weights[label] ?? 0;
  const server = await opened({ dialect: 'vllm', reward });
  const deciding = decisionsFromScores({ baseUrl: server.url, model: 'emulated', server: 'vllm' });
  const call = plainCall();
  const { answers } = await deciding.decide(request, call);
  expect(answers).toEqual({
    sound: { type: 'yes-no', probability: 0.4 },
    quality: {
      type: 'scale',
      level: close(1.5),
      probabilities: [0.1, 0.3, 0.6].map((share) => close(share)),
    },
    next: {
      type: 'choice',
      choice: 'build',
      probabilities: { build: close(0.8), stop: close(0.2) },
    },
  });
  const scored = server.requests.filter(({ path }) => path === '/generative_scoring');
  expect(scored).toHaveLength(5);
  expect(call.leaves).toHaveLength(2);
  expect(scored.map(({ body }) => body)).toContainEqual(
    expect.objectContaining({
      query: 'A house on sand.\n\n',
      items: ['Is it sound?\nno means: It falls.\nAnswer in one word: yes or no.\n\nAnswer:\n'],
      apply_softmax: true,
    }),
  );
});

test('SGLang: questions with the same codes go out together; codes are looked up once', async () => {
  const server = await opened({
    dialect: 'sglang',
    reward: ({ text }) => (text.startsWith('Is it') ? 0.7 : 0.2),
  });
  const deciding = decisionsFromScores({ baseUrl: server.url, model: 'm', server: 'sglang' });
  const questions = { sound, safe: { type: 'yes-no', text: 'Safe?' } } as const;
  for (let round = 0; round < 2; round++) {
    expect((await deciding.decide({ messages, questions }, plainCall())).answers).toEqual({
      sound: { type: 'yes-no', probability: close(0.7) },
      safe: { type: 'yes-no', probability: close(0.2) },
    });
  }
  expect(server.requests.map(({ path }) => path).sort()).toEqual([
    ...['/tokenize', '/tokenize', '/v1/score', '/v1/score'],
  ]);
});

test('takes ids and a template of one’s own', async () => {
  const server = await opened({ dialect: 'sglang', reward: () => 0.7 });
  const deciding = decisionsFromScores({
    ...{ baseUrl: server.url, model: 'm', server: 'sglang', labelIds: { yes: 9693, no: 2152 } },
    render: (turns) => `<|user|>${turns.map(({ content }) => content).join('')}<|assistant|>`,
  });
  await deciding.decide({ messages, questions: { sound } }, plainCall());
  expect(server.requests.map(({ body }) => body)).toMatchObject([
    {
      query: '<|user|>A house on sand.\n\n',
      items: [matching(/^Is it sound\?.*<\|assistant\|>$/s)],
      label_token_ids: [9693, 2152],
    },
  ]);
});

test.each([
  ['a score too few', () => []],
  ['NaN', () => [[null, null]]],
  ['a share above 1', () => [[1.5, -0.5]]],
  ['a label too many', () => [[0.2, 0.3, 0.5]]],
])('SGLang: %s fails the question', async (_what, change) => {
  const server = await opened({ dialect: 'sglang' });
  const fetch = mangling((body: object) => ('scores' in body ? { scores: change() } : body));
  const deciding = decisionsFromScores({
    baseUrl: server.url,
    model: 'm',
    server: 'sglang',
    fetch,
  });
  const { answers } = await deciding.decide({ messages, questions: { sound } }, plainCall());
  expect(answers['sound']).toMatchObject({ kind: 'parse' });
});

test('a code that is no single token is an error', async () => {
  const server = await opened({ dialect: 'sglang' });
  const fetch = mangling((body: object) => ('tokens' in body ? { tokens: [1, 2] } : body));
  const deciding = decisionsFromScores({
    ...{ baseUrl: server.url, model: 'm', server: 'sglang', fetch, retry: false },
  });
  await expect(deciding.decide(request, plainCall())).rejects.toMatchObject({ kind: 'capability' });
});
