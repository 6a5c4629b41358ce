import { z } from 'zod';
import { jsonFault } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Completion, ToolCall, Usage } from '../../contracts/language-model.ts';

/** A number of tokens, whether or not it can be one; anything else counts as not told. */
const tokens = z
  .custom<number>((value) => typeof value === 'number')
  .nullish()
  .catch(undefined);

/** What was used, as far as it was told. */
interface ReplyUsage {
  readonly input_tokens?: number | null | undefined;
  readonly output_tokens?: number | null | undefined;
  readonly cache_creation_input_tokens?: number | null | undefined;
  readonly cache_read_input_tokens?: number | null | undefined;
  readonly output_tokens_details?:
    | { readonly thinking_tokens?: number | null | undefined }
    | null
    | undefined;
}

/** A part of the answer. Kinds that are unknown are skipped. */
type ReplyBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: JsonValue;
    }
  | { readonly type: string };

/** A message of the model, as the Messages API gives it. */
export interface MessagesReply {
  readonly content: readonly ReplyBlock[];
  readonly model?: string | null | undefined;
  readonly stop_reason?: string | null | undefined;
  readonly usage?: ReplyUsage | null | undefined;
}

const usageSchema = z
  .object({
    input_tokens: tokens,
    output_tokens: tokens,
    cache_creation_input_tokens: tokens,
    cache_read_input_tokens: tokens,
    output_tokens_details: z.object({ thinking_tokens: tokens }).nullish().catch(undefined),
  })
  .nullish()
  .catch(undefined);

const blockSchema: z.ZodType<ReplyBlock> = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('thinking'), thinking: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string(),
    input: z.custom<JsonValue>((value) => jsonFault(value) === undefined),
  }),
  z.object({ type: z.string().regex(/^(?!(text|thinking|tool_use)$)/) }),
]);

const messageSchema: z.ZodType<MessagesReply> = z.object({
  content: z.array(blockSchema),
  model: z.string().nullish().catch(undefined),
  stop_reason: z.string().nullish(),
  usage: usageSchema,
});

/** Reads a reply; `undefined` where it is not one. */
export function parsedReply(reply: unknown): MessagesReply | undefined {
  const parsed = messageSchema.safeParse(reply);
  return parsed.success ? parsed.data : undefined;
}

/** Why a completion ended. One that the server paused is not complete, and nothing goes on with it here. */
const finishReasons: Readonly<Record<string, Completion['finishReason']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool',
  refusal: 'refusal',
  pause_turn: 'other',
};

/** The one completion of a reply. */
export function completionOf({ content, stop_reason }: MessagesReply): Completion {
  let text = '';
  let reasoning = '';
  const toolCalls: ToolCall[] = [];
  for (const block of content) {
    if ('text' in block) text += block.text;
    else if ('thinking' in block) reasoning += block.thinking;
    else if ('input' in block)
      toolCalls.push({ id: block.id, name: block.name, input: block.input });
  }
  return {
    text,
    finishReason: finishReasons[stop_reason ?? ''] ?? 'other',
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(reasoning !== '' && { reasoning }),
  };
}

/** The usage of a reply. The server counts what it read from its cache, and wrote to it, apart. */
export function usageOf({ usage }: MessagesReply): Usage {
  const cached = usage?.cache_read_input_tokens ?? 0;
  const written = usage?.cache_creation_input_tokens ?? 0;
  const read = usage?.input_tokens;
  const reasoning = usage?.output_tokens_details?.thinking_tokens;
  return {
    ...(typeof read === 'number' && {
      inputTokens: read + cached + written,
      cachedTokens: cached,
      cacheWriteTokens: written,
    }),
    ...(typeof usage?.output_tokens === 'number' && { outputTokens: usage.output_tokens }),
    ...(typeof reasoning === 'number' && { reasoningTokens: reasoning }),
  };
}
