import { expectation, expectInteger, expectMethods, expectOneOf } from '../../base/expect.ts';
import { type RetryOptions, withRetry } from '../../calls/middleware/with-retry.ts';
import type { Capabilities, LanguageModel } from '../../contracts/language-model.ts';
import { expectAbsentBesideClient } from '../transport/beside-client.ts';
import { expectConnection, secretsOf, secretsOfClient } from '../transport/connection.ts';
import { Downgrades } from '../transport/downgrades.ts';
import type { WireContext } from '../transport/errors.ts';
import { expectRequest } from '../transport/expect-request.ts';
import { guarded } from '../transport/guarded.ts';
import { defined } from '../transport/json.ts';
import { patientFetch } from '../transport/patient-fetch.ts';
import { defaultMaxReplyBytes } from '../transport/reply-text.ts';
import { askForSamples } from '../transport/sampling.ts';
import { warningsOf } from '../transport/warn-once.ts';
import { type OpenAiClient, openClient } from './client.ts';
import { type ModelTraits, type ReasoningEffort, traitsOf } from './models.ts';
import type { OpenAiApi } from './request.ts';
import { Service } from './service.ts';

/** Options of {@link openai}. */
export interface OpenAiOptions {
  /** The model, as in `gpt-6-luna`. */
  readonly model: string;
  /** The key. @defaultValue `OPENAI_API_KEY` */
  readonly apiKey?: string;
  /** The address of the server; `/v1` is added where it has no path. @defaultValue `OPENAI_BASE_URL`, else OpenAI's own */
  readonly baseUrl?: string;
  /** The organization that is charged. @defaultValue `OPENAI_ORG_ID` */
  readonly organization?: string;
  /** The project that is charged. @defaultValue `OPENAI_PROJECT_ID` */
  readonly project?: string;
  /** Headers of every request, beside the usual ones and before them. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * How long one request may take, from its first byte to the last of its reply, in milliseconds, from 1 up.
   * A `fetch` or `client` of your own may give up before, as Node's `fetch` does by itself after 300 000
   * without a byte.
   *
   * @defaultValue 600 000
   */
  readonly timeoutMs?: number;
  /** Makes the requests. @defaultValue the `fetch` of the platform */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * A client of `openai` to use, in place of `apiKey`, `baseUrl`, `organization`, `project` and `fetch`. Its
   * own retries are switched off for our requests.
   */
  readonly client?: OpenAiClient;
  /** The API for all requests. @defaultValue the one that a request needs, as {@link openai} says */
  readonly api?: OpenAiApi;
  /** How hard a reasoning model thinks; its thoughts count with `maxTokens`. @defaultValue as the model likes */
  readonly reasoningEffort?: ReasoningEffort;
  /** How large a reply may be, in bytes, from 1 up; not with a `client`. @defaultValue 64 MiB */
  readonly maxReplyBytes?: number;
  /** How calls that failed are repeated; or never. @defaultValue as {@link withRetry} does */
  readonly retry?: RetryOptions | false;
}

/**
 * A model of OpenAI. Needs the package `openai`, version 6 or 7, which is loaded at the first request.
 *
 * A request goes to the Responses API, unless it needs what only Chat Completions has: several samples at
 * once, a seed, stop texts, log-probabilities, or a limit below 16 tokens. What the model refuses anyway does
 * not count. Tools go to the Responses API where the model takes them nowhere else (reasoning models from
 * GPT-5.6 on), each sample in a request of its own.
 *
 * - Reasoning models take no temperature but 1, no `topP`, no log-probabilities and no stop texts, unless
 *   `reasoningEffort` is `'none'` and the model can be told so. None of it is sent; a warning says so once,
 *   and answers are cut off at stop texts here. No model takes `topK`, nor goes on from a partial answer:
 *   the beginning is told in the question.
 * - A seed is derived from that of the request and the index of the sample. OpenAI promises no more than its
 *   best effort, so that `capabilities` does not name it.
 * - The first four stop texts are sent; at the others answers are cut off here.
 * - A schema is kept strictly where each of its objects is closed and requires all its properties; so is the
 *   input of a tool.
 * - The calls of one search have a cache key in common. The Responses API is told not to store them.
 * - An answer that the model declines to give, or that is filtered, ends with `refusal`; what it says of it
 *   is the text. One that is no JSON although a `schema` was asked for, or that calls a tool with an
 *   input that is no JSON, ends as `other`, with a warning.
 * - Log-probabilities are left out where that of a written token is not told.
 *
 * @throws EspalierError `usage` where an option is out of its range. A request is rejected with such an error
 * where the package is missing, and with a `ModelCallError`.
 *
 * @example
 * ```ts
 * const model = openai({ model: 'gpt-6-luna' });
 * ```
 */
