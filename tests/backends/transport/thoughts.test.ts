import { describe, expect, test } from 'vitest';
import { openaiCompatible } from '../../../src/backends/index.ts';
import { withoutThoughts } from '../../../src/backends/transport/thoughts.ts';
import type { GenerateRequest } from '../../../src/contracts/language-model.ts';
import { notedCall, stubFetch } from './stub-fetch.ts';

const tokens = (...texts: readonly string[]) => texts.map((token) => ({ token, logprob: -1 }));

describe('an answer without its thoughts', () => {
  test.each<[string, string, string | undefined]>([
    ['<think>\nHm.\n</think>\n\nYes.', 'Yes.', 'Hm.'],
    ['\n<think>Hm.</think>Yes.', 'Yes.', 'Hm.'],
    // Cut off while it thinks.
    ['<think>\nHm, and', '', 'Hm, and'],
    // The template has opened it.
    ['Hm.\n</think>\n\nYes.', 'Yes.', 'Hm.'],
    ['</think>Yes.', 'Yes.', undefined],
    ['<think></think>Yes.', 'Yes.', undefined],
    ['Yes.', 'Yes.', undefined],
    // Marks that an answer is about.
    ['Write <think> and then </think>.', 'Write <think> and then </think>.', undefined],
    ['<think>Hm.</think>Write </think>.', 'Write </think>.', 'Hm.'],
  ])('%j', (written, text, reasoning) => {
    expect(withoutThoughts({ text: written })).toEqual({
      text,
      ...(reasoning !== undefined && { reasoning }),
    });
  });

  test.each([
    [tokens('<think>', 'Hm.', '</think>', '\n\n', 'Yes', '.'), tokens('Yes', '.')],
    // Special tokens that the text does not show.
    [tokens('Hm.', '\n\n', 'Yes', '.'), tokens('Yes', '.')],
    // The answer begins within a token.
    [tokens('<think>', 'Hm.</think>\n\nYes', '.'), undefined],
  ])('has the log-probabilities of its own tokens, or none', (logprobs, left) => {
    const told = withoutThoughts({ text: '<think>Hm.</think>\n\nYes.', logprobs });
    expect(told.logprobs).toEqual(left);
  });

  test('has no log-probability where it is empty', () => {
    const told = withoutThoughts({ text: '<think>Hm', logprobs: tokens('<think>', 'Hm') });
    expect(told).toEqual({ text: '', reasoning: 'Hm', logprobs: [] });
  });
});

describe('a server of one’s own', () => {
  const user = { role: 'user', content: 'Hi' } as const;
  async function answered(
    message: Readonly<Record<string, unknown>>,
    wish: Partial<GenerateRequest> = {},
    preset: 'ollama' | 'vllm' = 'vllm',
  ) {
    const { fetch } = stubFetch({ json: { choices: [{ message, finish_reason: 'stop' }] } });
    const model = openaiCompatible({ preset, baseUrl: 'http://host/v1', model: 'm', fetch });
    const call = notedCall();
    const request = { messages: [user], maxTokens: 9, ...wish };
    const { completions } = await model.generate(request, call);
    return { completion: completions[0], warnings: call.warnings };
  }

  test('tells thoughts as reasoning, and JSON behind them is JSON', async () => {
    const content = '<think>Hm.</think>{"a":1}';
    const { completion, warnings } = await answered({ content }, { schema: { type: 'object' } });
    expect(completion).toEqual({ text: '{"a":1}', reasoning: 'Hm.', finishReason: 'stop' });
    expect(warnings).toEqual([]);
  });

  test('is cut off at stop texts of the answer, and not of the thoughts', async () => {
    const { completion } = await answered(
      { content: '<think>A. B.</think>C. D.' },
      { stop: ['.'] },
    );
    expect(completion).toMatchObject({ text: 'C', reasoning: 'A. B.' });
  });

  test('that tells thoughts apart writes of `</think>` as of anything', async () => {
    const { completion } = await answered({ content: 'Use </think>.', reasoning: 'Hm.' });
    expect(completion).toMatchObject({ text: 'Use </think>.', reasoning: 'Hm.' });
  });

  test('goes on from a beginning with whatever comes: it may be one of thoughts', async () => {
    const messages = [user, { role: 'assistant', content: '<think>First' }] as const;
    const { completion } = await answered({ content: ', then.</think>Yes.' }, { messages });
    expect(completion).toEqual({ text: ', then.</think>Yes.', finishReason: 'stop' });
  });

  test('that is told the beginning thinks first, and may repeat it then', async () => {
    const messages = [user, { role: 'assistant', content: 'Well, ' }] as const;
    const content = '<think>Hm.</think>Well, yes.';
    const { completion } = await answered({ content }, { messages }, 'ollama');
    expect(completion).toEqual({ text: 'yes.', reasoning: 'Hm.', finishReason: 'stop' });
  });
});
