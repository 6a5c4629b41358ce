import { describe, expect, test } from 'vitest';
import { beginningInWords } from '../../../src/backends/transport/in-words.ts';
import {
  ask,
  message,
  messageEvents,
  modelOn,
  refusal,
  streamOf,
  stub,
  user,
} from './messages-server.ts';

describe('what a model does not honour', () => {
  test('is left out with a warning once a model', async () => {
    const server = stub();
    const model = modelOn(server);
    const request = { temperature: 1, topP: 0.5, topK: 2, seed: 1, logprobs: true } as const;
    const first = await ask(model, request);
    expect(first.warnings.map(({ about }) => about)).toEqual([
      'temperature',
      'topP',
      'topK',
      'seed',
      'logprobs',
    ]);
    expect(first.warnings[0]).toEqual({
      model: 'anthropic:claude-sonnet-5-5',
      about: 'temperature',
      message:
        'anthropic:claude-sonnet-5-5 does not honour `temperature`: its own temperature is used.',
    });
    const second = await ask(model, { ...request, topLogprobs: 2 });
    expect(second.warnings).toEqual([]);
    for (const { body } of server.seen) {
      expect(Object.keys(body).sort()).toEqual(['max_tokens', 'messages', 'model']);
    }
  });
});

describe('what a model is known to honour', () => {
  test('is declared', () => {
    const always = { stop: true, tools: true, images: true, batch: true };
    const common = { n: false, logprobs: false, seed: false, ...always };
    expect(modelOn(stub()).capabilities).toEqual({
      ...common,
      continuation: false,
      schema: true,
      temperature: false,
      topK: false,
    });
    const old = { ...common, continuation: true, schema: true, temperature: true, topK: true };
    const model = 'claude-haiku-4-5';
    expect(modelOn(stub(), { model }).capabilities).toEqual(old);
    const thinking = { type: 'enabled', budget_tokens: 2048 } as const;
    expect(modelOn(stub(), { model, thinking }).capabilities).toEqual({
      ...old,
      continuation: false,
      temperature: false,
      topK: false,
    });
    const silent = { type: 'disabled' } as const;
    expect(modelOn(stub(), { model, thinking: silent }).capabilities).toEqual(old);
  });
});

describe('what a model takes in no other way', () => {
  test('is told in words: the beginning of an answer, which is taken off where it is repeated', async () => {
    const server = stub(message('Because it is.'));
    const beginning = { role: 'assistant', content: 'Because' } as const;
    const { generation, warnings } = await ask(modelOn(server), {
      messages: [user('Why?'), beginning],
    });
    expect(generation.completions[0]?.text).toBe(' it is.');
    expect(warnings.map(({ about }) => about)).toEqual(['continuation']);
    expect(server.seen[0]?.body['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Why?' },
          expect.objectContaining({ text: beginningInWords }),
          { type: 'text', text: 'Because', cache_control: { type: 'ephemeral' } },
        ],
      },
    ]);
  });

  test('is asked for in words: a tool that has to be called', async () => {
    const server = stub();
    const { warnings } = await ask(modelOn(server), {
      tools: [{ name: 'add', input: { type: 'object' } }],
      toolChoice: 'required',
    });
    expect(warnings.map(({ about }) => about)).toEqual(['toolChoice']);
    expect(server.seen[0]?.body['tool_choice']).toBeUndefined();
    expect(JSON.stringify(server.seen[0]?.body)).toContain('Answer by calling one of the tools.');
  });

  test('is done here: stop texts of white space only', async () => {
    const server = stub(streamOf(messageEvents(['One.\n\nTwo. END Three.'])));
    const model = modelOn(server);
    const { generation, warnings } = await ask(model, { stop: ['\n\n', 'END'] });
    expect(server.seen[0]?.body['stop_sequences']).toEqual(['END']);
    expect(generation.completions).toEqual([{ text: 'One.', finishReason: 'stop' }]);
    expect(warnings).toEqual([
      {
        model: 'anthropic:claude-sonnet-5-5',
        about: 'stop',
        message:
          'anthropic:claude-sonnet-5-5 takes no stop text of white space only: answers are cut off locally instead.',
      },
    ]);
    expect((await ask(model, { stop: ['\n'] })).warnings).toEqual([]);
    expect(model.capabilities.stop).toBe(true);
  });
});

describe('what nobody knew a model not to honour', () => {
  test('is learned from a refusal, and remembered', async () => {
    const server = stub(
      refusal(400, '`temperature` is deprecated for this model.'),
      message('fine'),
    );
    const model = modelOn(server, { model: 'claude-opus-4-6' });
    const { warnings } = await ask(model, { temperature: 0.5 });
    expect(server.seen.map(({ body }) => body['temperature'])).toEqual([0.5, undefined]);
    expect(warnings.map(({ about }) => about)).toEqual(['temperature']);
    expect(model.capabilities.temperature).toBe(false);
    expect((await ask(model, { temperature: 0.5 })).warnings).toEqual([]);
    expect(server.seen).toHaveLength(3);
  });

  test('is learned of prefill, too', async () => {
    const text =
      'This model does not support assistant message prefill. The conversation must end with a user message.';
    const server = stub(refusal(400, text), message('fine'));
    const model = modelOn(server, { model: 'claude-haiku-4-5' });
    await ask(model, { messages: [user('Why?'), { role: 'assistant', content: 'For' }] });
    const turns = server.seen.map(({ body }) => (body['messages'] as unknown[]).length);
    expect(turns).toEqual([2, 1]);
    expect(model.capabilities.continuation).toBe(false);
  });
});