export function openai(options: OpenAiOptions): LanguageModel {
  expectOptions(options);
  const { retry = {}, client } = options;
  const secrets = new Set(secretsOf(options));
  // A client may look for a new key at any time.
  const known = () => [...secrets, ...secretsOfClient(client)];
  const model = guarded(bareModel(options, secrets), known);
  return retry === false ? model : withRetry(retry)(model);
}

function bareModel(options: OpenAiOptions, secrets: Set<string>): LanguageModel {
  const { model: modelId, reasoningEffort, api, headers = {}, timeoutMs = 600_000 } = options;
  const traits = traitsOf(modelId, reasoningEffort);
  const context: Omit<WireContext, 'signal'> = {
    provider: 'openai',
    modelId,
    baseUrl: options.baseUrl,
    keyVariable: 'OPENAI_API_KEY',
    secrets,
  };
  const downgrades = new Downgrades(`openai:${modelId}`, capabilitiesOf(traits, options));
  const service = new Service({
    ...{ modelId, traits, api, headers, timeoutMs, downgrades, context },
    effort: reasoningEffort,
    warn: warningsOf(`openai:${modelId}`),
    open: () => clientOf(options, { ...context, secrets }),
  });
  return {
    provider: 'openai',
    modelId,
    settings: defined({ reasoningEffort, api }),
    get capabilities() {
      return downgrades.capabilities;
    },
    async generate(request, call) {
      call.signal.throwIfAborted();
      expectRequest(request);
      const usesTools = (request.tools ?? []).length > 0;
      const oneByOne = usesTools && !traits.chatsWithTools && api !== 'chat';
      return askForSamples((part) => service.ask(part, call), request, {
        ...{ call, downgrades, oneByOne },
      });
    },
  };
}

function capabilitiesOf(traits: ModelTraits, { api, client }: OpenAiOptions): Capabilities {
  const isChat = api !== 'responses' || (client !== undefined && client.responses === undefined);
  return {
    n: isChat,
    logprobs: traits.samples,
    ...(!isChat && { seed: false }),
    stop: isChat && traits.samples,
    continuation: false,
    schema: true,
    tools: true,
    temperature: traits.samples,
    topK: false,
  };
}

async function clientOf(
  options: OpenAiOptions,
  context: Omit<WireContext, 'signal'> & { readonly secrets: Set<string> },
): Promise<OpenAiClient> {
  const { client, apiKey, baseUrl, organization, project } = options;
  if (client !== undefined) return client;
  const { fetch = patientFetch, maxReplyBytes = defaultMaxReplyBytes } = options;
  const learn = (found: readonly string[]) => {
    for (const secret of found) context.secrets.add(secret);
  };
  const opened = await openClient({
    ...{ apiKey, organization, project, fetch },
    baseUrl: baseUrl === undefined ? undefined : withVersion(baseUrl),
    limits: { maxReplyBytes, learn, context: { ...context, signal: new AbortController().signal } },
  });
  learn(secretsOfClient(opened));
  return opened;
}

function withVersion(baseUrl: string): string {
  const address = baseUrl.replace(/\/+$/, '');
  return new URL(address).pathname === '/' ? `${address}/v1` : address;
}

function expectOptions(options: OpenAiOptions): void {
  const { model, client, api, reasoningEffort, maxReplyBytes, retry } = options;
  if (typeof model !== 'string' || model.trim() === '') {
    throw expectation('model', 'the name of a model, as in gpt-6-luna', model);
  }
  expectConnection(options);
  if (client !== undefined) {
    expectMethods('client', client, []);
    expectMethods('client.chat.completions', client.chat.completions, ['create']);
  }
  expectAbsentBesideClient(options, ['apiKey', 'baseUrl', 'organization', 'project', 'fetch']);
  if (api !== undefined) expectOneOf('api', api, ['chat', 'responses']);
  if (reasoningEffort !== undefined) expectOneOf('reasoningEffort', reasoningEffort, efforts);
  if (maxReplyBytes !== undefined) expectInteger('maxReplyBytes', maxReplyBytes, { min: 1 });
  if (retry !== undefined && retry !== false && typeof retry !== 'object') {
    throw expectation('retry', 'an object or false', retry);
  }
}

const efforts: readonly ReasoningEffort[] = [
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
];
