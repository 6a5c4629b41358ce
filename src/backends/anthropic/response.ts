import { isPlainObject, jsonFault } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Completion, Generation, ToolCall, Usage } from '../../contracts/language-model.ts';
import { defined, fieldsOf, type JsonFields, numberOf, textOf } from '../transport/json.ts';
import { provider } from './conversation.ts';

/** Why a completion ended. A paused answer is incomplete, and is not continued here. */
const finishReasons: Readonly<Record<string, NonNullable<Completion['finishReason']>>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool',
  refusal: 'refusal',
  pause_turn: 'other',
};

/** A message of the Messages API as a generation of one sample; `undefined` if it is invalid. */
export function readMessage(message: unknown): Generation | undefined {
  const { content, model, stop_reason: reason, usage } = fieldsOf(message);
  if (!Array.isArray(content) || !(content as readonly unknown[]).every(isBlock)) return undefined;
  if (reason !== undefined && reason !== null && typeof reason !== 'string') return undefined;
  const blocks = content as readonly JsonFields[];
  const reasoning = joined(blocks, 'thinking');
  const toolCalls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({ id, name, input }) as ToolCall);
  const completion: Completion = {
    text: joined(blocks, 'text'),
    finishReason: finishReasons[reason ?? ''] ?? 'other',
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(reasoning !== '' && { reasoning }),
    ...(!blocks.every(isPlain) &&
      jsonFault(content) === undefined && { original: { provider, data: content as JsonValue } }),
  };
  const answeredBy = textOf(model);
  return { completions: [completion], usage: usageOf(usage), ...defined({ answeredBy }) };
}

/** Whether text and calls contain everything in this block. */
function isPlain({ type }: JsonFields): boolean {
  return type === 'text' || type === 'tool_use';
}

/** Whether a block can be read. Unknown kinds are skipped. */
function isBlock(block: unknown): boolean {
  if (!isPlainObject(block)) return false;
  const { type, text, thinking, id, name, input } = block;
  switch (type) {
    case 'text':
      return typeof text === 'string';
    case 'thinking':
      return typeof thinking === 'string';
    case 'tool_use':
      return typeof id === 'string' && typeof name === 'string' && jsonFault(input) === undefined;
    default:
      return typeof type === 'string';
  }
}

function joined(blocks: readonly JsonFields[], type: 'text' | 'thinking'): string {
  return blocks.map((block) => (block['type'] === type ? String(block[type]) : '')).join('');
}

/** The usage of a reply. The server counts tokens read from and written to its cache separately. */
function usageOf(usage: unknown): Usage {
  const told = fieldsOf(usage);
  const cachedTokens = numberOf(told['cache_read_input_tokens']) ?? 0;
  const cacheWriteTokens = numberOf(told['cache_creation_input_tokens']) ?? 0;
  const read = numberOf(told['input_tokens']);
  return {
    ...(read !== undefined && {
      ...{ inputTokens: read + cachedTokens + cacheWriteTokens, cachedTokens, cacheWriteTokens },
    }),
    ...defined({
      outputTokens: numberOf(told['output_tokens']),
      reasoningTokens: numberOf(fieldsOf(told['output_tokens_details'])['thinking_tokens']),
      // The fast mode has its own price, whatever the tier.
      serviceTier: told['speed'] === 'fast' ? 'fast' : textOf(told['service_tier']),
    }),
  };
}
