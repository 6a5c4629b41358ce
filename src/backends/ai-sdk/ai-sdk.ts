import { EspalierError } from '../../base/errors.ts';
import { describeValue, expectation, expectFunction } from '../../base/expect.ts';
import { expectCapabilities } from '../../base/expect-capabilities.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type {
  Capabilities,
  GenerateRequest,
  Generation,
  LanguageModel,
  ModelCall,
  ModelPrice,
} from '../../contracts/language-model.ts';
import { type ConnectionOptions, expectConnection, secretsOf } from '../transport/connection.ts';
import { Downgrades } from '../transport/downgrades.ts';
import { finishedGeneration, hostedModel } from '../transport/hosted.ts';
import { defined, fieldsOf } from '../transport/json.ts';
import { Line } from '../transport/line.ts';
import { isThinker, type ThoughtOptions, thoughtTokensOf } from '../transport/thought-tokens.ts';
import { aiSdkError } from './errors.ts';
import { asksForLogprobs, beginningOf, callOptionsOf } from './request.ts';
import { droppedBy, type GenerateResult, readResult, sentenceOf } from './response.ts';

/** A language model of the AI SDK, specification version 2, 3 or 4, as far as it is used here. */
export interface AiSdkModel {
  /** The version of the specification: `v2`, `v3` or `v4`. */
  readonly specificationVersion: string;
  /** The provider, as in `openai.chat`. */
  readonly provider: string;
  /** Its name there. */
  readonly modelId: string;
  /** Answers once. */
  doGenerate(options: object): PromiseLike<unknown>;
}

/** Options of {@link aiSdk}. */
export interface AiSdkOptions
  extends Pick<ConnectionOptions, 'retry' | 'timeoutMs'>,
    ThoughtOptions {
  /** Provider options, sent with every request, as in `{ openai: { user: 'me' } }`. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, JsonValue>>>>;
  /** Its price. @defaultValue from price tables, by its name */
  readonly price?: ModelPrice;
  /**
   * What the model supports, if you know better: the AI SDK does not report it in advance.
   *
   * @defaultValue stop texts, schemas, tools, images and a temperature; for `openai.chat` also log-probabilities
   */
  readonly capabilities?: Omit<Capabilities, 'n'>;
}

/**
 * Wraps a model of the Vercel AI SDK, specification version 2, 3 or 4, from any provider package, as in
 * `openai('gpt-6-luna')`. The SDK itself is not loaded.
 *
 * Each request gets one sample; several are requested separately, each with its own seed if there is one. Options that
 * a model warns it does not support are reported once and left out from then on. Only OpenAI's models give
 * log-probabilities. If the model is not known to continue a partial answer (`capabilities.continuation`), the partial
 * answer is added to the question.
 *
 * @throws EspalierError `usage` if the model is not one of the AI SDK. A request is rejected with a
 * `ModelCallError`.
 *
 * @example
 * ```ts
 * const model = aiSdk(openai('gpt-6-luna'));
 * ```
 */
export function aiSdk(model: AiSdkModel, options: AiSdkOptions = {}): LanguageModel {
  expectOptions(
    'aiSdk',
    options,
    'providerOptions price capabilities retry timeoutMs thoughtTokens',
  );
  expectModel(model);
  expectConnection(options);
  const { provider, modelId } = model;
  const { price, capabilities = {} } = options;
  expectCapabilities('capabilities', capabilities);
  const line = new Line({
    ...{ ...options, usualTimeoutMs: 600_000 },
    ...{ provider, model: modelId, client: model, errorFrom: aiSdkError },
    secretsOfClient: () => secretsOfModel(model),
  });
  const declared: Capabilities = {
    ...{ n: false, logprobs: provider === 'openai.chat', seed: false, stop: true },
    ...{ continuation: false, schema: true, tools: true, images: true, temperature: true },
    ...capabilities,
  };
  const { continuation, logprobs, schema } = declared;
  // A seed is sent; a model that does not support it warns.
  const downgrades = new Downgrades(line.name, declared, {
    ...{ continuation: continuation === true, logprobs: logprobs === true },
    schema: schema === true,
  });
  return hostedModel(line, {
    ...{ downgrades, price },
    settings: settingsOf(options),
    thoughtTokens: thoughtTokensOf(options, { thinks: isThinker(modelId) }),
    ask: (request, call) => ask(request, call, { model, options, line, downgrades }),
  });
}

/** The headers that a provider sends, which may contain a key from the environment. */
function secretsOfModel(model: AiSdkModel): readonly string[] {
  const { config } = model as { readonly config?: { headers?: unknown } };
  try {
    const headers: unknown =
      typeof config?.headers === 'function' ? config.headers() : config?.headers;
    return secretsOf({ headers });
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

function settingsOf({
  providerOptions,
  capabilities,
}: AiSdkOptions): NonNullable<LanguageModel['settings']> {
  return {
    ...(providerOptions !== undefined && { providerOptions: { ...providerOptions } }),
    ...(capabilities !== undefined && { capabilities: { ...capabilities } }),
  };
}

async function ask(
  request: GenerateRequest,
  call: ModelCall,
  {
    model,
    options,
    line,
    downgrades,
  }: {
    readonly model: AiSdkModel;
    readonly options: AiSdkOptions;
    readonly line: Line;
    readonly downgrades: Downgrades;
  },
): Promise<Generation> {
  const isRestated = downgrades.refuses('continuation');
  const callOptions = callOptionsOf(request, downgrades, { ...options, model });
  // The request ends at the signal or the timeout, whether or not the model reacts to it.
  const received = await line.request(call, async (abortSignal) => {
    const body = await model.doGenerate({ ...callOptions, abortSignal });
    return { body, headers: fieldsOf(fieldsOf(body)['response'])['headers'] };
  });
  const result = readResult(received.body, model.provider);
  if (result === undefined) {
    throw line.malformed('something that is not a result of the AI SDK', call);
  }
  const { completion, usage, answeredBy } = result;
  if (completion === undefined) throw line.malformed('a tool call whose input is not JSON', call);
  heed(result, downgrades, call);
  if (asksForLogprobs(callOptions) && completion.logprobs === undefined) {
    downgrades.drop('logprobs', call);
  }
  const generation = { completions: [completion], usage, ...defined({ answeredBy }) };
  const told = isRestated ? beginningOf(request.messages) : undefined;
  return finishedGeneration(generation, { request, received, told });
}

/** Records and passes on the warnings of a model. */
function heed({ warnings }: GenerateResult, downgrades: Downgrades, call: ModelCall): void {
  for (const warning of warnings) {
    const what = droppedBy(warning);
    const { about, type } = warning;
    if (what === undefined) downgrades.warn(call, about ?? type, sentenceOf(warning));
    else downgrades.drop(what, call);
  }
}
