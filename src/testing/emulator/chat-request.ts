import { defined } from '../../backends/transport/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Message, ToolCall, ToolDefinition } from '../../contracts/language-model.ts';
import {
  isObject,
  type JsonObject,
  listOf,
  numberAt,
  objectOf,
  parsed,
  textAt,
  textsAt,
} from './fields.ts';
import type { Asked } from './generate.ts';
import { imagesIn } from './images.ts';
import type { EmulatedQuestion } from './question.ts';
import { Rejection } from './rejection.ts';

/** Reads the body of `/v1/chat/completions`. */
export function readChat(body: JsonObject): Asked {
  return {
    model: textAt(body, 'model') ?? '',
    messages: readMessages(body['messages']),
    continues: false,
    choices: readChoices(body),
    stop: textsAt(body, 'stop'),
    ...defined({
      maxTokens: numberAt(body, 'max_completion_tokens') ?? numberAt(body, 'max_tokens'),
      temperature: numberAt(body, 'temperature'),
      seed: numberAt(body, 'seed'),
      topLogprobs: body['logprobs'] === true ? (numberAt(body, 'top_logprobs') ?? 0) : undefined,
      schema: readSchema(body['response_format']),
      tools: readTools(body['tools']),
      toolChoice: readToolChoice(body['tool_choice']),
    }),
  };
}

/** The number of choices requested. */
export function readChoices(body: JsonObject): number {
  const choices = numberAt(body, 'n') ?? 1;
  if (!Number.isInteger(choices) || choices < 1 || choices > 128) {
    throw new Rejection({
      status: 400,
      message: `Invalid 'n': expected an integer from 1 to 128, but got ${choices} instead.`,
      param: 'n',
    });
  }
  return choices;
}

/** The turns of a conversation in OpenAI's form. */
export function readMessages(value: JsonValue | undefined): readonly Message[] {
  const messages = listOf(value).map((item) => readMessage(objectOf(item)));
  if (messages.length === 0) {
    throw new Rejection({
      status: 400,
      message: "Invalid 'messages': expected an array with at least one message.",
      param: 'messages',
    });
  }
  return messages;
}

function readMessage(item: JsonObject): Message {
  const toolCalls = listOf(item['tool_calls']).map((call) => readToolCall(objectOf(call)));
  const toolCallId = textAt(item, 'tool_call_id');
  const shown = imagesIn(item['content']);
  const role = readRole(textAt(item, 'role'));
  if (shown.images !== undefined && role !== 'user') {
    throw new Rejection({
      status: 400,
      message: `Image URLs are only allowed for messages with role 'user', but this message with role '${role}' contains an image URL.`,
      param: 'messages',
    });
  }
  return {
    role,
    content: readContent(item['content']),
    ...shown,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(toolCallId !== undefined && { toolCallId }),
  };
}

/** A role; for reasoning models, `developer` takes the place of `system`. */
export function readRole(role: string | undefined): Message['role'] {
  if (role === 'developer') return 'system';
  if (role === 'system' || role === 'user' || role === 'assistant' || role === 'tool') return role;
  throw new Rejection({
    status: 400,
    message: `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'tool'.`,
    param: 'messages',
  });
}

/** The text of a content, which may be a text or a list of parts. */
export function readContent(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => textAt(objectOf(part), 'text') ?? '')
    .join('');
}

function readToolCall(call: JsonObject): ToolCall {
  const called = objectOf(call['function']);
  const input = called['arguments'];
  return {
    id: textAt(call, 'id') ?? '',
    name: textAt(called, 'name') ?? '',
    // OpenAI sends the input as text, Ollama as an object.
    input: typeof input === 'string' ? (parsed(input) ?? input) : (input ?? {}),
  };
}

/** The schema of a `response_format`. */
export function readSchema(format: JsonValue | undefined): JsonValue | undefined {
  const { type, schema, json_schema: named } = objectOf(format) as Partial<JsonObject>;
  if (type === 'json_schema') return objectOf(named)['schema'] ?? schema;
  return type === 'json_object' ? (schema ?? { type: 'object' }) : undefined;
}

/** The tools in the form of Chat Completions, wrapped by type or bare. */
export function readTools(tools: JsonValue | undefined): readonly ToolDefinition[] | undefined {
  const read = listOf(tools)
    .map(objectOf)
    .map((tool) => (isObject(tool['function']) ? tool['function'] : tool))
    .map((tool) => ({
      name: textAt(tool, 'name') ?? '',
      ...defined({ description: textAt(tool, 'description') }),
      input: tool['parameters'] ?? tool['input_schema'] ?? {},
    }));
  return read.length === 0 ? undefined : read;
}

/** The tool choice: a word, or a name, bare or in the form of Chat Completions. */
export function readToolChoice(choice: JsonValue | undefined): EmulatedQuestion['toolChoice'] {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const fields = objectOf(choice);
  const name = textAt(objectOf(fields['function']), 'name') ?? textAt(fields, 'name');
  return name === undefined ? undefined : { name };
}
