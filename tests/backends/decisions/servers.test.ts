import { describe, expect, test } from 'vitest';
import { decisions, systemOne } from '../../../src/backends/index.ts';
import type { DecisionRequest } from '../../../src/contracts/decision-model.ts';
import type { RewardQuestion } from '../../../src/testing/emulator/options.ts';
import { opened } from '../../testing/emulator-support.ts';
import { close, mangling, matching, plainCall } from '../rewards/support.ts';

const request: DecisionRequest = {
  messages: [{ role: 'user', content: 'A house on sand.' }],
  questions: {
    sound: { type: 'yes-no', text: 'Is it sound?', yes: 'It stands.' },
    quality: { type: 'scale', text: 'How good?', levels: ['bad', 'fair', 'fine'] },
    next: { type: 'choice', text: 'What next?', choices: { build: null, stop: 'Give up.' } },
  },
};

const weights: Readonly<Record<string, number>> = {
  ...{ true: 0.25, bad: 0.2, fair: 0.6, fine: 1.2, build: 0.75, stop: 0.25 },
};
const reward = ({ label = '' }: RewardQuestion) => weights[label] ?? 0;

/** 0.2 : 0.6 : 1.2 is 0.1, 0.3, 0.6, whose mean level is 0.3 + 1.2 = 1.5. */
const expected = {
  sound: { type: 'yes-no', probability: 0.25 },
  quality: {
    type: 'scale',
    level: close(1.5, 12),
    probabilities: [0.1, 0.3, 0.6].map((share) => close(share, 12)),
  },
  next: { type: 'choice', choice: 'build', probabilities: { build: 0.75, stop: 0.25 } },
};

describe('System One', () => {
  test('asks all questions in one request', async () => {
    const server = await opened({ dialect: 'llama-server', reward });
    const model = systemOne({ baseUrl: server.url, model: 'jev' });
    const { answers, usage } = await model.decide(request, plainCall());
    expect(answers).toEqual(expected);
    expect(usage).toEqual({ inputTokens: server.account.inputTokens, outputTokens: 0 });
    expect(server.requests.map(({ path, body }) => [path, body])).toEqual([
      [
        '/v1/systemone',
        {
          model: 'jev',
          state: 'A house on sand.',
          questions: {
            sound: { type: 'noul', instructions: 'Is it sound?', criteria: { true: 'It stands.' } },
            quality: {
              type: 'score',
              instructions: 'How good?',
              criteria: ['bad', 'fair', 'fine'],
            },
            next: {
              type: 'choice',
              instructions: 'What next?',
              criteria: { build: null, stop: 'Give up.' },
            },
          },
        },
      ],
    ]);
  });

  test('says in one sentence that a model makes no decisions', async () => {
    const server = await opened({ dialect: 'llama-server', decides: false });
    const model = systemOne({ baseUrl: server.url, model: 'plain' });
    await expect(model.decide(request, plainCall())).rejects.toMatchObject({
      kind: 'capability',
      message: 'systemone:plain is not a decision model.',
      retryable: false,
    });
  });

  test('sends a conversation as it is', async () => {
    const server = await opened({ dialect: 'ollama', reward });
    const model = systemOne({ baseUrl: server.url });
    const messages = [
      { role: 'system', content: 'Be strict.' },
      { role: 'user', content: 'Hi' },
    ] as const;
    await model.decide({ ...request, messages }, plainCall());
    expect(server.requests[0]?.body).toMatchObject({ model: 'jev-latest', state: messages });
  });
});

describe('OpenAI Decisions', () => {
  test('asks all questions in one request', async () => {
    const server = await opened({ dialect: 'sglang', reward });
    const model = decisions({ baseUrl: server.url, model: 'luna' });
    expect((await model.decide(request, plainCall())).answers).toEqual(expected);
    expect(server.requests.map(({ path, body }) => [path, body])).toEqual([
      [
        '/v1/decisions',
        {
          model: 'luna',
          input: 'A house on sand.',
          questions: [
            { type: 'predicate', name: 'sound', instructions: 'Is it sound?\nYes: It stands.' },
            {
              ...{ type: 'score', name: 'quality', instructions: 'How good?' },
              levels: [{ label: 'bad' }, { label: 'fair' }, { label: 'fine' }],
            },
            {
              ...{ type: 'choice', name: 'next', instructions: 'What next?' },
              choices: [{ value: 'build' }, { value: 'stop', description: 'Give up.' }],
            },
          ],
        },
      ],
    ]);
  });

  test('a refusal is the failure of its question', async () => {
    const server = await opened({
      dialect: 'openai',
      reward: (question) => (question.label === 'true' ? -1 : reward(question)),
    });
    const model = decisions({ baseUrl: server.url, model: 'emulated' });
    expect((await model.decide(request, plainCall())).answers).toEqual({
      ...expected,
      sound: { kind: 'call', message: 'The model declined to answer `sound`.' },
    });
  });
});

