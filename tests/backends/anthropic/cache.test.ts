import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anthropic } from '../../../src/backends/index.ts';
import type { GenerateRequest, Message, Usage } from '../../../src/contracts/language-model.ts';
import { countTokens } from '../../../src/testing/emulator/tokens.ts';
import { type Emulator, emulator } from '../../../src/testing/index.ts';
import { openGate } from '../../calls/harness.ts';
import { user } from './messages-server.ts';

const name = 'claude-sonnet-5-5';
/** Longer than any prompt that the cache does not keep. */
const content = 'Solve the puzzle step by step. '.repeat(20);
const system: Message = { role: 'system', content };
/** The marks around a turn count, and stand in its first and its last block. */
const turn = (role: string, text: string) => `<|${role}|>${text}<|end|>`;

describe('the cache of the server', () => {
  let server: Emulator;
  beforeEach(async () => {
    server = await emulator({ dialect: 'anthropic', models: [name] });
  });
  afterEach(() => server.close());

  /** The usages of the calls that a search makes for these requests, one after the other. */
  async function usagesOf(...requests: readonly GenerateRequest[]): Promise<readonly Usage[]> {
    const { calls, journal } = openGate();
    const model = anthropic({ model: name, apiKey: 'some-key', baseUrl: server.url });
    for (const request of requests) await calls.generate(model, request);
    const results = journal.lines.filter((line) => line.type === 'result');
    return results
      .toSorted((a, b) => a.call - b.call)
      .map(({ output }) => (output as unknown as { usage: Usage }).usage);
  }

  test('is filled by the first sample and read by the others', async () => {
    const question = 'What is the next step?';
    const usages = await usagesOf({ messages: [system, user(question)], samples: 4, maxTokens: 9 });
    const prompt = countTokens(turn('system', system.content) + turn('user', question));
    expect(usages.map(({ cachedTokens }) => cachedTokens)).toEqual([0, prompt, prompt, prompt]);
    expect(usages.map(({ cacheWriteTokens }) => cacheWriteTokens)).toEqual([prompt, 0, 0, 0]);
    expect(usages.map(({ inputTokens }) => inputTokens)).toEqual(Array(4).fill(prompt + 1));
    expect(server.account.requests).toBe(4);
  });

  test('has what a node shares with its parent: all but the last turn', async () => {
    const ask = user('What is the next step?');
    const path = [system, user('Make 24 of 4, 6, 8 and 9.')];
    const step: Message = { role: 'assistant', content: 'Add the first two.' };
    const other: Message = { role: 'assistant', content: 'Take away the last one.' };
    const [, child, sibling] = await usagesOf(
      { messages: [...path, step, ask], maxTokens: 9 },
      { messages: [...path, step, user('And then?')], maxTokens: 9 },
      { messages: [...path, other, ask], maxTokens: 9 },
    );
    const start = turn('system', system.content);
    const question = turn('user', path[1]?.content ?? '');
    const answer = turn('assistant', step.content);
    expect(child?.cachedTokens).toBe(countTokens(start + question + answer));
    expect(sibling?.cachedTokens).toBe(countTokens(start));
  });

  test('has the question where an answer that has begun is told in it', async () => {
    const messages = [system, user('Make 24 of 4, 6, 8 and 9.')];
    const begun = (content: string): GenerateRequest => ({
      messages: [...messages, { role: 'assistant', content }],
      maxTokens: 9,
    });
    const [first, second] = await usagesOf(begun('First add.'), begun('First take away.'));
    expect(first?.cachedTokens).toBe(0);
    const atLeast = countTokens(turn('system', system.content) + messages[1]?.content);
    expect(second?.cachedTokens).toBeGreaterThan(atLeast);
    const { cachedTokens = 0, cacheWriteTokens = 0, inputTokens } = second ?? {};
    // Written anew is only the beginning of the answer itself, with the mark that ends the turn.
    expect(cacheWriteTokens).toBe(countTokens('First take away.<|end|>'));
    expect(cachedTokens + cacheWriteTokens + 1).toBe(inputTokens);
  });

  test('is left alone where that is wished', async () => {
    const { calls } = openGate();
    const options = { model: name, apiKey: 'some-key', baseUrl: server.url };
    const model = anthropic({ ...options, cache: false });
    const messages = [system, user('What is the next step?')];
    const { usage } = await calls.generate(model, { messages, samples: 3, maxTokens: 9 });
    expect(usage).toMatchObject({ cachedTokens: 0, cacheWriteTokens: 0 });
  });
});
