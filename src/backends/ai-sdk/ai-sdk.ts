import { EspalierError } from '../../base/errors.ts';
import { describeValue, expectation, expectFunction, expectNumber } from '../../base/expect.ts';
import { type RetryOptions, withRetry } from '../../calls/middleware/with-retry.ts';
import type {
  Capabilities,
  GenerateRequest,
  Generation,
  LanguageModel,
  ModelCall,
  ModelPrice,
} from '../../contracts/language-model.ts';
import { secretsOf } from '../transport/connection.ts';
import { withDeadline } from '../transport/deadline.ts';
import { Downgrades } from '../transport/downgrades.ts';
import { malformed, type WireContext } from '../transport/errors.ts';
import { expectRequest } from '../transport/expect-request.ts';
import { guarded } from '../transport/guarded.ts';
import { headerLookup, rateLimitsOf } from '../transport/headers.ts';
import { withoutBeginning } from '../transport/in-words.ts';
import { askForSamples, cutAtStop } from '../transport/sampling.ts';
import { type WarnOnce, warningsOf } from '../transport/warn-once.ts';
import { aiSdkError } from './errors.ts';
import {
  asksForLogprobs,
  beginningOf,
  type CallOptions,
  callOptionsOf,
  type ProviderOptions,
} from './request.ts';
import {
  completionOf,
  droppedBy,
  type GenerateResult,
  parsedResult,
  sentenceOf,
} from './response.ts';

/** What is needed of a language model of the AI SDK: specification version 2, 3 or 4. */
export interface AiSdkModel {
  /** The version of the specification: `v2`, `v3` or `v4`. */
  readonly specificationVersion: string;
  /** Who serves it, as in `openai.chat`. */
  readonly provider: string;
  /** Its name there. */
  readonly modelId: string;
  /** Answers once. */
  doGenerate(options: object): PromiseLike<unknown>;
}

/** Options of {@link aiSdk}. */
export interface AiSdkOptions {
  /** When failed requests are repeated; `false` never. @defaultValue as {@link RetryOptions} says */
  readonly retry?: RetryOptions | false;
  /** Options of the provider, handed on with every request, as in `{ openai: { user: 'me' } }`. */
  readonly providerOptions?: ProviderOptions;
  /** How long an answer may take, in milliseconds, from 1 up. @defaultValue ten minutes */
  readonly timeoutMs?: number;
  /** What it costs. @defaultValue what price tables say of its name */
  readonly price?: ModelPrice;
  /**
   * What the model honours, where you know better: the AI SDK does not tell beforehand.
   *
   * @defaultValue stop texts, schemas, tools and a temperature; of `openai.chat` log-probabilities
   */
  readonly capabilities?: Omit<Capabilities, 'n'>;
}

/**
 * A model of the Vercel AI SDK, of specification version 2, 3 or 4: whatever a provider package gives, as in
 * `openai('gpt-6-luna')`. Nothing of the SDK is loaded here.
 *
 * A request brings one sample; several are asked for one by one, each with a seed of its own where there is
 * one. What a model warns it does not support is passed on as a warning, once, and left out from then on.
 * Log-probabilities come from models of OpenAI only. Where the model is not known to go on from the beginning
 * of an answer (`capabilities.continuation`), the question tells it.
 *
 * @throws EspalierError `usage` where the model is none of the AI SDK. A request is rejected with a
 * `ModelCallError`.
 *
 * @example
 * ```ts
 * const model = aiSdk(openai('gpt-6-luna'));
 * ```
 */
export function aiSdk(model: AiSdkModel, options: AiSdkOptions = {}): LanguageModel {
  expectModel(model);
  const { retry = {}, timeoutMs } = options;
  if (timeoutMs !== undefined) expectNumber('timeoutMs', timeoutMs, { min: 1 });
  const adapted = guarded(adaptedModel(model, options), () => secretsOfModel(model));
  return retry === false ? adapted : withRetry(retry)(adapted);
}

/** The headers that a provider sends, which may hold a key from the environment. */
function secretsOfModel(model: AiSdkModel): readonly string[] {
  const { config } = model as { readonly config?: { headers?: unknown } };
  try {
    const given: unknown =
      typeof config?.headers === 'function' ? config.headers() : config?.headers;
    const headers = Object.entries(Object(given) as object).filter(
      ([, value]) => typeof value === 'string',
    );
    return secretsOf({ headers: Object.fromEntries(headers) });
  } catch {
    // It has no key.
    return [];
  }
}

function expectModel(model: AiSdkModel): void {
  if (typeof model !== 'object' || (model as unknown) === null) {
    throw expectation('model', "a model of the AI SDK, as in openai('gpt-6-luna')", model);
  }
  const { specificationVersion: version } = model;
  if (!['v2', 'v3', 'v4'].includes(version)) {
    throw new EspalierError(
      'usage',
      `Expected \`model.specificationVersion\` to be 'v2', 'v3' or 'v4', got ${describeValue(version)}.`,
    );
  }
  expectFunction('model.doGenerate', model.doGenerate);
}

