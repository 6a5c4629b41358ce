import { expectMethods, expectObject, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Capabilities, LanguageModel } from '../../contracts/language-model.ts';
import {
  type ConnectionOptions,
  connectionOptions,
  expectAbsentBesideClient,
  expectConnection,
  expectModelName,
} from '../transport/connection.ts';
import { Downgrades } from '../transport/downgrades.ts';
import { hostedModel } from '../transport/hosted.ts';
import { defined } from '../transport/json.ts';
import { Line } from '../transport/line.ts';
import { withMute } from '../transport/mute.ts';
import { Sdk } from '../transport/sdk.ts';
import { type ThoughtOptions, thoughtTokensOf } from '../transport/thought-tokens.ts';
import { ask, type Service } from './asking.ts';
import { OpenAiBatches } from './batches.ts';
import { hasBatches, type OpenAiClient, openClient } from './client.ts';
import { type ModelTraits, traitsOf } from './models.ts';
import { provider } from './request.ts';

/** Options of {@link openai}. A `baseUrl` without a path gets `/v1`. */
export interface OpenAiOptions extends ConnectionOptions, ThoughtOptions {
  /** The model, as in `gpt-6-luna`. */
  readonly model: string;
  /** The organization to charge. @defaultValue `OPENAI_ORG_ID` */
  readonly organization?: string;
  /** The project to charge. @defaultValue `OPENAI_PROJECT_ID` */
  readonly project?: string;
  /**
   * A client of `openai` to use, instead of `apiKey`, `keyVariable`, `baseUrl`, `organization`, `project` and
   * `fetch`. Its own retries are switched off for our requests.
   */
  readonly client?: OpenAiClient;
  /** The API for all requests. @defaultValue chosen per request, as {@link openai} describes */
  readonly api?: 'chat' | 'responses';
  /**
   * The requested service tier. The price depends on the tier reported in the answer.
   *
   * @defaultValue that of the project
   */
  readonly serviceTier?: 'auto' | 'default' | 'flex' | 'priority' | 'fast' | 'ultrafast';
  /** The effort of a reasoning model. @defaultValue the model's default */
  readonly reasoningEffort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
}

/**
 * A model of OpenAI. Needs the package `openai`, version 6 or 7, which is loaded at the first request.
 *
 * A request goes to the Responses API, unless it needs what only Chat Completions has: several samples at once, a seed,
 * stop texts, log-probabilities, or a limit below 16 tokens. Features that the model does not support anyway are
 * ignored for this. Tools go to the Responses API if the model supports them only there (reasoning models from GPT-5.6
 * on), one request per sample; so do all requests of models that are served only there, such as those called `-pro` and
 * `-codex`.
 *
 * - Reasoning models support only temperature 1, and neither `topP`, log-probabilities nor stop texts, unless
 *   `reasoningEffort` is `'none'` and the model allows it. These are not sent, with one warning, and answers are cut at
 *   stop texts locally. No model supports `topK` or continues a partial answer, which is added to the question.
 * - A seed is derived from that of the request and the index of the sample. OpenAI promises only best effort, so
 *   `capabilities` does not include it.
 * - The first four stop texts are sent; for the others, answers are cut locally. An answer is read to its end even
 *   then, because its usage comes last, and unknown usage is charged as reserved, reasoning included.
 * - Answers of more than 16,384 tokens, reasoning included, are streamed, so that `timeoutMs` limits the time without
 *   data.
 * - A schema is enforced strictly if each of its objects is closed and requires all its properties, and if it has no
 *   keyword that OpenAI refuses, such as `oneOf`, and at most 10 levels, 5,000 properties and 1,000 values; so is the
 *   input of a tool. One that is not an object is described in words.
 * - If the server at `baseUrl` has no Responses API, Chat Completions are used from then on, with a warning.
 * - The calls of one search share a cache key. The Responses API is told not to store them.
 * - A declined or filtered answer ends with `refusal`; its text is the explanation. An answer that is not JSON despite
 *   a `schema`, or that calls a tool with invalid JSON, ends as `other`, with a warning.
 * - Log-probabilities are left out if that of a written token is missing.
 *
 * @throws EspalierError `usage` if an option is out of range. A request rejects with such an error if the package is
 * missing; else with a `ModelCallError`.
 *
 * @example
 * ```ts
 * const model = openai({ model: 'gpt-6-luna' });
 * ```
 */
