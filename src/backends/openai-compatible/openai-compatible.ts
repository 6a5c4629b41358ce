import { ModelCallError } from '../../base/errors.ts';
import {
  expectation,
  expectInteger,
  expectMethods,
  expectOneOf,
  expectText,
} from '../../base/expect.ts';
import { expectCapabilities } from '../../base/expect-capabilities.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { countMs } from '../../calls/operations/count.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Capabilities, GenerateRequest, ModelPrice } from '../../contracts/language-model.ts';
import {
  type ConnectionOptions,
  connectionOptions,
  expectAbsentBesideClient,
  expectConnection,
  expectModelName,
} from '../transport/connection.ts';
import { Downgrades, type Known } from '../transport/downgrades.ts';
import { environment } from '../transport/environment.ts';
import { type CompatibleClient, Exchange } from '../transport/exchange.ts';
import { withSecretsKept } from '../transport/guarded.ts';
import { hostedModel } from '../transport/hosted.ts';
import { withMute } from '../transport/mute.ts';
import { isThinker, type ThoughtOptions, thoughtTokensOf } from '../transport/thought-tokens.ts';
import { answer, urlOf, type Way } from './answering.ts';
import { countedPrompt } from './counting.ts';
import { expectExtraBody } from './extra-body.ts';
import type { Habits } from './habits.ts';
import { habits, isHosted, type ServerPreset } from './presets.ts';
import { azureAddress } from './providers.ts';
import type { Recipient } from './request.ts';
import { type Connected, type OpenAiCompatibleModel, Server } from './server.ts';

/**
 * Options of {@link openaiCompatible}. `baseUrl` is optional if `preset` has a default or `client` brings its own; for
 * a provider it is the full address with its path, except for Azure, where the resource is enough.
 */
export interface OpenAiCompatibleOptions extends ConnectionOptions, ThoughtOptions {
  /** The model's name there. @defaultValue the first that the server lists; required for providers */
  readonly model?: string;
  /**
   * The kind of server or the provider, and so its known capabilities. If left out, the server is probed before the
   * first request; until then only a temperature and stop texts are relied upon.
   *
   * The keys of providers are read from environment variables when a request is sent:
   * `OPENROUTER_API_KEY`, `GEMINI_API_KEY`, `GROQ_API_KEY`, `MISTRAL_API_KEY`, `DEEPSEEK_API_KEY`, `TOGETHER_API_KEY`,
   * `FIREWORKS_API_KEY`, `AZURE_OPENAI_API_KEY` (with `AZURE_OPENAI_ENDPOINT`, unless `baseUrl` is given),
   * `AWS_BEARER_TOKEN_BEDROCK` (with `AWS_REGION`), `GOOGLE_OAUTH_ACCESS_TOKEN` for Vertex (with
   * `GOOGLE_CLOUD_PROJECT` and `GOOGLE_CLOUD_LOCATION`).
   */
  readonly preset?: ServerPreset;
  /** A client of the package `openai` that sends the requests, instead of `fetch`, `apiKey` and `baseUrl`. */
  readonly client?: CompatibleClient;
  /** Capabilities of this server that differ from those of its kind. */
  readonly capabilities?: Capabilities;
  /**
   * Additional fields of each request, such as `reasoning` or `service_tier`. A request's own fields take precedence,
   * and fields that every request sets are refused here.
   */
  readonly extraBody?: Readonly<Record<string, JsonValue>>;
  /**
   * Its price.
   *
   * @defaultValue free on your own machine, from price tables for providers, else unknown
   */
  readonly price?: ModelPrice;
  /** The reasoning effort, for models that support it: sent as `reasoning_effort`. @defaultValue the model's default */
  readonly effort?: string;
  /** Its context length in tokens, from 1 up. @defaultValue as reported by the server */
  readonly contextLength?: number;
}

