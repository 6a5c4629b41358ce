import { afterAll, expect, test } from 'vitest';
import { examine } from '../../src/backends/doctor/examine.ts';
import { anthropic, openai, openaiCompatible } from '../../src/backends/index.ts';
import { type Emulator, type EmulatorOptions, emulator } from '../../src/testing/index.ts';

const open: Emulator[] = [];
afterAll(async () => {
  for (const server of open) await server.close();
});

async function served(options: EmulatorOptions): Promise<string> {
  const server = await emulator(options);
  open.push(server);
  return server.url;
}

const thought = Array.from({ length: 40 }, () => ' hmm').join('');
const thinking = { answer: () => ({ reasoning: thought, text: '391' }) };

async function foundOf(about: string, model: Parameters<typeof examine>[0]) {
  const { findings } = await examine(model);
  return findings.find((finding) => finding.about === about);
}

test('it says how much a model thinks', async () => {
  const models = ['gpt-6-luna'];
  const baseUrl = await served({ dialect: 'openai', models, ...thinking });
  const luna = (thoughtTokens: number) =>
    openai({ model: 'gpt-6-luna', apiKey: 'k', baseUrl, retry: false, thoughtTokens });
  expect(await foundOf('thinking', luna(500))).toEqual({
    about: 'thinking',
    outcome: 'yes',
    detail: 'It answered after 40 tokens of thoughts; it may use 500.',
  });
  expect(await foundOf('thinking', luna(3))).toEqual({
    about: 'thinking',
    outcome: 'ignored',
    detail: 'It was cut off while thinking: `thoughtTokens` is 3, which is too few.',
  });
  const plain = await served({ dialect: 'vllm', models: ['m'], answer: () => '391' });
  const model = openaiCompatible({ preset: 'vllm', baseUrl: plain, model: 'm' });
  expect(await foundOf('thinking', model)).toMatchObject({ outcome: 'no' });
});

test('it says whether answers are bound to a schema, or told of it in words', async () => {
  const answer = () => '{"legs": 8}';
  const baseUrl = await served({ dialect: 'vllm', models: ['m'], answer });
  const model = (schema: boolean) =>
    openaiCompatible({ preset: 'vllm', baseUrl, model: 'm', capabilities: { schema } });
  expect(await foundOf('JSON schema', model(true))).toEqual({
    about: 'JSON schema',
    outcome: 'yes',
    detail: 'Answers are constrained to it: it wrote “{"legs": 8}”',
  });
  expect(await foundOf('JSON schema', model(false))).toEqual({
    about: 'JSON schema',
    outcome: 'no',
    detail: 'It is requested in words, and was followed once.',
  });
});

test("it sees Claude's cache, which keeps what is marked", async () => {
  const model = 'claude-sonnet-5-5';
  const baseUrl = await served({ dialect: 'anthropic', models: [model] });
  const found = await foundOf('prefix cache', anthropic({ model, apiKey: 'k', baseUrl }));
  expect(found).toMatchObject({ outcome: 'yes' });
});

test('it ends in time on a slow server, with what it has found by then', async () => {
  let asked = 0;
  const faults: EmulatorOptions['faults'] = ({ path }) =>
    path.endsWith('/chat/completions') && asked++ >= 3 ? 'stall' : undefined;
  const baseUrl = await served({ dialect: 'vllm', models: ['m'], faults });
  const model = openaiCompatible({ preset: 'vllm', baseUrl, model: 'm', retry: false });
  const { reachable, findings, speed } = await examine(model, { timeoutMs: 1000 });
  expect(reachable).toBe(true);
  expect(findings[0]?.outcome).toBe('yes');
  expect(findings.at(-1)).toEqual({
    about: 'prefix cache',
    outcome: 'unknown',
    detail: 'No time was left for it.',
  });
  expect(speed).toEqual([]);
});

test('it says that a server did not answer in time', async () => {
  const baseUrl = await served({ dialect: 'vllm', models: ['m'], faults: () => 'stall' });
  const model = openaiCompatible({ preset: 'vllm', baseUrl, model: 'm', retry: false });
  const began = performance.now();
  const { reachable, failure } = await examine(model, { timeoutMs: 500 });
  expect(performance.now() - began).toBeLessThan(4_000);
  expect(reachable).toBe(false);
  expect(failure).toBe(
    'It did not answer within 0.5 s. Look at its load, or ask it for less thought.',
  );
});

test('its advice keeps to what was found, on a server that answers every path and ignores the rest', async () => {
  const message = { role: 'assistant', content: 'Hello.' };
  const answer = { choices: [{ index: 0, message, finish_reason: 'stop' }], data: [{ id: 'm' }] };
  const fetch = () => Promise.resolve(Response.json(answer));
  const model = openaiCompatible({ preset: 'vllm', baseUrl: 'http://plain/v1', model: 'm', fetch });
  const { server, advice } = await examine(model, { fetch });
  expect(server?.scoring).toEqual([]);
  expect(advice.filter((line) => /probabilities|JSON/.test(line))).toEqual([
    'Judgements would be read from log-probabilities, but none came: set `capabilities: { logprobs: false }`.',
    'JSON answers would be constrained to their schema, but it was ignored: set `capabilities: { schema: false }`.',
  ]);
});

test('its advice says how to use what was found on a server of an unknown kind', async () => {
  const multiply = { id: '1', type: 'function', function: { name: 'multiply', arguments: '{}' } };
  const message = { role: 'assistant', content: 'Hello.', tool_calls: [multiply] };
  const logprobs = { content: [{ token: 'H', logprob: -1, top_logprobs: [] }] };
  const choices = [{ index: 0, message, finish_reason: 'stop', logprobs }];
  const fetch = () => Promise.resolve(Response.json({ choices, data: [{ id: 'm' }] }));
  const linesOf = async (capabilities: { tools?: boolean; logprobs?: boolean }) => {
    const options = { preset: 'generic', baseUrl: 'http://plain/v1', model: 'm', fetch } as const;
    const { advice } = await examine(openaiCompatible({ ...options, capabilities }), { fetch });
    return advice.filter((line) => /Judgements|[Tt]ools/.test(line));
  };
  expect(await linesOf({})).toEqual([
    'Judgements are averaged over three answers. To read them from log-probabilities, make the model with `openaiCompatible({ capabilities: { logprobs: true } })`.',
    'Tools are described in the prompt, and calls are read from JSON. To offer it tools, make the model with `openaiCompatible({ capabilities: { tools: true } })`.',
  ]);
  expect(await linesOf({ tools: true, logprobs: true })).toEqual([
    'Judgements are read from log-probabilities: one call of one token each.',
    'Tools are offered to it.',
  ]);
});