function adaptedModel(model: AiSdkModel, options: AiSdkOptions): LanguageModel {
  const { provider, modelId } = model;
  const { price, capabilities } = options;
  const downgrades = new Downgrades(`${provider}:${modelId}`, {
    n: false,
    logprobs: provider === 'openai.chat',
    seed: false,
    stop: true,
    continuation: false,
    schema: true,
    tools: true,
    temperature: true,
    ...capabilities,
  });
  const warn = warningsOf(`${provider}:${modelId}`);
  const adapter: Adapter = { model, options, downgrades, warn };
  return {
    provider,
    modelId,
    settings: settingsOf(options),
    get capabilities() {
      return downgrades.capabilities;
    },
    ...(price !== undefined && { price }),
    async generate(request, call) {
      call.signal.throwIfAborted();
      expectRequest(request);
      prepare(request, adapter, call);
      return askForSamples((one) => ask(one, adapter, call), request, { call, downgrades });
    },
  };
}

function settingsOf({
  providerOptions,
  capabilities,
}: AiSdkOptions): NonNullable<LanguageModel['settings']> {
  return {
    ...(providerOptions !== undefined && { providerOptions: { ...providerOptions } }),
    ...(capabilities !== undefined && { capabilities: { ...capabilities } }),
  };
}

/** A model with what has become known of it. */
interface Adapter {
  readonly model: AiSdkModel;
  readonly options: AiSdkOptions;
  readonly downgrades: Downgrades;
  /** Passes a warning on. */
  readonly warn: WarnOnce;
}

/** Drops what the model is known not to honour, and says so once. */
function prepare(request: GenerateRequest, { downgrades }: Adapter, call: ModelCall): void {
  const { continuation, logprobs, schema } = downgrades.capabilities;
  const { logprobs: wanted = false, topLogprobs = 0 } = request;
  if (continuation !== true && beginningOf(request.messages) !== '') {
    downgrades.drop('continuation', call);
  }
  if (logprobs !== true && (wanted || topLogprobs > 0)) downgrades.drop('logprobs', call);
  if (schema !== true && request.schema !== undefined) downgrades.drop('schema', call);
}

async function ask(
  request: GenerateRequest,
  adapter: Adapter,
  call: ModelCall,
): Promise<Generation> {
  const { model, options, downgrades } = adapter;
  const { provider, modelId } = model;
  const context: WireContext = { provider, modelId, signal: call.signal };
  const isRestated = downgrades.has('continuation');
  const callOptions = callOptionsOf(request, downgrades, options.providerOptions);
  const result = parsedResult(await generated(adapter, callOptions, context));
  const completion = result && completionOf(result);
  if (result === undefined) {
    throw malformed(context, 'something that is not a result of the AI SDK');
  }
  if (completion === undefined) throw malformed(context, 'a tool call whose input is not JSON');
  heed(result, adapter, call);
  const isToldTokens = completion.logprobs !== undefined;
  if (asksForLogprobs(callOptions) && !isToldTokens) downgrades.drop('logprobs', call);
  const beginning = isRestated ? beginningOf(request.messages) : '';
  const text = withoutBeginning(completion.text, beginning);
  return {
    completions: [cutAtStop({ ...completion, text }, request.stop)],
    usage: result.usage ?? {},
    ...told(result, call),
  };
}

/** Asks the model, and leaves when the signal or the time says so, whether or not the model heeds it. */
async function generated(
  { model, options }: Adapter,
  callOptions: CallOptions,
  context: WireContext,
): Promise<unknown> {
  const { signal } = context;
  const { timeoutMs = 600_000 } = options;
  try {
    return await withDeadline(signal, timeoutMs, async (abortSignal) =>
      model.doGenerate({ ...callOptions, abortSignal }),
    );
  } catch (error) {
    signal.throwIfAborted();
    throw aiSdkError(error, context);
  }
}

/** Remembers and passes on what the model warns of. */
function heed({ warnings }: GenerateResult, adapter: Adapter, call: ModelCall): void {
  for (const warning of warnings ?? []) {
    const what = droppedBy(warning);
    if (what !== undefined) adapter.downgrades.drop(what, call);
    else
      adapter.warn(call, warning.setting ?? warning.feature ?? warning.type, sentenceOf(warning));
  }
}

/** Who answered, and how much the server still allows. */
function told({ response }: GenerateResult, call: ModelCall): Partial<Generation> {
  const header = headerLookup(response?.headers);
  const limits = rateLimitsOf(header);
  if (limits !== undefined) call.limits?.(limits);
  const requestId = header('x-request-id') ?? header('request-id');
  const answeredBy = response?.modelId ?? undefined;
  return {
    ...(answeredBy !== undefined && { answeredBy }),
    ...(requestId !== undefined && { requestId }),
  };
}