/**
 * A model on a server that implements OpenAI's Chat Completions: vLLM, SGLang, llama-server, Ollama, LM Studio,
 * `transformers serve`, or any other; or of such a provider: OpenRouter, Gemini, Groq, Mistral, DeepSeek, Together,
 * Fireworks, Azure, Bedrock, Vertex.
 *
 * It needs no other package. Requests use plain `fetch` instead of the `openai` SDK, so that replies can be limited in
 * size and time and read strictly as UTF-8, and connections closed as soon as a call is abandoned.
 *
 * - Several samples come from one request if the server supports `n`. With a seed, only if choice `i` has its own seed
 *   (vLLM, llama-server), because a sample is determined by seed and index, however many are requested at once.
 *   Otherwise each sample of a seeded request is requested separately.
 * - A temperature of 1 is the model's own distribution: other sampling parameters are switched off unless the request
 *   sets them. vLLM and SGLang use the model's recommended ones if a request sets none; llama-server's own are never
 *   used.
 * - A trailing assistant message is continued if the server can, by its chat or from a rendered prompt; otherwise it is
 *   added to the question, with a warning.
 * - An answer that is not JSON despite a `schema`, or that calls a tool with invalid JSON, ends as `other`, with a
 *   warning. Such a call is left out.
 * - Features that turn out to be unsupported are reported once, and not requested again.
 * - Log-probabilities are left out if that of a written token is missing.
 * - Text before an answer, up to `</think>`, is its `reasoning`. A continued answer is left as it is, because its
 *   beginning may be part of the reasoning.
 * - The data that OpenRouter, Gemini, Mistral and DeepSeek require back with a tool-calling turn is its `original`.
 * - Answers of more than 4,096 tokens from your own server, or 16,384 from a provider, reasoning included, are
 *   streamed, so that `timeoutMs` limits the time without data, unless a provider requires data with tool calls that
 *   streams lack.
 * - vLLM, SGLang and llama-server count the tokens of prompts, if a budget limits tokens or dollars.
 *
 * @throws EspalierError `usage` if an option is out of range. A request is rejected with a
 * `ModelCallError`.
 *
 * @example
 * ```ts
 * const model = openaiCompatible({ preset: 'vllm', baseUrl: 'http://localhost:8000/v1' });
 * ```
 */
export function openaiCompatible(options: OpenAiCompatibleOptions = {}): OpenAiCompatibleModel {
  checkOptions(options);
  const { preset = 'generic', capabilities, extraBody = {}, effort } = options;
  const { line, server } = reached(options);
  const { provider } = line;
  const usual = habits[preset];
  const downgrades = new Downgrades(line.name, ...honouredBy(usual, options));
  const closed = new Set<Way>();
  const known: { habits: typeof usual; connected?: Connected } = { habits: usual };
  const prepare = async (signal: AbortSignal): Promise<Connected> => {
    known.connected = await server.connect(signal);
    known.habits = habits[known.connected.preset];
    downgrades.know(...honouredBy(known.habits, options));
    return known.connected;
  };
  const mayCount = options.preset === undefined || usual.counts !== undefined;
  const model = hostedModel(line, {
    downgrades,
    settings: {
      ...(capabilities !== undefined && { capabilities: { ...capabilities } }),
      ...(options.extraBody !== undefined && { extraBody }),
      ...(effort !== undefined && { effort }),
    },
    thoughtTokens: thoughtTokensOf(options, { thinks: isThinker(options.model ?? ''), effort }),
    price: options.price ?? (usual.isFree ? { input: 0, output: 0 } : undefined),
    prepare: ({ signal }) => prepare(signal),
    count: mayCount
      ? counter({ line, downgrades, known, prepare, provider, extraBody })
      : undefined,
    asksOneByOne: ({ seed }) => seed !== undefined && known.habits.seedsChoices !== true,
    ask(request, call) {
      const { connected } = known;
      if (connected === undefined) throw new Error('Expected a server that has been looked at.');
      const asking = { ...known, connected, line, server, effort, downgrades, closed, call };
      return answer(request, { ...asking, provider, extraBody });
    },
  });
  return Object.defineProperty(withMute(model, openaiCompatible, options), 'server', {
    value: (signal = new AbortController().signal) =>
      withSecretsKept(
        () => line.secrets,
        () => server.look(signal),
      ),
  }) as OpenAiCompatibleModel;
}

