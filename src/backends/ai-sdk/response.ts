import { z } from 'zod';
import { jsonFault } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Completion, TokenLogprob, ToolCall, Usage } from '../../contracts/language-model.ts';
import type { Droppable } from '../transport/downgrades.ts';

/** A number of tokens, whether or not it can be one; anything else counts as not told. */
const tokens = z
  .custom<number>((value) => typeof value === 'number')
  .nullish()
  .catch(undefined);

/** Version 2 of the specification tells usage flat, later ones in two groups. */
const flatUsage = z
  .object({
    inputTokens: tokens,
    outputTokens: tokens,
    reasoningTokens: tokens,
    cachedInputTokens: tokens,
  })
  .transform(({ inputTokens, outputTokens, reasoningTokens, cachedInputTokens }) =>
    told({ inputTokens, outputTokens, reasoningTokens, cachedTokens: cachedInputTokens }),
  );
const groupedUsage = z
  .object({
    inputTokens: z.object({ total: tokens, cacheRead: tokens, cacheWrite: tokens }),
    outputTokens: z.object({ total: tokens, reasoning: tokens }),
  })
  .transform(({ inputTokens: read, outputTokens: written }) =>
    told({
      inputTokens: read.total,
      outputTokens: written.total,
      cachedTokens: read.cacheRead,
      cacheWriteTokens: read.cacheWrite,
      reasoningTokens: written.reasoning,
    }),
  );

/** A usage without what was not told. */
function told(counts: Readonly<Partial<Record<keyof Usage, number | null | undefined>>>): Usage {
  return Object.fromEntries(
    Object.entries(counts).filter(([, count]) => typeof count === 'number'),
  );
}

/** A part of the answer. Kinds that are unknown are skipped. */
type ContentPart =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | {
      readonly type: 'tool-call';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: string;
      readonly providerExecuted?: boolean | null | undefined;
    }
  | { readonly type: string };

/** A warning of a model. */
export interface Warning {
  readonly type: string;
  readonly setting?: string | null | undefined;
  readonly feature?: string | null | undefined;
  readonly details?: string | null | undefined;
  readonly message?: string | null | undefined;
}

/** What `doGenerate` gives. */
export interface GenerateResult {
  readonly content: readonly ContentPart[];
  readonly finishReason?: string | { readonly unified: string } | null | undefined;
  readonly usage?: Usage | null | undefined;
  readonly warnings?: readonly Warning[] | null | undefined;
  readonly providerMetadata?:
    | { readonly openai?: { readonly logprobs?: unknown } | null | undefined }
    | null
    | undefined;
  readonly response?:
    | {
        readonly modelId?: string | null | undefined;
        readonly headers?: Readonly<Record<string, string>> | null | undefined;
      }
    | null
    | undefined;
}

const contentSchema: z.ZodType<ContentPart> = z.union([
  z.object({ type: z.literal(['text', 'reasoning']), text: z.string() }),
  z.object({
    type: z.literal('tool-call'),
    toolCallId: z.string(),
    toolName: z.string(),
    input: z.string(),
    providerExecuted: z.boolean().nullish(),
  }),
  z.object({ type: z.string().regex(/^(?!(text|reasoning|tool-call)$)/) }),
]);

const warningSchema: z.ZodType<Warning> = z.object({
  type: z.string(),
  setting: z.string().nullish(),
  feature: z.string().nullish(),
  details: z.string().nullish(),
  message: z.string().nullish(),
});

const logprob = z.object({ token: z.string(), logprob: z.number() });
const logprobsSchema = z.array(logprob.extend({ top_logprobs: z.array(logprob).nullish() }));

