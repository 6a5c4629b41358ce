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
import type { Capabilities, GenerateRequest, ModelPrice } from '../../contracts/language-model.ts';
import {
  type ConnectionOptions,
  connectionOptions,
  expectAbsentBesideClient,
  expectConnection,
  expectModelName,
} from '../transport/connection.ts';
import { Downgrades } from '../transport/downgrades.ts';
import { type CompatibleClient, Exchange } from '../transport/exchange.ts';
import { withSecretsKept } from '../transport/guarded.ts';
import { hostedModel } from '../transport/hosted.ts';
import { isThinker, type ThoughtOptions, thoughtTokensOf } from '../transport/thoughts.ts';
import { answer, urlOf, type Way } from './answering.ts';
import { countedPrompt } from './counting.ts';
import { habits, type ServerPreset } from './presets.ts';
import type { Recipient } from './request.ts';
import { type Connected, type OpenAiCompatibleModel, Server } from './server.ts';

/**
 * Options of {@link openaiCompatible}. The `baseUrl` may be left out where `preset` has a usual one, or where a
 * `client` brings its own.
 */
export interface OpenAiCompatibleOptions extends ConnectionOptions, ThoughtOptions {
  /** The model's name there. @defaultValue the first that the server lists */
  readonly model?: string;
  /**
   * What kind of server it is, and so what it is known to honour. Where it is left out, the server is looked
   * at before the first request; until then nothing is relied upon but a temperature and stop texts.
   */
  readonly preset?: ServerPreset;
  /** A client of the package `openai` that sends the requests, in place of `fetch`, `apiKey` and `baseUrl`. */
  readonly client?: CompatibleClient;
  /** What this server does and does not honour, where that differs from what is known of its kind. */
  readonly capabilities?: Capabilities;
  /** What it costs. @defaultValue nothing for servers on a machine of one's own, unknown for others */
  readonly price?: ModelPrice;
  /** How hard it thinks, for models that can be told: sent as `reasoning_effort`. @defaultValue as the model likes */
  readonly effort?: string;
  /** Its context in tokens, from 1 up. @defaultValue what the server tells */
  readonly contextLength?: number;
}

/**
 * A model behind a server that speaks OpenAI's Chat Completions: vLLM, SGLang, llama-server, Ollama, LM
 * Studio, `transformers serve`, or any other.
 *
 * It needs no package besides this one. Requests go through plain `fetch`, and not through the `openai` SDK:
 * servers of one's own break in ways of their own, and only here can a reply be limited in size and time,
 * read strictly as UTF-8, and its connection be closed the moment a call is abandoned.
 *
 * - Several samples come from one request where the server honours `n`. With a seed that holds only where
 *   choice `i` has a seed of its own (vLLM, llama-server): a sample is fixed by seed and index, however
 *   many are asked for at once. Elsewhere each sample of a seeded request is asked for alone.
 * - A temperature of 1 is the model's own distribution: other parameters of sampling are switched off unless
 *   the request sets them. vLLM and SGLang use the model's recommended ones where a request sets none;
 *   llama-server never uses its own.
 * - A trailing assistant message is continued where the server can, by its chat or from a rendered prompt;
 *   elsewhere the beginning is told in the question, with a warning.
 * - An answer that is no JSON although a `schema` was asked for, and one that calls a tool with an input that
 *   is no JSON, ends as `other`, with a warning. Such a call is left out.
 * - What the server turns out not to honour is asked for once, warned of once, and done without from then on.
 * - Log-probabilities are left out where that of a written token is not told.
 * - vLLM, SGLang and llama-server are asked how many tokens a prompt is, where a budget limits tokens or dollars.
 *
 * @throws EspalierError `usage` where an option is out of its range. A request is rejected with a
 * `ModelCallError`.
 *
 * @example
 * ```ts
 * const model = openaiCompatible({ preset: 'vllm', baseUrl: 'http://localhost:8000/v1' });
 * ```
 */
export function openaiCompatible(options: OpenAiCompatibleOptions = {}): OpenAiCompatibleModel {
  checkOptions(options);
  const { preset = 'generic', capabilities, effort } = options;
  const { line, server } = reached(options);
  const usual = habits[preset];
  const downgrades = new Downgrades(line.name, { ...usual.capabilities, ...capabilities });
  const closed = new Set<Way>();
  const known: { habits: typeof usual; connected?: Connected } = { habits: usual };
  const prepare = async (signal: AbortSignal): Promise<Connected> => {
    known.connected = await server.connect(signal);
    known.habits = habits[known.connected.preset];
    downgrades.know({ ...known.habits.capabilities, ...capabilities });
    return known.connected;
  };
  const mayCount = options.preset === undefined || usual.counts !== undefined;
  const model = hostedModel(line, {
    downgrades,
    settings: {
      ...(capabilities !== undefined && { capabilities: { ...capabilities } }),
      ...(effort !== undefined && { effort }),
    },
    thoughtTokens: thoughtTokensOf(options, { thinks: isThinker(options.model ?? ''), effort }),
    price: options.price ?? (usual.isFree ? { input: 0, output: 0 } : undefined),
    prepare: ({ signal }) => prepare(signal),
    count: mayCount ? counter({ line, downgrades, known, prepare }) : undefined,
    asksOneByOne: ({ seed }) => seed !== undefined && known.habits.seedsChoices !== true,
    ask(request, call) {
      const { connected } = known;
      if (connected === undefined) throw new Error('Expected a server that has been looked at.');
      const asking = { ...known, connected, line, server, effort, downgrades, closed, call };
      return answer(request, asking);
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
}: Pick<Recipient, 'downgrades'> & {
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
      return await countedPrompt(request, { connected, habits, downgrades }, async (path, body) => {
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

function reached(options: OpenAiCompatibleOptions) {
  const { preset, model } = options;
  const isNamed = preset !== undefined && preset !== 'generic';
  const baseUrl = addressOf(options);
  const line = new Exchange({
    ...{ ...options, baseUrl },
    provider: isNamed ? preset : 'openai-compatible',
    model: model ?? 'default',
  });
  return { line, server: new Server(line, { ...options, baseUrl }) };
}

/** The address without a slash at its end, and without the path of one endpoint. */
function addressOf({ baseUrl, preset, client }: OpenAiCompatibleOptions): string {
  const given = baseUrl ?? client?.baseURL ?? habits[preset ?? 'generic'].baseUrl;
  const address = typeof given === 'string' ? given : '';
  return address.replace(/\/+$/, '').replace(/\/(chat\/)?completions$/, '');
}

function checkOptions(options: OpenAiCompatibleOptions): void {
  expectOptions(
    'openaiCompatible',
    options,
    `${connectionOptions} model preset client capabilities price effort contextLength thoughtTokens`,
  );
  const { preset, model, client, capabilities, effort, contextLength } = options;
  if (preset !== undefined) expectOneOf('preset', preset, Object.keys(habits));
  if (client !== undefined) expectMethods('client', client, ['get', 'post']);
  expectAbsentBesideClient(options, ['apiKey', 'baseUrl', 'fetch']);
  if (model !== undefined) expectModelName(model);
  const address = addressOf(options);
  if (address === '') {
    throw expectation('baseUrl', 'an address, as in http://localhost:8000/v1', options.baseUrl);
  }
  expectConnection({ ...options, baseUrl: options.baseUrl ?? address });
  if (capabilities !== undefined) expectCapabilities('capabilities', capabilities);
  if (effort !== undefined) expectText('effort', effort);
  if (contextLength !== undefined) expectInteger('contextLength', contextLength, { min: 1 });
}