/** Counts prompt tokens by the server, until it turns out that it has no such endpoint. */
function counter({
  line,
  downgrades,
  known,
  prepare,
  ...recipient
}: Pick<Recipient, 'downgrades' | 'extraBody' | 'provider'> & {
  readonly line: Exchange;
  readonly known: Pick<Recipient, 'habits'>;
  readonly prepare: (signal: AbortSignal) => Promise<Connected>;
}) {
  let isAbsent: ModelCallError | undefined;
  return async (request: GenerateRequest): Promise<number> => {
    if (isAbsent !== undefined) throw isAbsent;
    const signal = AbortSignal.timeout(countMs);
    const connected = await prepare(signal);
    const { habits } = known;
    try {
      const asked = { ...recipient, connected, habits, downgrades };
      return await countedPrompt(request, asked, async (path, body) => {
        const url = urlOf(path, connected);
        return (await line.send({ url, body, timeoutMs: countMs }, { signal })).body;
      });
    } catch (error) {
      if (ModelCallError.isInstance(error) && [404, 405, 501].includes(error.status ?? 0)) {
        isAbsent = error;
      }
      throw error;
    }
  };
}

/** The declared and the known capabilities of a kind of server. */
function honouredBy(
  { capabilities: usual, known }: Habits,
  { capabilities }: Pick<OpenAiCompatibleOptions, 'capabilities'>,
): readonly [Capabilities, Known] {
  const declared = { ...usual, ...capabilities };
  return [declared, { ...declared, ...known }];
}

function reached(options: OpenAiCompatibleOptions) {
  const { preset, model, keyVariable = habits[preset ?? 'generic'].keyVariable } = options;
  const isNamed = preset !== undefined && preset !== 'generic';
  const baseUrl = addressOf(options);
  const { baseUrl: usual } = habits[preset ?? 'generic'];
  const line = new Exchange({
    ...{ ...options, baseUrl, usualBaseUrl: typeof usual === 'string' ? usual : undefined },
    ...(keyVariable !== undefined && { keyVariable }),
    ...(isHosted(preset) && { usualTimeoutMs: 600_000 }),
    provider: isNamed ? preset : 'openai-compatible',
    model: model ?? 'default',
  });
  return { line, server: new Server(line, { ...options, baseUrl }) };
}

/** The address without a trailing slash, and without the path of an endpoint. */
function addressOf({ baseUrl, preset, client }: OpenAiCompatibleOptions): string {
  const { baseUrl: usual } = habits[preset ?? 'generic'];
  const given = baseUrl ?? client?.baseURL;
  const found = given ?? (typeof usual === 'function' ? usual(environment()) : usual);
  const isResource = preset === 'azure' && typeof given === 'string' && given !== '';
  const told = isResource ? azureAddress({ AZURE_OPENAI_ENDPOINT: given }) : found;
  const address = typeof told === 'string' ? told : '';
  return address.replace(/\/+$/, '').replace(/\/(chat\/)?completions$/, '');
}

function checkOptions(options: OpenAiCompatibleOptions): void {
  expectOptions(
    'openaiCompatible',
    options,
    `${connectionOptions} model preset client capabilities extraBody price effort contextLength thoughtTokens`,
  );
  const { preset, model, client, capabilities, extraBody, effort, contextLength } = options;
  if (preset !== undefined) expectOneOf('preset', preset, Object.keys(habits));
  if (client !== undefined) expectMethods('client', client, ['get', 'post']);
  expectAbsentBesideClient(options, ['apiKey', 'keyVariable', 'baseUrl', 'fetch']);
  if (model !== undefined || isHosted(preset)) expectModelName(model);
  const address = addressOf(options);
  if (address === '') {
    throw expectation('baseUrl', 'an address, as in http://localhost:8000/v1', options.baseUrl);
  }
  expectConnection({ ...options, baseUrl: options.baseUrl ?? address });
  if (capabilities !== undefined) expectCapabilities('capabilities', capabilities);
  if (effort !== undefined) expectText('effort', effort);
  if (extraBody !== undefined) expectExtraBody(extraBody);
  if (contextLength !== undefined) expectInteger('contextLength', contextLength, { min: 1 });
}