export function openai(options: OpenAiOptions): LanguageModel {
  checkOptions(options);
  const { model, reasoningEffort: effort, serviceTier, client, headers = {} } = options;
  const line = new Line({
    ...{ ...options, usualTimeoutMs: 600_000 },
    ...{ provider, usualKeyVariable: 'OPENAI_API_KEY' },
    ...{ usualBaseUrl: 'https://api.openai.com/v1', baseUrlVariable: 'OPENAI_BASE_URL' },
  });
  const traits = traitsOf(model, effort);
  const { api = traits.responsesOnly ? 'responses' : undefined } = options;
  const batches = client === undefined || hasBatches(client);
  const capabilities = { ...capabilitiesOf(traits, { api, client }), batch: batches };
  const known = { ...capabilities, topP: traits.samples };
  const downgrades = new Downgrades(line.name, capabilities, known);
  const sdk = new Sdk(line, client, async (fetch) => {
    const { baseUrl, organization, project } = options;
    const found = defined({ apiKey: line.key(), baseUrl, organization, project });
    return openClient(found, fetch, line.context());
  });
  const service: Service = {
    ...{ line, sdk, model, traits, effort, serviceTier, api, headers, downgrades },
    mayLackResponses: options.baseUrl !== undefined || client !== undefined,
    lacks: new Set(),
    batches: batches
      ? {
          chat: new OpenAiBatches({ line, sdk, headers }, 'chat'),
          responses: new OpenAiBatches({ line, sdk, headers }, 'responses'),
        }
      : undefined,
  };
  const made = hostedModel(line, {
    downgrades,
    settings: defined({ reasoningEffort: effort, serviceTier, api: options.api }),
    thoughtTokens: thoughtTokensOf(options, { thinks: !traits.samples, effort }),
    leastPrefixTokens: 1024,
    asksOneByOne: ({ tools = [] }) => tools.length > 0 && !traits.chatsWithTools && api !== 'chat',
    // Some models refuse even the default value of a parameter.
    isUsual: (what, { temperature, topP }) =>
      (what === 'temperature' && temperature === 1) || (what === 'topP' && topP === 1),
    ask: (request, call) => ask(request, call, service),
  });
  return withMute(made, openai, options);
}

function capabilitiesOf(
  traits: ModelTraits,
  { api, client }: Pick<Service, 'api'> & { readonly client: OpenAiClient | undefined },
): Capabilities {
  const isChat = api !== 'responses' || (client !== undefined && client.responses === undefined);
  return {
    n: isChat,
    logprobs: traits.samples,
    ...(!isChat && { seed: false }),
    stop: isChat && traits.samples,
    ...{ continuation: false, schema: true, tools: true, images: true, topK: false },
    temperature: traits.samples,
  };
}

function checkOptions(options: OpenAiOptions): void {
  expectOptions(
    'openai',
    options,
    `${connectionOptions} model organization project client api reasoningEffort serviceTier thoughtTokens`,
  );
  const { model, client, api, reasoningEffort, serviceTier } = options;
  expectModelName(model, 'gpt-6-luna');
  expectConnection(options);
  if (client !== undefined) {
    expectObject('client', client);
    expectObject('client.chat', client.chat);
    expectMethods('client.chat.completions', client.chat.completions, ['create']);
  }
  expectAbsentBesideClient(options, [
    ...(['apiKey', 'keyVariable', 'baseUrl', 'organization', 'project', 'fetch'] as const),
  ]);
  if (api !== undefined) expectOneOf('api', api, ['chat', 'responses']);
  if (reasoningEffort !== undefined) {
    const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
    expectOneOf('reasoningEffort', reasoningEffort, efforts);
  }
  if (serviceTier !== undefined) {
    const tiers = ['auto', 'default', 'flex', 'priority', 'fast', 'ultrafast'];
    expectOneOf('serviceTier', serviceTier, tiers);
  }
}
