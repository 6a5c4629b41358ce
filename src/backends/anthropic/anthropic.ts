import { expectation, expectInteger, expectMethods, expectOneOf } from '../../base/expect.ts';
import { type RetryOptions, withRetry } from '../../calls/middleware/with-retry.ts';
import type {
  Capabilities,
  GenerateRequest,
  LanguageModel,
} from '../../contracts/language-model.ts';
import { expectAbsentBesideClient } from '../transport/beside-client.ts';
import { expectConnection, secretsOf, secretsOfClient } from '../transport/connection.ts';
import { Downgrades, type Droppable } from '../transport/downgrades.ts';
import { expectRequest } from '../transport/expect-request.ts';
import { guarded } from '../transport/guarded.ts';
import { askForSamples } from '../transport/sampling.ts';
import type { AnthropicClient } from './client.ts';
import { type ModelTraits, modelPriceOf, traitsOf } from './models.ts';
import type { Effort, RequestSettings, Thinking } from './request.ts';
import { Server } from './server.ts';

/** Options of {@link anthropic}. */
export interface AnthropicOptions {
  /** The model, as in `claude-sonnet-5-5`. */
  readonly model: string;
  /** The key. @defaultValue what the SDK finds, first of all in `ANTHROPIC_API_KEY` */
  readonly apiKey?: string;
  /** The address of the server. @defaultValue `ANTHROPIC_BASE_URL`, else Anthropic's own */
  readonly baseUrl?: string;
  /** Headers of every request, beside the usual ones and before them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long an answer may take, in milliseconds, from 1 up. @defaultValue ten minutes */
  readonly timeoutMs?: number;
  /** Makes the requests. @defaultValue the `fetch` of the platform */
  readonly fetch?: typeof globalThis.fetch;
  /** How large a reply may be, in bytes, from 1 up. @defaultValue 64 MiB */
  readonly maxReplyBytes?: number;
  /**
   * A client of `@anthropic-ai/sdk` to use, in place of `apiKey`, `baseUrl`,
   * `fetch` and `maxReplyBytes`. Its own retries
   * are switched off for our requests.
   */
  readonly client?: AnthropicClient;
  /**
   * How the model thinks before it answers, as the Messages API takes it. What it thinks counts with
   * `maxTokens`, and is told as `Completion.reasoning` where the server tells it.
   *
   * @defaultValue as the model likes
   */
  readonly thinking?: Thinking;
  /** How much trouble it takes. @defaultValue as the model likes */
  readonly effort?: Effort;
  /**
   * Whether prompts are kept in the server's cache, and for how long. What is put there costs a quarter
   * more than what is just read, or for an hour as much again; what is found there a tenth.
   *
   * @defaultValue true, which is `'5m'`
   */
  readonly cache?: boolean | '5m' | '1h';
  /** When failed requests are repeated; `false` never. @defaultValue as {@link RetryOptions} says */
  readonly retry?: RetryOptions | false;
}

/**
 * A model of Anthropic, through the Messages API. Needs the package `@anthropic-ai/sdk`, which is loaded at
 * the first request.
 *
 * A request brings one sample; several are asked for one by one, the first one ahead to fill the cache.
 * There are no log-probabilities and no seeds. New models take no temperature (since 4.7), do not go on
 * from the beginning of an answer (since 4.6) and call no tool because they have to (since 5.1). Where a
 * request asks for something of the kind, a warning says so once a model, and what can be is done in another
 * way: the beginning of an answer is told in the question, a tool is asked for in words. Stop texts of white
 * space only are not sent; answers are cut off at them here.
 *
 * System messages are put before the conversation, wherever they stand. A `schema` is sent as the API
 * takes it: objects are closed, and bounds such as `minimum` become part of the description.
 *
 * An answer that the model declines to give ends with `refusal`; one that outgrows the model's context with
 * `length`.
 *
 * @throws EspalierError `usage` where an option is out of its range. A request is rejected with such an error
 * where the package is missing, or where it makes no conversation; and with a `ModelCallError`.
 *
 * @example
 * ```ts
 * const model = anthropic({ model: 'claude-sonnet-5-5' });
 * ```
 */
export function anthropic(options: AnthropicOptions): LanguageModel {
  expectOptions(options);
  const { retry = {}, client } = options;
  const secrets = new Set(secretsOf(options));
  // A client may look for a new key at any time.
  const known = () => [...secrets, ...secretsOfClient(client)];
  const model = guarded(bareModel(options, secrets), known);
  return retry === false ? model : withRetry(retry)(model);
}

