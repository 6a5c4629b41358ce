import { expect, test } from 'vitest';
import { expectRequest } from '../../../src/backends/transport/expect-request.ts';
import type { GenerateRequest } from '../../../src/index.ts';

const messages = [{ role: 'user', content: 'Hi' }] as const;

test.each<[unknown, string]>([
  [{ messages: [] }, '`messages` to be an array of at least one message, got an array of 0'],
  [{ messages: 'Hi' }, '`messages` to be an array of at least one message, got `"Hi"`'],
  [
    { messages: [{ role: 'robot', content: 'x' }] },
    "`messages[0].role` to be 'system' or 'user' or 'assistant' or 'tool', got `\"robot\"`",
  ],
  [{ messages: [{ role: 'user' }] }, '`messages[0].content` to be a string, got `undefined`'],
  [{ messages, samples: 0 }, '`samples` to be an integer from 1 up, got `0`'],
  [{ messages, offset: -1 }, '`offset` to be an integer from 0 up, got `-1`'],
  [{ messages, maxTokens: 1.5 }, '`maxTokens` to be an integer from 1 up, got `1.5`'],
  [
    { messages, temperature: Number.NaN },
    '`temperature` to be a finite number from 0 up, got `NaN`',
  ],
  [{ messages, topP: 0 }, '`topP` to be a number above 0, up to 1, got `0`'],
  [{ messages, topK: 0 }, '`topK` to be an integer from 1 up, got `0`'],
  [{ messages, seed: 0.5 }, '`seed` to be an integer, got `0.5`'],
  [{ messages, topLogprobs: 21 }, '`topLogprobs` to be an integer from 0 to 20, got `21`'],
  [{ messages, stop: '.' }, '`stop` to be an array of strings, got `"."`'],
  [{ messages, stop: ['a', ''] }, '`stop[1]` to be a string that is not empty, got `""`'],
])('%j is refused', (request, fault) => {
  expect(() => expectRequest(request as GenerateRequest)).toThrow(`Expected ${fault}.`);
});

test('a request with everything in range is taken', () => {
  const all = { samples: 2, offset: 0, maxTokens: 1, temperature: 0, topP: 1, topK: 1, seed: -1 };
  expect(() =>
    expectRequest({ messages, ...all, topLogprobs: 20, logprobs: true, stop: ['.'] }),
  ).not.toThrow();
});
