import type { JsonValue } from '../../../contracts/json.ts';
import type { Message, ToolCall } from '../../../contracts/language-model.ts';
import { readContent } from '../chat-request.ts';
import { isObject, type JsonObject, listOf, objectOf, textAt } from '../fields.ts';
import { imagesIn } from '../images.ts';
import { badRequest } from '../rejection.ts';

/** A piece of a prompt, and whether the prefix that ends with it is cached. */
export interface Block {
  /** Its part of the rendered prompt. */
  readonly text: string;
  /** How long the prefix is cached; `undefined` if it is not. */
  readonly keep?: string;
}

/** A prompt in the order in which it is cached: tools, system, messages. */
export interface AnthropicPrompt {
  readonly blocks: readonly Block[];
  readonly messages: readonly Message[];
}

/** Reads the prompt of a request. */
export function readPromptOf(body: JsonObject): AnthropicPrompt {
  const system = body['system'] === undefined ? [] : turnsOf('system', body['system']);
  const turns = listOf(body['messages'])
    .map(objectOf)
    .flatMap((item) => turnsOf(roleOf(item), item['content']));
  if (turns.length === 0) throw badRequest('messages: at least one message is required');
  const isAboutTools = turns.some(
    ({ message }) => message.role === 'tool' || message.toolCalls !== undefined,
  );
  if (isAboutTools && listOf(body['tools']).length === 0) {
    throw badRequest('Requests which have `tool_use` or `tool_result` blocks must define `tools`.');
  }
  const blocks = [...toolBlocks(body), ...[...system, ...turns].flatMap((turn) => turn.blocks)];
  const last = blocks.at(-1);
  const keep = keepOf(body);
  if (keep !== undefined && last !== undefined) blocks.splice(-1, 1, { ...last, keep });
  const kept = blocks.filter((block) => block.keep !== undefined).length;
  if (kept > 4) {
    throw badRequest(`A maximum of 4 blocks with cache_control may be provided. Found ${kept}.`);
  }
  return { blocks, messages: [...system, ...turns].map(({ message }) => message) };
}

interface Turn {
  readonly message: Message;
  readonly blocks: readonly Block[];
}

/** A message as turns: tool results are separate turns. */
function turnsOf(role: Message['role'], content: JsonValue | undefined): readonly Turn[] {
  const parts: readonly JsonObject[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf);
  const results = parts.filter((part) => part['type'] === 'tool_result').map(resultTurn);
  const others = parts.filter((part) => part['type'] !== 'tool_result');
  return others.length === 0 ? results : [...results, plainTurn(role, others)];
}

function resultTurn(part: JsonObject): Turn {
  const content = readContent(part['content']);
  return {
    message: {
      ...{ role: 'tool', content, toolCallId: textAt(part, 'tool_use_id') ?? '' },
      ...imagesIn(part['content']),
    },
    blocks: [{ text: `<|tool|>${content}<|end|>`, ...kept(part) }],
  };
}

function plainTurn(role: Message['role'], parts: readonly JsonObject[]): Turn {
  const toolCalls = parts.filter((part) => part['type'] === 'tool_use').map(callOf);
  const texts = parts.map((part) => textAt(part, 'text') ?? '');
  const last = parts.length - 1;
  return {
    message: {
      role,
      content: texts.join(''),
      ...(toolCalls.length > 0 && { toolCalls }),
      ...imagesIn(parts),
    },
    blocks: parts.map((part, place) => {
      const { name, input } = callOf(part);
      const called = part['type'] === 'tool_use' ? JSON.stringify([{ name, input }]) : '';
      const text = `${place === 0 ? `<|${role}|>` : ''}${texts[place]}${called}`;
      return { text: place === last ? `${text}<|end|>` : text, ...kept(part) };
    }),
  };
}

function callOf(part: JsonObject): ToolCall {
  return {
    id: textAt(part, 'id') ?? '',
    name: textAt(part, 'name') ?? '',
    input: part['input'] ?? {},
  };
}

function toolBlocks(body: JsonObject): Block[] {
  const tools = listOf(body['tools']).map(objectOf);
  const last = tools.length - 1;
  return tools.map((tool, place) => {
    const { name = '', description, input_schema: input = {} } = tool as Partial<JsonObject>;
    const told = JSON.stringify({ name, ...(description !== undefined && { description }), input });
    const start = place === 0 ? '<|tools|>[' : ',';
    return { text: `${start}${told}${place === last ? ']<|end|>' : ''}`, ...kept(tool) };
  });
}

function kept(part: JsonObject): { readonly keep?: string } {
  const keep = keepOf(part);
  return keep === undefined ? {} : { keep };
}

function keepOf(part: JsonObject): string | undefined {
  const control = part['cache_control'];
  return isObject(control) ? (textAt(control, 'ttl') ?? '5m') : undefined;
}

function roleOf(item: JsonObject): Message['role'] {
  const role = textAt(item, 'role');
  if (role === 'user' || role === 'assistant' || role === 'system') return role;
  throw badRequest(`messages: Unexpected role "${role}". Allowed roles are "user" or "assistant".`);
}
