import { expectBoolean, expectMethods, expectObject, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { countMs } from '../../calls/operations/count.ts';
import type { BatchService } from '../../contracts/batch.ts';
import type {
  Capabilities,
  GenerateRequest,
  Generation,
  LanguageModel,
  ModelCall,
} from '../../contracts/language-model.ts';
import { sentOrBatched } from '../transport/batched.ts';
import {
  type ConnectionOptions,
  connectionOptions,
  expectAbsentBesideClient,
  expectConnection,
  expectModelName,
} from '../transport/connection.ts';
import { Downgrades } from '../transport/downgrades.ts';
import { finishedGeneration, hostedModel } from '../transport/hosted.ts';
import { unbound } from '../transport/in-words.ts';
import { defined, fieldsOf } from '../transport/json.ts';
import { Line } from '../transport/line.ts';
import { withMute } from '../transport/mute.ts';
import { sampleHeader } from '../transport/sampling.ts';
import { Sdk } from '../transport/sdk.ts';
import { overAtStop } from '../transport/stop-texts.ts';
import { listening } from '../transport/streaming.ts';
import { isThinker, type ThoughtOptions, thoughtTokensOf } from '../transport/thought-tokens.ts';
import { MessageBatches } from './batches.ts';
import { type AnthropicClient, openClient, send, sendToCount } from './client.ts';
import { provider } from './conversation.ts';
import { anthropicError } from './errors.ts';
import { type ModelTraits, modelPriceOf, traitsOf } from './models.ts';
import { isSendable, messagesRequest, type RequestSettings } from './request.ts';
import { readMessage } from './response.ts';
import { canBind } from './schema.ts';

/** Options of {@link anthropic}. */
export interface AnthropicOptions extends ConnectionOptions, ThoughtOptions {
  /** The model, as in `claude-sonnet-5-5`. */
  readonly model: string;
  /**
   * A client of `@anthropic-ai/sdk` to use, instead of `apiKey`, `keyVariable`, `baseUrl`, `fetch` and
   * `maxReplyBytes`. Its own retries are switched off for our requests.
   */
  readonly client?: AnthropicClient;
  /**
   * How the model reasons before it answers, in the form of the Messages API. The reasoning is returned as
   * `Completion.reasoning` if the server reports it.
   *
   * @defaultValue the model's default
   */
  readonly thinking?:
    | {
        /** As the model chooses; or not at all, or only between tool calls, for models that support it. */
        readonly type: 'adaptive' | 'between_tools' | 'disabled';
        /** How thoughts are returned. @defaultValue the model's default */
        readonly display?: 'summarized' | 'omitted';
      }
    | {
        /** A maximum number of tokens, for models that accept one. */
        readonly type: 'enabled';
        /** The maximum tokens: an integer from 1024 up; also the default of `thoughtTokens`. */
        readonly budget_tokens: number;
        /** How thoughts are returned. @defaultValue the model's default */
        readonly display?: 'summarized' | 'omitted';
      };
  /** The effort. @defaultValue the model's default */
  readonly effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  /**
   * `auto` uses priority capacity if available, `standard_only` never does. `fast` requests the fast mode, which writes
   * faster at a higher price; models without it refuse. The tier reported in the answer is what is charged.
   *
   * @defaultValue `'auto'`
   */
  readonly serviceTier?: 'auto' | 'fast' | 'standard_only';
  /**
   * Whether to cache prompts at the server, and for how long. Writing to the cache costs 1.25 times the input price, or
   * 2 times for an hour; reading from it 0.1 times.
   *
   * @defaultValue true, which is `'5m'`
   */
  readonly cache?: boolean | '5m' | '1h';
  /**
   * Whether to count prompt tokens by the API, if a budget limits tokens or dollars: one additional free request per
   * prompt, with a separate rate limit.
   *
   * @defaultValue false: the bytes of the prompt count
   */
  readonly count?: boolean;
}

/**
 * A model of Anthropic, through the Messages API. Needs the package `@anthropic-ai/sdk`, loaded at the first request.
 *
 * Each request gets one sample; for several, the others are sent once the answer to the first starts to arrive, which
 * fills the cache, unless `cache` is false or the prompt is too short for it. There are no log-probabilities and no
 * seeds. New models take no temperature (since 4.7), do not continue a partial answer (since 4.6) and cannot be forced
 * to call a tool (since 5.1). Unsupported features are emulated where possible, with one warning per model: a partial
 * answer is added to the question, a tool call is requested in words. Stop texts of only white space are not sent: the
 * answer is streamed instead, and the connection closed as soon as one arrives, unless the model has reasoned or may
 * call tools. Anthropic does not document what it bills for an abandoned answer; such a call is charged the reported
 * prompt tokens plus one token per byte written, an upper bound. Answers of more than 16,384 tokens are streamed too,
 * so that `timeoutMs` limits the time without data.
 *
 * System messages are moved before the conversation. A `schema` is adapted to the API: objects are closed, and bounds
 * such as `minimum` become part of the description. A schema that is not an object, is recursive, or has more than 24
 * optional properties or 16 unions is described in words.
 *
 * An answer that the model declines to give ends with `refusal`; one that outgrows the model's context with
 * `length`.
 *
 * @throws EspalierError `usage` if an option is out of range. A request rejects with such an error if the package is
 * missing or the messages are not a conversation; else with a `ModelCallError`.
 *
 * @example
 * ```ts
 * const model = anthropic({ model: 'claude-sonnet-5-5' });
 * ```
 */
export function anthropic(options: AnthropicOptions): LanguageModel {
  checkOptions(options);
  const { model: modelId, cache = true, thinking, effort, serviceTier } = options;
  const { client, count = false } = options;
  const line = new Line({
    ...{ ...options, usualTimeoutMs: 600_000 },
    ...{ provider, usualKeyVariable: 'ANTHROPIC_API_KEY', errorFrom: anthropicError },
    ...{ usualBaseUrl: 'https://api.anthropic.com', baseUrlVariable: 'ANTHROPIC_BASE_URL' },
  });
  const traits = traitsOf(modelId);
  const known = knownOf(traits, thinking !== undefined && thinking.type !== 'disabled');
  const sdk = new Sdk(line, client, async (fetch) =>
    openClient(defined({ apiKey: line.key(), baseUrl: options.baseUrl }), fetch),
  );
  const headers = options.headers ?? {};
  const batches =
    // Batches do not support the fast mode.
    (client !== undefined && client.messages.batches === undefined) || serviceTier === 'fast'
      ? undefined
      : new MessageBatches({ line, sdk, headers: headersOf({}, { traits, headers, serviceTier }) });
  const capabilities = { ...capabilitiesOf(known), batch: batches !== undefined };
  const downgrades = new Downgrades(line.name, capabilities, known);
  const asked: Asking = {
    ...{ line, downgrades, traits, modelId, thinking, effort, serviceTier, mark: markOf(cache) },
    ...{ headers, sdk, batches },
  };
  const made = hostedModel(line, {
    downgrades,
    settings: {
      ...(thinking && { thinking: { ...thinking } }),
      ...(effort && { effort }),
      ...(serviceTier && { serviceTier }),
    },
    thoughtTokens: allowanceOf(options),
    leastPrefixTokens: cache === false ? Number.POSITIVE_INFINITY : traits.leastPrefixTokens,
    price: modelPriceOf(modelId, cache === '1h'),
    count: count ? counting(asked) : undefined,
    ask: asking(asked),
  });
  return withMute(made, anthropic, options);
}

function checkOptions(options: AnthropicOptions): void {
  expectOptions(
    'anthropic',
    options,
    `${connectionOptions} model client thinking effort serviceTier cache count thoughtTokens`,
  );
  const { model, client, thinking, effort, serviceTier, cache = true, count = false } = options;
  expectModelName(model, 'claude-sonnet-5-5');
  expectConnection(options);
  if (client !== undefined) {
    expectObject('client', client);
    expectMethods('client.messages', client.messages, ['create', 'stream']);
  }
  expectAbsentBesideClient(options, [
    ...(['apiKey', 'keyVariable', 'baseUrl', 'fetch', 'maxReplyBytes'] as const),
  ]);
  if (thinking !== undefined) {
    expectObject('thinking', thinking);
    expectOneOf('thinking.type', thinking.type, [
      'adaptive',
      'between_tools',
      'enabled',
      'disabled',
    ]);
  }
  if (effort !== undefined) {
    expectOneOf('effort', effort, ['low', 'medium', 'high', 'xhigh', 'max']);
  }
  if (serviceTier !== undefined) {
    expectOneOf('serviceTier', serviceTier, ['auto', 'fast', 'standard_only']);
  }
  expectBoolean('count', count);
  if (count && client !== undefined) {
    expectMethods('client.messages', client.messages, ['countTokens']);
  }
  if (typeof cache !== 'boolean') expectOneOf('cache', cache, ['5m', '1h']);
}

/** Current models think unless told not to, with high effort by default. */
function allowanceOf(options: AnthropicOptions): number {
  const { model, thinking, effort = 'high' } = options;
  if (thinking?.type === 'enabled') {
    const { thoughtTokens = thinking.budget_tokens } = options;
    return thoughtTokensOf({ thoughtTokens }, { thinks: true });
  }
  const mayThink = thinking === undefined ? isThinker(model) : thinking.type !== 'disabled';
  return thoughtTokensOf(options, { thinks: mayThink, effort });
}

function markOf(cache: boolean | '5m' | '1h'): RequestSettings['mark'] {
  if (cache === false) return undefined;
  return cache === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' };
}

/** What a model is known to support. Models that think have further restrictions. */
function knownOf(traits: ModelTraits, thinks: boolean) {
  const samples = traits.sampling && !thinks;
  return {
    ...{ temperature: samples, topP: samples, topK: samples, seed: false, logprobs: false },
    continuation: traits.prefill && !thinks,
    toolChoice: traits.forcedTools && !thinks,
    schema: traits.schema,
  };
}

function capabilitiesOf(known: ReturnType<typeof knownOf>): Capabilities {
  const { topP: _, toolChoice: __, ...told } = known;
  return { ...told, n: false, stop: true, tools: true, images: true };
}

interface Asking extends RequestSettings {
  readonly line: Line;
  readonly downgrades: Downgrades;
  readonly traits: ModelTraits;
  readonly headers: Readonly<Record<string, string>>;
  readonly sdk: Sdk<AnthropicClient>;
  /** Batches, if the client supports them. */
  readonly batches: BatchService | undefined;
}

/** Counts prompt tokens by the API. */
function counting(settings: Asking) {
  const { line, downgrades, sdk } = settings;
  return async (request: GenerateRequest): Promise<number> => {
    const { body } = messagesRequest(request, settings, downgrades);
    const client = await sdk.client();
    const call = { signal: AbortSignal.timeout(countMs) };
    const headers = headersOf(request, settings);
    const received = await line.request(call, (signal) =>
      sendToCount(client, body, { signal, headers, timeout: countMs }),
    );
    const { input_tokens: tokens } = fieldsOf(received.body);
    if (typeof tokens === 'number') return tokens;
    throw line.malformed('no count of tokens', call);
  };
}

function headersOf(
  { offset = 0 }: Pick<GenerateRequest, 'offset'>,
  { traits, headers, serviceTier }: Pick<Asking, 'headers' | 'serviceTier' | 'traits'>,
): Readonly<Record<string, string>> {
  const given = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const betas = [given['anthropic-beta'], serviceTier === 'fast' ? fastMode : undefined];
  const beta = betas.filter((name) => name !== undefined).join(',');
  return {
    ...(traits.sampling && { 'anthropic-version': versionWithSampling }),
    ...given,
    ...(beta !== '' && { 'anthropic-beta': beta }),
    [sampleHeader]: String(offset),
  };
}

/** Sends one request to the Messages API, for one sample. */
function asking(settings: Asking) {
  const { line, downgrades, sdk, batches } = settings;
  return async (request: GenerateRequest, call: ModelCall): Promise<Generation> => {
    const { body, beginning: told } = messagesRequest(request, settings, downgrades);
    const { stop = [] } = request;
    if (!stop.every(isSendable)) {
      const what = 'takes no stop text of white space only: answers are cut off locally instead.';
      downgrades.warn(call, 'stop', what);
    }
    const isSent = stop.every(isSendable) && !downgrades.refuses('stop');
    const runsOn = isSent || downgrades.refuses('stream');
    const isOver = runsOn ? undefined : overAtStop(request, told);
    if (!canBind(request.schema) && !downgrades.refuses('schema')) {
      downgrades.warn(call, 'schema', unbound);
    }
    const client = await sdk.client();
    const headers = headersOf(request, settings);
    const { timeoutMs: timeout } = line;
    const batched = batches && { service: batches, body, sample: request.offset ?? 0 };
    const received = await sentOrBatched(call, batched, () =>
      line.request(call, (signal, heard) => {
        const { onPart, ...asked } = listening(call, heard);
        const isStreamed = asked.isStreamed && !downgrades.refuses('stream');
        return send(client, body, { signal, headers, timeout, onPart, isOver, isStreamed });
      }),
    );
    const generation = readMessage(received.body);
    if (generation !== undefined)
      return finishedGeneration(generation, { request, received, told });
    throw line.malformed('something that is not a message of the Messages API', call);
  };
}

/** The API version that supports a temperature, for the models that do; the SDK requests a later one. */
const versionWithSampling = '2023-06-01';

/** The beta header that some models require for a `speed`. */
const fastMode = 'fast-mode-2026-02-01';
