/**
 * The official clients for JavaScript against servers that answer as `clients.ts` says:
 * `node --import tsx clients-javascript.ts BRIDGE OPENAI_URL ANTHROPIC_URL`, where the bridge is a module that exports both.
 */
import { pathToFileURL } from 'node:url';
import type * as AnthropicSdk from '@anthropic-ai/sdk';
import type * as OpenAiSdk from 'openai';
import { Checks } from '../support/checks.ts';

interface Bridge {
  readonly OpenAI: typeof OpenAiSdk.default;
  readonly toFile: typeof OpenAiSdk.toFile;
  readonly Anthropic: typeof AnthropicSdk.default;
}

const [, , path = '', openAiUrl = '', anthropicUrl = ''] = process.argv;
const { OpenAI, Anthropic, toFile } = (await import(pathToFileURL(path).href)) as Bridge;
const checks = new Checks();
const model = 'emulated';
const user = (content: string) => ({ role: 'user' as const, content });
const numbers = { a: { type: 'number' }, b: { type: 'number' } };
const parameters = {
  ...{ type: 'object' as const, properties: numbers, required: ['a', 'b'] },
  additionalProperties: false,
};
const schema = {
  ...{ type: 'object' as const, properties: { sum: { type: 'number' } }, required: ['sum'] },
  additionalProperties: false,
};