function expectOptions(options: AnthropicOptions): void {
  const { model, client, thinking, effort, cache = true, maxReplyBytes } = options;
  if (typeof model !== 'string' || model.trim() === '') {
    throw expectation('model', 'the name of a model, as in claude-sonnet-5-5', model);
  }
  expectConnection(options);
  if (maxReplyBytes !== undefined) expectInteger('maxReplyBytes', maxReplyBytes, { min: 1 });
  if (client !== undefined) expectClient(client, options);
  if (thinking !== undefined) {
    expectOneOf('thinking.type', thinking.type, ['adaptive', 'enabled', 'disabled']);
  }
  if (effort !== undefined) {
    expectOneOf('effort', effort, ['low', 'medium', 'high', 'xhigh', 'max']);
  }
  if (typeof cache !== 'boolean') expectOneOf('cache', cache, ['5m', '1h']);
}

function expectClient(client: AnthropicClient, options: AnthropicOptions): void {
  expectMethods('client', client, []);
  expectMethods('client.messages', client.messages, ['create', 'stream']);
  expectAbsentBesideClient(options, ['apiKey', 'baseUrl', 'fetch', 'maxReplyBytes']);
}

function bareModel(options: AnthropicOptions, secrets: Set<string>): LanguageModel {
  const { model: modelId, cache = true, thinking, effort } = options;
  const thinks = thinking !== undefined && thinking.type !== 'disabled';
  const traits = traitsOf(modelId);
  const honoured = honouredBy(traits, thinks);
  const downgrades = new Downgrades(`anthropic:${modelId}`, capabilitiesOf(honoured));
  const price = modelPriceOf(modelId, cache === '1h');
  const mark = markOf(cache);
  const connection = { ...options, secrets };
  const server = new Server(connection, { modelId, thinking, effort, mark, traits, downgrades });
  return {
    provider: 'anthropic',
    modelId,
    settings: { ...(thinking && { thinking: { ...thinking } }), ...(effort && { effort }) },
    get capabilities() {
      return downgrades.capabilities;
    },
    ...(price !== undefined && { price }),
    async generate(request, call) {
      call.signal.throwIfAborted();
      expectRequest(request);
      for (const what of wishesOf(request)) {
        if (!honoured(what)) downgrades.drop(what, call);
      }
      return askForSamples((one) => server.ask(one, call), request, { call, downgrades });
    },
  };
}

function markOf(cache: boolean | '5m' | '1h'): RequestSettings['mark'] {
  if (cache === false) return undefined;
  return cache === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' };
}

/** Whether a model honours something, by what is known of it. Models that think are bound further. */
function honouredBy(traits: ModelTraits, thinks: boolean): (what: Droppable) => boolean {
  const honoured: Readonly<Partial<Record<Droppable, boolean>>> = {
    temperature: traits.sampling && !thinks,
    topP: traits.sampling && !thinks,
    topK: traits.sampling && !thinks,
    continuation: traits.prefill && !thinks,
    toolChoice: traits.forcedTools && !thinks,
    schema: traits.schema,
  };
  return (what) => honoured[what] === true;
}

function capabilitiesOf(honours: (what: Droppable) => boolean): Capabilities {
  return {
    n: false,
    logprobs: false,
    seed: false,
    stop: true,
    continuation: honours('continuation'),
    schema: honours('schema'),
    tools: true,
    temperature: honours('temperature'),
    topK: honours('topK'),
  };
}

/** What a request asks for of what not every model honours. */
function wishesOf(request: GenerateRequest): readonly Droppable[] {
  const { temperature, topP, logprobs = false, topLogprobs = 0, toolChoice = 'auto' } = request;
  const last = request.messages.at(-1);
  const wishes: Readonly<Partial<Record<Droppable, boolean>>> = {
    temperature: temperature !== undefined,
    topP: topP !== undefined,
    topK: request.topK !== undefined,
    seed: request.seed !== undefined,
    logprobs: logprobs || topLogprobs > 0,
    schema: request.schema !== undefined,
    toolChoice: toolChoice !== 'auto',
    continuation: last?.role === 'assistant' && last.content.trim() !== '',
  };
  return (Object.keys(wishes) as Droppable[]).filter((what) => wishes[what] === true);
}
