import { expect, test } from 'vitest';
import { openai } from '../../../src/backends/index.ts';
import { reasoning } from '../../../src/environments/index.ts';
import type { GenerateRequest, Message } from '../../../src/index.ts';
import { askBehind } from '../../../src/prompting/prompt-parts.ts';
import { chatReply, notedCall, stubFetch } from '../transport/stub-fetch.ts';

const mark = { prompt_cache_breakpoint: { mode: 'explicit' } };
const response = {
  json: {
    id: 'resp_1',
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'a' }] }],
  },
};

interface Body {
  readonly messages?: readonly { readonly content: unknown }[];
  readonly input?: readonly { readonly content?: unknown; readonly output?: unknown }[];
  readonly prompt_cache_key?: string;
  readonly prompt_cache_options?: unknown;
}

async function bodyOf(
  model: string,
  messages: readonly Message[],
  request: Partial<GenerateRequest> = {},
): Promise<Body> {
  const { fetch, requests } = stubFetch(({ url }) =>
    url.endsWith('/responses') ? response : chatReply('a'),
  );
  const asked = openai({ model, apiKey: 'sk-abcdef', fetch, retry: false });
  await asked.generate({ messages, ...request }, notedCall({ run: 'run-1' }));
  return requests[0]?.body as Body;
}

const state = (...steps: readonly string[]) => ({ question: 'What is 7 + 5?', steps });
const { notations } = reasoning({ question: 'What is 7 + 5?' });
const prompt = (...steps: readonly string[]) => notations.restated.prompt(state(...steps));
const textsOf = (content: unknown) =>
  (content as readonly { readonly text: string }[]).map(({ text }) => text);

test.each([
  { request: {}, where: 'input', type: 'input_text' },
  { request: { samples: 2 }, where: 'messages', type: 'text' },
] as const)('in $where the pieces that come back are marked', async ({ request, where, type }) => {
  const body = await bodyOf('gpt-6-luna', prompt('One.', 'Two.'), request);
  expect(body.prompt_cache_options).toEqual({ mode: 'explicit' });
  expect(body[where]?.[0]?.content).toEqual([
    { type, text: expect.stringMatching(/What is 7 \+ 5\?$/) as string, ...mark },
    { type, text: '\n\nSteps so far:\n\nStep 1: One.', ...mark },
    { type, text: '\n\nStep 2: Two.', ...mark },
    { type, text: '\n\nWrite step 3, and nothing else.' },
  ]);
});

test('a judge, and the nodes below, send the marked pieces of a node again', async () => {
  const [node, judge, child] = await Promise.all(
    [prompt('One.'), askBehind(prompt('One.'), 'How good?'), prompt('One.', 'Two.')].map(
      async (messages) => textsOf((await bodyOf('gpt-6-luna', messages)).input?.[0]?.content),
    ),
  );
  expect(judge?.slice(0, 2)).toEqual(node?.slice(0, 2));
  expect(child?.slice(0, 2)).toEqual(node?.slice(0, 2));
  expect(judge?.slice(2)).toEqual(['\n\nWrite step 2, and nothing else.\n\nHow good?']);
});

test('what tools returned is marked, and what an assistant said is not', async () => {
  const { input } = await bodyOf('gpt-6-luna', [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 't', input: {} }] },
    { role: 'tool', content: 'Done.', toolCallId: 'c1' },
    { role: 'assistant', content: 'And so.' },
    { role: 'user', content: 'Well?', prefixEnds: [0] },
  ]);
  expect(input).toEqual([
    { role: 'developer', content: [{ type: 'input_text', text: 'Be brief.', ...mark }] },
    { role: 'user', content: [{ type: 'input_text', text: 'Go.', ...mark }] },
    { type: 'function_call', call_id: 'c1', name: 't', arguments: '{}' },
    {
      type: 'function_call_output',
      call_id: 'c1',
      output: [{ type: 'input_text', text: 'Done.', ...mark }],
    },
    { role: 'assistant', content: 'And so.' },
    { role: 'user', content: [{ type: 'input_text', text: 'Well?' }] },
  ]);
});

test('earlier models are sent plain text, and no mode', async () => {
  const body = await bodyOf('gpt-5', prompt('One.'));
  expect(body.prompt_cache_options).toBeUndefined();
  expect(typeof body.input?.[0]?.content).toBe('string');
});

test('branches at the root share eight keys, and each has one for all below it', async () => {
  const keyOf = async (messages: readonly Message[]) =>
    (await bodyOf('gpt-6-luna', messages)).prompt_cache_key;
  expect(await keyOf(prompt())).toBe('run-1');
  expect(await keyOf(prompt('One.', 'Two.'))).toBe(await keyOf(prompt('One.')));
  const steps = Array.from({ length: 100 }, (_, place) => `Step ${place}.`);
  const keys = new Set(await Promise.all(steps.map((step) => keyOf(prompt(step)))));
  expect([...keys].sort()).toEqual(Array.from({ length: 8 }, (_, place) => `run-1-${place}`));
});

test('a server that refuses marks is asked without them, and a warning says so', async () => {
  const { fetch, requests } = stubFetch(({ body }) =>
    JSON.stringify(body).includes('prompt_cache_options')
      ? {
          status: 400,
          json: {
            error: {
              message: 'Unknown parameter: prompt_cache_options.',
              type: 'invalid_request_error',
              param: 'prompt_cache_options',
              code: 'unknown_parameter',
            },
          },
        }
      : response,
  );
  const call = notedCall();
  const model = openai({ model: 'gpt-6-luna', apiKey: 'sk-abcdef', fetch, retry: false });
  await model.generate({ messages: prompt() }, call);
  expect(requests).toHaveLength(2);
  expect(JSON.stringify(requests[1]?.body)).not.toContain('prompt_cache_breakpoint');
  expect(call.warnings.map(({ about }) => about)).toEqual(['prefixEnds']);
});