type Answers = Readonly<Record<string, object>>;

/** What becomes of the three questions where the answers of System One are changed on their way. */
async function systemOneWith(change: (answers: Answers) => unknown) {
  const server = await opened({ dialect: 'sglang', reward });
  const fetch = mangling(({ answers }: { answers: Answers }) => ({ answers: change(answers) }));
  const model = systemOne({ baseUrl: server.url, fetch, retry: false });
  return (await model.decide(request, plainCall())).answers;
}

test.each([
  ['sound', { type: 'noul', noul: 1.5 }, /from 0 to 1, got `1.5`/],
  ['sound', { type: 'noul', noul: null }, /from 0 to 1, got `null`/],
  ['sound', { type: 'score', score: 1 }, /of the type `noul`/],
  ['quality', { type: 'score', score: 2.5 }, /from 0 to 2, got `2.5`/],
  ['quality', { type: 'score' }, /got `undefined`/],
  ['next', { type: 'choice', choice: 'build' }, /sum to 1, got `0`/],
  ['next', { type: 'choice', probabilities: { build: 0.9, stop: 0.9 } }, /sum to 1/],
  ['next', { type: 'choice', probabilities: { build: -0.5, stop: 1.5 } }, /got `-0.5`/],
])('System One: a wrong answer to %s (%o) is its failure alone', async (name, wrong, message) => {
  const answers = await systemOneWith((sound) => ({ ...sound, [name]: wrong }));
  expect(answers).toEqual({
    ...expected,
    [name]: { kind: 'parse', message: matching(message) },
  });
});

test('System One: half an answer fails the other half; none is an error', async () => {
  const answers = await systemOneWith(({ sound }) => ({ sound }));
  expect(answers).toEqual({
    sound: expected.sound,
    quality: { kind: 'parse', message: 'Expected an answer to `quality`, got none.' },
    next: { kind: 'parse', message: 'Expected an answer to `next`, got none.' },
  });
  await expect(systemOneWith(() => undefined)).rejects.toMatchObject({ kind: 'malformed' });
});

test('System One: probabilities of levels that make no sense are left out', async () => {
  const quality = { type: 'score', score: 1, probabilities: { 0: 7 } };
  const answers = await systemOneWith((sound) => ({ ...sound, quality }));
  expect(answers['quality']).toEqual({ type: 'scale', level: 1 });
});

test('System One: rounded probabilities of choices are made to sum to 1', async () => {
  const next = { type: 'choice', probabilities: { build: 0.7575, stop: 0.2525 } };
  const answers = await systemOneWith((sound) => ({ ...sound, next }));
  // 0.7575 / 1.01
  expect(answers['next']).toMatchObject({
    probabilities: { build: close(0.75), stop: close(0.25) },
  });
});

test('Decisions: answers go to their questions by name, in any order', async () => {
  const server = await opened({ dialect: 'sglang', reward });
  const fetch = mangling(({ answers }: { answers: unknown[] }) => ({
    answers: answers.toReversed().slice(0, 2),
  }));
  const model = decisions({ baseUrl: server.url, model: 'luna', fetch });
  expect((await model.decide(request, plainCall())).answers).toEqual({
    ...expected,
    sound: { kind: 'parse', message: 'Expected an answer to `sound`, got none.' },
  });
});

test('a 500 is an error of the call', async () => {
  const server = await opened({ dialect: 'sglang', faults: ['server-error'] });
  const model = systemOne({ baseUrl: server.url, retry: false });
  await expect(model.decide(request, plainCall())).rejects.toMatchObject({ status: 500 });
});

test.each([
  [{}, '`questions` to be one question or more'],
  [{ a: { type: 'scale', text: '?', levels: ['one'] } }, '2 to 10 levels'],
  [{ a: { type: 'choice', text: '?', choices: { a: null } } }, '2 or more'],
  [{ a: { type: 'what' } }, "of the type 'yes-no', 'scale' or 'choice'"],
])('refuses the questions %o', async (questions, message) => {
  const model = systemOne({ baseUrl: 'http://127.0.0.1:1' });
  const wrong = { ...request, questions } as DecisionRequest;
  await expect(model.decide(wrong, plainCall())).rejects.toThrow(message);
});
