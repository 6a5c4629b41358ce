import { defined } from '../../../backends/transport/json.ts';
import type { JsonValue } from '../../../contracts/json.ts';
import type { Message } from '../../../contracts/language-model.ts';
import { readContent, readRole, readToolChoice, readTools } from '../chat-request.ts';
import type { Call, Reply } from '../dialect.ts';
import { faultOf } from '../faults.ts';
import { type JsonObject, listOf, numberAt, objectOf, parsed, textAt } from '../fields.ts';
import { type Asked, type Choice, isCut } from '../generate.ts';
import { imagesIn } from '../images.ts';
import { tokenOf } from '../logprobs.ts';
import { Rejection } from '../rejection.ts';
import { jsonReply } from '../reply.ts';
import { type Generation, generate } from '../serve-model.ts';
import { checkMarks, checkRanges, checkReasoning, effortOf } from './openai-gates.ts';
import { streamedResponse } from './openai-responses-stream.ts';
import { checkSchemas } from './openai-schemas.ts';
import { checkThoughts, reasoningItem } from './openai-thoughts.ts';

/** `POST /v1/responses`. It has no `n`, no `seed` and no `stop`. */
export function responses(call: Call): Reply {
  const { body } = call;
  checkReasoning(body, effortOf(body));
  checkMarks(body);
  checkSchemas(body);
  checkThoughts(call);
  const failing = faultOf(call.exchange.faults, 'fails-response');
  if (failing !== undefined) return jsonReply(failedResponse(call, failing.code));
  const generation = generate(call, readResponses(body));
  const response = responseOf(generation, call);
  return body['stream'] === true ? streamedResponse(response) : jsonReply(response);
}

function failedResponse({ exchange, body }: Call, code: string): JsonObject {
  return {
    id: `resp_${exchange.index}`,
    object: 'response',
    status: 'failed',
    error: { code, message: `The response failed (${code}).` },
    model: body['model'] ?? '',
    output: [],
    usage: null,
  };
}

function readResponses(body: JsonObject): Asked {
  checkRanges(body);
  const maxTokens = numberAt(body, 'max_output_tokens');
  if (maxTokens !== undefined && maxTokens < 16) {
    throw new Rejection({
      status: 400,
      message: `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${maxTokens} instead.`,
      code: 'integer_below_min_value',
      param: 'max_output_tokens',
    });
  }
  const format = objectOf(objectOf(body['text'])['format']);
  const wantsLogprobs = listOf(body['include']).includes('message.output_text.logprobs');
  const isJson = format['type'] === 'json_object';
  return {
    model: textAt(body, 'model') ?? '',
    messages: [...instructionsOf(body), ...inputOf(body['input'])],
    continues: false,
    choices: 1,
    stop: [],
    ...defined({
      maxTokens,
      temperature: numberAt(body, 'temperature'),
      topLogprobs: wantsLogprobs ? (numberAt(body, 'top_logprobs') ?? 0) : undefined,
      schema: format['type'] === 'json_schema' ? format['schema'] : undefined,
      ...(isJson && { schema: { type: 'object' } }),
      tools: readTools(body['tools']),
      toolChoice: readToolChoice(body['tool_choice']),
    }),
  };
}

function instructionsOf(body: JsonObject): readonly Message[] {
  const content = textAt(body, 'instructions');
  return content === undefined ? [] : [{ role: 'system', content }];
}

function inputOf(input: JsonValue | undefined): readonly Message[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  return listOf(input)
    .map(objectOf)
    .filter(({ type }) => type !== 'reasoning')
    .map(itemOf);
}

function itemOf(item: JsonObject): Message {
  const id = textAt(item, 'call_id') ?? '';
  if (item['type'] === 'function_call_output') {
    const output = item['output'];
    return { role: 'tool', content: readContent(output), toolCallId: id, ...imagesIn(output) };
  }
  if (item['type'] === 'function_call') {
    const input = parsed(textAt(item, 'arguments') ?? '') ?? {};
    return {
      role: 'assistant',
      content: '',
      toolCalls: [{ id, name: textAt(item, 'name') ?? '', input }],
    };
  }
  const { content } = item as Partial<JsonObject>;
  return {
    role: readRole(textAt(item, 'role')),
    content: readContent(content),
    ...imagesIn(content),
  };
}

function responseOf(generation: Generation, call: Call): JsonObject {
  const { exchange, service, body } = call;
  const [choice] = generation.choices;
  const { input, cached, output, reasoning } = generation.tokens;
  return {
    id: `resp_${exchange.index}`,
    object: 'response',
    created_at: Math.floor(service.settings.now() / 1000),
    status: isCut(choice) ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isCut(choice) ? { reason: 'max_output_tokens' } : null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    model: body['model'] ?? '',
    output: choice === undefined ? [] : outputOf(choice, call),
    parallel_tool_calls: true,
    temperature: body['temperature'] ?? 1,
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_p: body['top_p'] ?? 1,
    metadata: {},
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
  };
}

function outputOf(choice: Choice, call: Call): readonly JsonValue[] {
  const { index } = call.exchange;
  const { text, reasoning, toolCalls, finish, logprobs = [] } = choice;
  const status = isCut(choice) ? 'incomplete' : 'completed';
  const content =
    finish === 'refusal'
      ? { type: 'refusal', refusal: text }
      : { type: 'output_text', text, annotations: [], logprobs: logprobs.map(tokenOf) };
  const message = { type: 'message', id: `msg_${index}`, status, role: 'assistant' };
  const calls = toolCalls.map(({ id, name, input }, place) => ({
    type: 'function_call',
    id: `fc_${index}_${place}`,
    call_id: id,
    name,
    arguments: JSON.stringify(input),
    status: 'completed',
  }));
  if (reasoning !== '') for (const { id } of calls) call.service.thoughtful.add(id);
  return [
    ...(reasoning === '' ? [] : [reasoningItem(`rs_${index}`, call)]),
    ...(text === '' && toolCalls.length > 0 ? [] : [{ ...message, content: [content] }]),
    ...calls,
  ];
}
