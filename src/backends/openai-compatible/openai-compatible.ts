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
 * Options of {@link openaiCompatible}. The `baseUrl` may be left out where `preset` has a usual one, or where a
 * `client` brings its own; that of a provider is whole, with its path, but for Azure, where the resource will do.
 */
export interface OpenAiCompatibleOptions extends ConnectionOptions, ThoughtOptions {
  /** The model's name there. @defaultValue the first that the server lists; a provider has to be told */
  readonly model?: string;
  /**
   * What kind of server it is, or which provider, and so what it is known to support. Where it is left out, the server
   * is looked at before the first request; until then nothing is relied upon but a temperature and stop texts.
   *
   * Providers have their key in a variable of the environment, which is read when a request is sent:
   * `OPENROUTER_API_KEY`, `GEMINI_API_KEY`, `GROQ_API_KEY`, `MISTRAL_API_KEY`, `DEEPSEEK_API_KEY`, `TOGETHER_API_KEY`,
   * `FIREWORKS_API_KEY`, `AZURE_OPENAI_API_KEY` (with `AZURE_OPENAI_ENDPOINT`, unless `baseUrl` is given),
   * `AWS_BEARER_TOKEN_BEDROCK` (with `AWS_REGION`), `GOOGLE_OAUTH_ACCESS_TOKEN` for Vertex (with
   * `GOOGLE_CLOUD_PROJECT` and `GOOGLE_CLOUD_LOCATION`).
   */
  readonly preset?: ServerPreset;
  /** A client of the package `openai` that sends the requests, in place of `fetch`, `apiKey` and `baseUrl`. */
  readonly client?: CompatibleClient;
  /** What this server does and does not support, where that differs from what is known of its kind. */
  readonly capabilities?: Capabilities;
  /**
   * Further fields of each request, such as `reasoning` or `service_tier`. What a request says itself counts before
   * them, and the fields that each one sets are refused here.
   */
  readonly extraBody?: Readonly<Record<string, JsonValue>>;
  /**
   * What it costs.
   *
   * @defaultValue nothing for servers on a machine of your own, for providers as price tables say, unknown for others
   */
  readonly price?: ModelPrice;
  /** How hard it thinks, for models that can be told: sent as `reasoning_effort`. @defaultValue as the model likes */
  readonly effort?: string;
  /** Its context in tokens, from 1 up. @defaultValue what the server tells */
  readonly contextLength?: number;
}

/**
 * A model behind a server that speaks OpenAI's Chat Completions: vLLM, SGLang, llama-server, Ollama, LM
 * Studio, `transformers serve`, or any other; or of a provider that does: OpenRouter, Gemini, Groq, Mistral, DeepSeek,
 * Together, Fireworks, Azure, Bedrock, Vertex.
 *
 * It needs no package besides this one. Requests go through plain `fetch`, and not through the `openai` SDK:
 * servers of your own break in ways of their own, and only here can a reply be limited in size and time,
 * read strictly as UTF-8, and its connection be closed the moment a call is abandoned.
 *
 * - Several samples come from one request where the server supports `n`. With a seed that holds only where
 *   choice `i` has a seed of its own (vLLM, llama-server): a sample is fixed by seed and index, however
 *   many are asked for at once. Elsewhere each sample of a seeded request is asked for alone.
 * - A temperature of 1 is the model's own distribution: other parameters of sampling are switched off unless
 *   the request sets them. vLLM and SGLang use the model's recommended ones where a request sets none;
 *   llama-server never uses its own.
 * - A trailing assistant message is continued where the server can, by its chat or from a rendered prompt;
 *   elsewhere the beginning is told in the question, with a warning.
 * - An answer that is no JSON although a `schema` was asked for, and one that calls a tool with an input that
 *   is no JSON, ends as `other`, with a warning. Such a call is left out.
 * - What the server turns out not to support is asked for once, warned of once, and done without from then on.
 * - Log-probabilities are left out where that of a written token is not told.
 * - Thoughts that stand before an answer, up to `</think>`, are its `reasoning`. Where an answer goes on from a beginning,
 *   what it says is left as it is: the beginning may be one of thoughts.
 * - What OpenRouter, Gemini, Mistral and DeepSeek want back with a turn that calls tools is its `original`.
 * - Answers of more than 4,096 tokens of a server of your own, and 16,384 of a provider, thoughts included, are streamed, so
 *   that `timeoutMs` limits how long nothing may come; not where a provider wants more back with calls of tools than a
 *   stream tells.
 * - vLLM, SGLang and llama-server are asked how many tokens a prompt is, where a budget limits tokens or dollars.
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
  return Object.defineProperty(model, 'server', {
    value: (signal = new AbortController().signal) =>
      withSecretsKept(
        () => line.secrets,
        () => server.look(signal),
      ),
  }) as OpenAiCompatibleModel;
}

/** Asks a server how many tokens prompts are, until it turns out that it has no such endpoint. */
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

/** What is declared of a kind of server, and what of it is known. */
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

/** The address without a slash at its end, and without the path of one endpoint. */
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
