import type { LanguageModelV2, LanguageModelV2CallOptions } from 'ai-sdk-provider-2';
import type { LanguageModelV3, LanguageModelV3CallOptions } from 'ai-sdk-provider-3';
import { expect, expectTypeOf, test } from 'vitest';
import type { AiSdkModel } from '../../../src/backends/index.ts';
import { adapted, ask, fake } from './fake-model.ts';

test('models of the versions 2 and 3 are models of ours', () => {
  expectTypeOf<LanguageModelV2>().toExtend<AiSdkModel>();
  expectTypeOf<LanguageModelV3>().toExtend<AiSdkModel>();
});

test('what they are called with is what both versions take', async () => {
  const call = {
    prompt: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Add.' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Yes.' },
          { type: 'tool-call', toolCallId: 't', toolName: 'add', input: { a: 1 } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 't',
            toolName: 'add',
            output: { type: 'text', value: '1' },
          },
        ],
      },
    ],
    maxOutputTokens: 9,
    temperature: 0.5,
    stopSequences: ['END'],
    responseFormat: { type: 'json', schema: { type: 'object' }, name: 'answer' },
    tools: [{ type: 'function', name: 'add', inputSchema: { type: 'object' } }],
    toolChoice: { type: 'required' },
    headers: { 'x-espalier-sample': '0' },
  } satisfies LanguageModelV2CallOptions & LanguageModelV3CallOptions;
  const model = fake();
  await ask(adapted(model), {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Add.' },
      {
        role: 'assistant',
        content: 'Yes.',
        toolCalls: [{ id: 't', name: 'add', input: { a: 1 } }],
      },
      { role: 'tool', content: '1', toolCallId: 't' },
    ],
    maxTokens: 9,
    temperature: 0.5,
    stop: ['END'],
    schema: { type: 'object' },
    tools: [{ name: 'add', input: { type: 'object' } }],
    toolChoice: 'required',
  });
  const [{ abortSignal, ...called } = {}] = model.calls;
  expect(abortSignal).toBeInstanceOf(AbortSignal);
  expect(called).toEqual(call);
});
