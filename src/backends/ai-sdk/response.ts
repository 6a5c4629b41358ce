import { isPlainObject, jsonFault } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type {
  Completion,
  OriginalTurn,
  TokenLogprob,
  Usage,
} from '../../contracts/language-model.ts';
import { tokenOf } from '../transport/chat-logprobs.ts';
import { readToolCalls } from '../transport/chat-reply.ts';
import type { JsonBody } from '../transport/chat-request.ts';
import type { Droppable } from '../transport/downgrades.ts';
import {
  defined,
  fieldsOf,
  itemsOf,
  type JsonFields,
  numberOf,
  parsedJson,
  textOf,
} from '../transport/json.ts';

/** A warning of a model. */
export interface Warning {
  readonly type: string;
  /** The option or feature it is about. */
  readonly about: string | undefined;
  /** Its message. */
  readonly said: string;
}

/** The result of `doGenerate`. */
export interface GenerateResult {
  /** The completion; `undefined` if the input of a tool call is not JSON. */
  readonly completion: Completion | undefined;
  readonly usage: Usage;
  readonly warnings: readonly Warning[];
  readonly answeredBy: string | undefined;
}

/** Reads the result of `doGenerate`; `undefined` if it is invalid. */
export function readResult(result: unknown, provider: string): GenerateResult | undefined {
  const { content, finishReason, usage, warnings, providerMetadata, response } = fieldsOf(result);
  if (!Array.isArray(content) || !(content as readonly unknown[]).every(isPart)) return undefined;
  const parts = content as readonly JsonFields[];
  const reason = textOf(finishReason) ?? textOf(fieldsOf(finishReason)['unified']);
  const reasoning = joined(parts, 'reasoning');
  const logprobs = logprobsOf(fieldsOf(fieldsOf(providerMetadata)['openai'])['logprobs']);
  // Tools of the provider have already been run there.
  const called = parts.filter((part) => part['providerExecuted'] !== true && 'input' in part);
  const { calls: toolCalls, isBroken } = readToolCalls(
    called.map(({ toolCallId, toolName, input }) => ({
      ...{ id: toolCallId, name: toolName, arguments: input },
    })),
  );
  const completion: Completion = {
    text: joined(parts, 'text'),
    finishReason: finishReasons[reason ?? ''] ?? 'other',
    ...(logprobs !== undefined && { logprobs }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(reasoning !== '' && { reasoning }),
    ...defined({ original: originalOf(parts, provider) }),
  };
  return {
    completion: isBroken ? undefined : completion,
    usage: usageOf(fieldsOf(usage)),
    warnings: itemsOf(warnings).flatMap(warningOf),
    answeredBy: textOf(fieldsOf(response)['modelId']),
  };
}

/** The answer as a turn of the next prompt, if the provider attached its own data to any part. */
function originalOf(parts: readonly JsonFields[], provider: string): OriginalTurn | undefined {
  if (parts.every(({ providerMetadata }) => providerMetadata === undefined)) return undefined;
  const data = parts.flatMap(turnPartOf);
  return jsonFault(data) === undefined ? { provider, data } : undefined;
}

/** A part of an answer in the form of a prompt; none for parts that do not occur in prompts, such as sources. */
function turnPartOf(part: JsonFields): readonly JsonBody[] {
  const { type, text, toolCallId, toolName, input, providerMetadata } = part;
  const own = defined({ providerOptions: providerMetadata }) as JsonBody;
  switch (type) {
    case 'text':
    case 'reasoning':
      return [{ type, text: String(text), ...own }];
    case 'tool-call': {
      if (part['providerExecuted'] === true) return [];
      const read = input === '' ? {} : (parsedJson(String(input)) as JsonValue);
      return [
        {
          ...{ type, toolCallId: String(toolCallId), toolName: String(toolName) },
          input: read,
          ...own,
        },
      ];
    }
    default:
      return [];
  }
}

/** Whether a part of an answer can be read. Unknown kinds are skipped. */
function isPart(part: unknown): boolean {
  if (!isPlainObject(part)) return false;
  const { type, text, toolCallId, toolName, input } = part;
  switch (type) {
    case 'text':
    case 'reasoning':
      return typeof text === 'string';
    case 'tool-call':
      return [toolCallId, toolName, input].every((field) => typeof field === 'string');
    default:
      return typeof type === 'string';
  }
}

function joined(parts: readonly JsonFields[], type: 'reasoning' | 'text'): string {
  return parts.map((part) => (part['type'] === type ? String(part['text']) : '')).join('');
}

/** Version 2 of the specification has flat usage fields, later ones two groups. */
function usageOf({ inputTokens, outputTokens, ...flat }: JsonFields): Usage {
  const read = fieldsOf(inputTokens);
  const written = fieldsOf(outputTokens);
  return defined({
    inputTokens: numberOf(inputTokens) ?? numberOf(read['total']),
    outputTokens: numberOf(outputTokens) ?? numberOf(written['total']),
    cachedTokens: numberOf(flat['cachedInputTokens']) ?? numberOf(read['cacheRead']),
    cacheWriteTokens: numberOf(read['cacheWrite']),
    reasoningTokens: numberOf(flat['reasoningTokens']) ?? numberOf(written['reasoning']),
  });
}

const finishReasons: Readonly<Record<string, NonNullable<Completion['finishReason']>>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool',
  'content-filter': 'refusal',
};

/** The log-probabilities of OpenAI's models: one list, or one for each part of the answer. */
function logprobsOf(told: unknown): readonly TokenLogprob[] | undefined {
  const tokens = itemsOf(told).flat().map(fieldsOf);
  const read = tokens.map((token) => tokenOf(token, itemsOf(token['top_logprobs']).length));
  const isTold = Array.isArray(told) && read.every((token) => token !== undefined);
  return isTold ? read : undefined;
}

function warningOf(value: unknown): readonly Warning[] {
  const { type, setting, feature, message, details } = fieldsOf(value);
  if (typeof type !== 'string') return [];
  const said = textOf(message) ?? textOf(details) ?? '';
  return [{ type, about: textOf(setting) ?? textOf(feature), said }];
}

/** The names that warnings use for features that can be dropped. */
const droppables: Readonly<Record<string, Droppable>> = {
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  seed: 'seed',
  stopSequences: 'stop',
  responseFormat: 'schema',
  toolChoice: 'toolChoice',
};

/** The feature that a warning reports as unsupported, if it can be dropped. */
export function droppedBy({ type, about = '' }: Warning): Droppable | undefined {
  return type.startsWith('unsupported') && Object.hasOwn(droppables, about)
    ? droppables[about]
    : undefined;
}

/** The message of a warning, to follow the name of the model. */
export function sentenceOf({ type, about, said }: Warning): string {
  const head = about === undefined ? `warns (${type})` : `warns of \`${about}\` (${type})`;
  return said === '' ? `${head}.` : `${head}: ${said.replace(/\.$/, '')}.`;
}