const resultSchema: z.ZodType<GenerateResult> = z.object({
  content: z.array(contentSchema),
  finishReason: z.union([z.string(), z.object({ unified: z.string() })]).nullish(),
  usage: z.union([groupedUsage, flatUsage]).nullish().catch(undefined),
  warnings: z.array(warningSchema).nullish().catch(undefined),
  providerMetadata: z
    .object({ openai: z.object({ logprobs: z.unknown() }).nullish() })
    .nullish()
    .catch(undefined),
  response: z
    .object({ modelId: z.string().nullish(), headers: z.record(z.string(), z.string()).nullish() })
    .nullish()
    .catch(undefined),
});

/** Reads what `doGenerate` gave; `undefined` where it is nothing of the kind. */
export function parsedResult(result: unknown): GenerateResult | undefined {
  const parsed = resultSchema.safeParse(result);
  return parsed.success ? parsed.data : undefined;
}

const finishReasons: Readonly<Record<string, Completion['finishReason']>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool',
  'content-filter': 'refusal',
};

/** The one completion of a result; `undefined` where the input of a tool call is not JSON. */
export function completionOf(result: GenerateResult): Completion | undefined {
  const { content, finishReason } = result;
  const texts = content.filter((part) => 'text' in part);
  const textOf = (type: string) =>
    texts.map((part) => (part.type === type ? part.text : '')).join('');
  const reasoning = textOf('reasoning');
  const toolCalls = toolCallsOf(content);
  const logprobs = logprobsOf(result);
  const reason = typeof finishReason === 'string' ? finishReason : finishReason?.unified;
  if (toolCalls === undefined) return undefined;
  return {
    text: textOf('text'),
    finishReason: finishReasons[reason ?? ''] ?? 'other',
    ...(logprobs !== undefined && { logprobs }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(reasoning !== '' && { reasoning }),
  };
}

/** The tools that are to be called here; those of the provider's own have run there. */
function toolCallsOf(content: GenerateResult['content']): readonly ToolCall[] | undefined {
  const toolCalls = content.flatMap((part) => {
    if (!('input' in part) || part.providerExecuted === true) return [];
    const input = parsedJson(part.input);
    return [input === undefined ? undefined : { id: part.toolCallId, name: part.toolName, input }];
  });
  return toolCalls.includes(undefined)
    ? undefined
    : toolCalls.filter((toolCall) => toolCall !== undefined);
}

/** What OpenAI's models tell of tokens: a list, or one list for each part of the answer. */
function logprobsOf({ providerMetadata }: GenerateResult): readonly TokenLogprob[] | undefined {
  const told = providerMetadata?.openai?.logprobs;
  const parsed = logprobsSchema.safeParse(Array.isArray(told) ? told.flat() : undefined);
  if (!parsed.success) return undefined;
  return parsed.data.map(({ token, logprob, top_logprobs: top }) => ({
    token,
    logprob,
    ...(top !== undefined && top !== null && top.length > 0 && { top }),
  }));
}

function parsedJson(text: string): JsonValue | undefined {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return jsonFault(value) === undefined ? (value as JsonValue) : undefined;
  } catch {
    return undefined;
  }
}

/** The names that warnings give to what can be left out of a request. */
const droppables: Readonly<Record<string, Droppable>> = {
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  seed: 'seed',
  stopSequences: 'stop',
  responseFormat: 'schema',
  toolChoice: 'toolChoice',
};

/** What a warning says the model does not honour, where it can be left out. */
export function droppedBy({ type, setting, feature }: Warning): Droppable | undefined {
  if (!type.startsWith('unsupported')) return undefined;
  const name = setting ?? feature ?? '';
  return Object.hasOwn(droppables, name) ? droppables[name] : undefined;
}

/** What a warning says, after the name of the model. */
export function sentenceOf({ type, setting, feature, details, message }: Warning): string {
  const about = setting ?? feature;
  const said = message ?? details ?? '';
  const head = isTold(about) ? `warns of \`${about}\` (${type})` : `warns (${type})`;
  return said === '' ? `${head}.` : `${head}: ${said.replace(/\.$/, '')}.`;
}

function isTold(text: string | null | undefined): text is string {
  return text !== undefined && text !== null;
}