/** Waits until a batch is over. */
async function over<Batch>(look: () => Promise<Batch>, isOver: (batch: Batch) => boolean) {
  for (;;) {
    const batch = await look();
    if (isOver(batch)) return batch;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The ids of what a list holds, page by page. */
async function idsOf(list: AsyncIterable<{ readonly id: string }>) {
  const ids: string[] = [];
  for await (const { id } of list) ids.push(id);
  return ids;
}

const openAi = new OpenAI({ apiKey: 'right', baseURL: `${openAiUrl}/v1`, maxRetries: 0 });

async function chats() {
  const messages = [user('Hi')];
  const chat = await openAi.chat.completions.create({ model, messages, n: 2 });
  checks.equal(
    'chat: texts',
    chat.choices.map(({ message }) => message.content),
    ['Two words. 0', 'Two words. 1'],
  );
  checks.equal('chat: usage', [chat.usage?.prompt_tokens, chat.usage?.total_tokens], [4, 14]);
  const stream = openAi.chat.completions.stream({
    ...{ model, messages },
    stream_options: { include_usage: true },
  });
  checks.equal('chat, streamed: text', await stream.finalContent(), 'Two words. 0');
  checks.equal('chat, streamed: usage', (await stream.totalUsage()).completion_tokens, 5);
  const format = {
    type: 'json_schema' as const,
    json_schema: { name: 'sum', schema, strict: true },
  };
  const formed = await openAi.chat.completions.parse({ model, messages, response_format: format });
  checks.equal('chat: schema', JSON.parse(formed.choices[0]?.message.content ?? ''), { sum: 5 });
  const busy = openAi.chat.completions.create({ model, messages: [user('Be busy')] });
  const error: unknown = await busy.catch((reason: unknown) => reason);
  checks.equal('chat: too many requests', error instanceof OpenAI.RateLimitError, true);
}

async function chatTools() {
  const tools = [
    { type: 'function' as const, function: { name: 'add', parameters, strict: true } },
  ];
  const messages = [user('Add 2 and 3.')];
  const stream = openAi.chat.completions.stream({ model, messages, tools });
  const [choice] = (await stream.finalChatCompletion()).choices;
  const streamed = choice?.message.tool_calls?.[0];
  checks.equal(
    'chat, streamed: tool',
    streamed?.type === 'function' && streamed.function.name,
    'add',
  );
  checks.equal('chat, streamed: end', choice?.finish_reason, 'tool_calls');
  const called = await openAi.chat.completions.create({ model, messages, tools });
  const message = called.choices[0]?.message;
  const call = message?.tool_calls?.[0];
  if (message === undefined || call?.type !== 'function') {
    checks.equal('chat: a tool is called', call, 'a call');
    return;
  }
  checks.equal('chat: input of a tool', JSON.parse(call.function.arguments), { a: 2, b: 3 });
  const result = { role: 'tool' as const, tool_call_id: call.id, content: '5' };
  const said = await openAi.chat.completions.create({
    ...{ model, tools, messages: [...messages, message, result] },
  });
  checks.equal('chat: result of a tool', said.choices[0]?.message.content, 'The sum is 5.');
}

async function responses() {
  const response = await openAi.responses.create({ model, input: 'Hi' });
  checks.equal('responses: text', response.output_text, 'Two words. 0');
  checks.equal('responses: usage', response.usage?.total_tokens, 9);
  const stream = openAi.responses.stream({ model, input: 'Hi' });
  let streamed = '';
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') streamed += event.delta;
  }
  checks.equal('responses, streamed: text', streamed, 'Two words. 0');
  checks.equal(
    'responses, streamed: usage',
    (await stream.finalResponse()).usage?.output_tokens,
    5,
  );
  const format = { type: 'json_schema' as const, name: 'sum', schema, strict: true };
  const formed = await openAi.responses.parse({ model, input: 'Hi', text: { format } });
  checks.equal('responses: schema', JSON.parse(formed.output_text), { sum: 5 });
}

async function responseTools() {
  const tools = [{ type: 'function' as const, name: 'add', parameters, strict: true }];
  const kept = {
    ...{ store: false, tools, model },
    include: ['reasoning.encrypted_content' as const],
  };
  const input = [user('Add 2 and 3.')];
  const asked = await openAi.responses.stream({ ...kept, input }).finalResponse();
  checks.equal(
    'responses: items',
    asked.output.map(({ type }) => type),
    ['reasoning', 'function_call'],
  );
  const call = asked.output.find((item) => item.type === 'function_call');
  checks.equal('responses: input of a tool', call?.arguments, '{"a":2,"b":3}');
  const result = {
    ...{ type: 'function_call_output' as const, output: '5' },
    call_id: call?.call_id ?? '',
  };
  // What `responses.stream` adds to items for its reader is not for the server.
  const output = asked.output.map(({ ...item }) => {
    if ('parsed_arguments' in item)
      delete (item as { parsed_arguments?: unknown }).parsed_arguments;
    return item;
  });
  const said = await openAi.responses.create({
    ...kept,
    input: [...input, ...(output as OpenAiSdk.OpenAI.Responses.ResponseInputItem[]), result],
  });
  checks.equal('responses: result of a tool', said.output_text, 'The sum is 5.');
}

async function openAiBatches() {
  const lines = ['one_s0', 'two_s1', 'late', 'bad'].map((name) => ({
    ...{ custom_id: name, method: 'POST', url: '/v1/chat/completions' },
    body: { model, messages: [user('Hi')], ...(name === 'bad' && { n: 0 }) },
  }));
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const file = await openAi.files.create({
    ...{ file: await toFile(Buffer.from(text), 'in.jsonl'), purpose: 'batch' },
  });
  const submit = (key: string) =>
    openAi.batches.create({
      ...{ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' },
      metadata: { key },
    });
  const { id } = await submit('mine');
  const batch = await over(
    () => openAi.batches.retrieve(id),
    ({ completed_at: completed, expired_at: expired }) => Boolean(completed ?? expired),
  );
  checks.equal('batch: status', batch.status, 'expired');
  checks.equal('batch: counts', batch.request_counts, { total: 4, completed: 2, failed: 2 });
  const read = async (name: string | undefined) => {
    const content = await (await openAi.files.content(name ?? '')).text();
    const all = content.trimEnd().split('\n');
    return all.map((line) => JSON.parse(line) as BatchLine);
  };
  const output = await read(batch.output_file_id);
  checks.equal(
    'batch: answers',
    new Map(
      output.map(({ custom_id: name, response }) => [
        name,
        response?.body.choices[0]?.message.content,
      ]),
    ),
    new Map([
      ['one_s0', 'Two words. 0'],
      ['two_s1', 'Two words. 1'],
    ]),
  );
  const errors = await read(batch.error_file_id);
  checks.equal(
    'batch: errors',
    new Set(errors.map(({ custom_id: name }) => name)),
    new Set(['late', 'bad']),
  );
  const other = await submit('other');
  const ids = await idsOf(openAi.batches.list({ limit: 1 }));
  checks.equal('batch: list', ids.slice(0, 2), [other.id, id]);
}

interface BatchLine {
  readonly custom_id: string;
  readonly response: { readonly body: OpenAiSdk.OpenAI.ChatCompletion } | null;
}

const anthropic = new Anthropic({ apiKey: 'right', baseURL: anthropicUrl, maxRetries: 0 });
const asked = { model, max_tokens: 2000 };

function textIn(message: AnthropicSdk.Anthropic.Message): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

async function messages() {
  const message = await anthropic.messages.create({ ...asked, messages: [user('Hi')] });
  checks.equal('messages: text', textIn(message), 'Two words. 0');
  const { input_tokens: input, output_tokens: output } = message.usage;
  checks.equal('messages: usage', [input, output], [4, 5]);
  const stream = anthropic.messages.stream({ ...asked, messages: [user('Hi')] });
  checks.equal('messages, streamed: text', await stream.finalText(), 'Two words. 0');
  checks.equal('messages, streamed: usage', (await stream.finalMessage()).usage.output_tokens, 5);
  const formed = await anthropic.messages.create({
    ...{ ...asked, messages: [user('Hi')] },
    output_config: { format: { type: 'json_schema', schema } },
  });
  checks.equal('messages: schema', JSON.parse(textIn(formed)), { sum: 5 });
  const counted = await anthropic.messages.countTokens({ model, messages: [user('Hi')] });
  checks.equal('messages: tokens counted', counted.input_tokens, 4);
  checks.equal('messages: models', await idsOf(anthropic.models.list()), [model]);
  const busy = anthropic.messages.create({ ...asked, messages: [user('Be busy')] });
  const error: unknown = await busy.catch((reason: unknown) => reason);
  checks.equal('messages: too many requests', error instanceof Anthropic.RateLimitError, true);
}

async function messageTools() {
  const tools = [{ name: 'add', input_schema: parameters }];
  const thinking = { type: 'adaptive' as const };
  const question = user('Add 2 and 3.');
  const request = { ...asked, tools, thinking, messages: [question] };
  const called = await anthropic.messages.stream(request).finalMessage();
  checks.equal(
    'messages, streamed: blocks',
    called.content.map(({ type }) => type),
    ['thinking', 'tool_use'],
  );
  const call = called.content.find((block) => block.type === 'tool_use');
  checks.equal('messages, streamed: input of a tool', call?.input, { a: 2, b: 3 });
  const plain = await anthropic.messages.create(request);
  checks.equal('messages: end', plain.stop_reason, 'tool_use');
  const result = { type: 'tool_result' as const, tool_use_id: call?.id ?? '', content: '5' };
  const answered = await anthropic.messages.create({
    ...request,
    messages: [
      ...[question, { role: 'assistant', content: called.content }],
      { role: 'user', content: [result] },
    ] as AnthropicSdk.Anthropic.MessageParam[],
  });
  checks.equal('messages: result of a tool', textIn(answered), 'The sum is 5.');
}

async function anthropicBatches() {
  const { batches } = anthropic.messages;
  const requests = ['one_s0', 'two_s1', 'late', 'bad'].map((name) => ({
    custom_id: name,
    params: { ...asked, messages: [user('Hi')], ...(name === 'bad' && { model: 'unheard-of' }) },
  }));
  const { id } = await batches.create({ requests });
  const batch = await over(
    () => batches.retrieve(id),
    ({ processing_status: status }) => status === 'ended',
  );
  checks.equal('batch: counts', batch.request_counts, {
    ...{ processing: 0, succeeded: 2, errored: 1, canceled: 0, expired: 1 },
  });
  const results = new Map<string, string>();
  for await (const { custom_id: name, result } of await batches.results(id)) {
    results.set(name, result.type === 'succeeded' ? textIn(result.message) : result.type);
  }
  const expected = {
    one_s0: 'Two words. 0',
    two_s1: 'Two words. 1',
    late: 'expired',
    bad: 'errored',
  };
  checks.equal('batch: results', results.size, 4);
  checks.equal('batch: each result', Object.fromEntries(results), expected);
  const other = await batches.create({ requests });
  checks.equal('batch: list', (await idsOf(batches.list({ limit: 1 }))).slice(0, 2), [
    other.id,
    id,
  ]);
}

for (const program of [chats, chatTools, responses, responseTools, openAiBatches]) await program();
for (const program of [messages, messageTools, anthropicBatches]) await program();
checks.end('clients');
