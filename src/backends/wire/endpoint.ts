import type { ModelCallError } from '../../base/errors.ts';
import { expectation, expectInteger } from '../../base/expect.ts';
import { type RetryOptions, withRetry } from '../../calls/middleware/with-retry.ts';
import { sumOfUsages } from '../../calls/usage.ts';
import type { ModelCall, ModelPrice, Payee, Usage } from '../../contracts/language-model.ts';
import type { JsonBody } from './chat-request.ts';
import { expectConnection, secretsOf } from './connection.ts';
import { malformed, modelCallErrorFrom, type WireContext } from './errors.ts';
import { Exchange } from './exchange.ts';
import { guarded } from './guarded.ts';
import { headerLookup, rateLimitsOf } from './headers.ts';
import { countOf, fieldsOf, numberOf } from './json.ts';
import { patientFetch } from './patient-fetch.ts';
import { defaultMaxReplyBytes } from './reply-text.ts';

/** How a model behind HTTP is reached. */
export interface EndpointOptions {
  /** The address of the server, with `/v1` or without; or the whole address of the one path that is used. */
  readonly baseUrl?: string;
  /** The model's name there. */
  readonly model: string;
  /** The key. No environment variable is read: the key of one provider is not sent to another. @defaultValue none */
  readonly apiKey?: string;
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long one request may take, from its first byte to the last of its reply, in milliseconds. @defaultValue 300 000 */
  readonly timeoutMs?: number;
  /** Sends the requests. @defaultValue the platform's */
  readonly fetch?: typeof globalThis.fetch;
  /** What it costs. @defaultValue nothing for servers on a machine of one's own, unknown for others */
  readonly price?: ModelPrice;
  /** How large a reply may be, in bytes, from 1 up. @defaultValue 64 MiB */
  readonly maxReplyBytes?: number;
  /** How calls that failed are repeated; or never. @defaultValue as `withRetry` does */
  readonly retry?: RetryOptions | false;
}

/** What is known of a server before anybody says more. */
export interface EndpointHabits {
  /** The provider, as in `provider:modelId`. */
  readonly provider: string;
  /** Where it listens by default. */
  readonly baseUrl?: string;
  /** Whether it runs on a machine of one's own, and so costs nothing. */
  readonly isFree?: boolean;
}

/** Posts JSON to one server. */
export class Endpoint {
  /** The provider, as in `provider:modelId`. */
  readonly provider: string;
  /** The model's name. */
  readonly modelId: string;
  /** What it costs, where that is known. */
  readonly price: ModelPrice | undefined;
  readonly #exchange: Exchange;
  readonly #address: string;
  readonly #timeoutMs: number;
  readonly #context: Omit<WireContext, 'signal'>;

  constructor(habits: EndpointHabits, options: EndpointOptions) {
    const { model, apiKey, headers = {}, fetch = patientFetch, timeoutMs = 300_000 } = options;
    const { maxReplyBytes = defaultMaxReplyBytes, baseUrl = habits.baseUrl } = options;
    expectOptions(options, baseUrl);
    this.provider = habits.provider;
    this.modelId = model;
    this.price = options.price ?? (habits.isFree === true ? { input: 0, output: 0 } : undefined);
    this.#exchange = new Exchange({ fetch, client: undefined, apiKey, headers, maxReplyBytes });
    this.#address = String(baseUrl).replace(/\/+$/, '');
    this.#timeoutMs = timeoutMs;
    const { provider } = habits;
    const secrets = secretsOf({ apiKey, headers, baseUrl });
    this.#context = { provider, modelId: model, baseUrl, secrets };
  }

  /** What the model is called in the fields of its kind. */
  get names(): Pick<Payee, 'provider' | 'modelId' | 'price'> {
    const { provider, modelId, price } = this;
    return { provider, modelId, ...(price !== undefined && { price }) };
  }

  /**
   * The reply to a body posted to a path, such as `/v1/embeddings`. Rejects with a `ModelCallError`, or with
   * the reason of the caller's signal.
   */
  async post(path: string, body: JsonBody, call: ModelCall): Promise<unknown> {
    const context: WireContext = { ...this.#context, signal: call.signal };
    try {
      const { headers, body: reply } = await this.#exchange.send({
        ...{ url: this.#urlOf(path), body, timeoutMs: this.#timeoutMs },
        ...{ signal: call.signal, context },
      });
      tellLimits(headers, call);
      const { error } = fieldsOf(reply);
      if (error === undefined || error === null) return reply;
      // Proxies pass errors on with status 200.
      throw modelCallErrorFrom({ status: countOf(fieldsOf(error)['code']), error }, context);
    } catch (error) {
      call.signal.throwIfAborted();
      if (error instanceof Error && 'headers' in error) tellLimits(error.headers, call);
      throw modelCallErrorFrom(error, context);
    }
  }

  /** The error for a reply that makes no sense. @param what - What the model answered with. */
  malformed(what: string, call: ModelCall): ModelCallError {
    return malformed({ ...this.#context, signal: call.signal }, what);
  }

  #urlOf(path: string): string {
    const end = path.slice(path.lastIndexOf('/'));
    if (this.#address.endsWith(end)) return this.#address;
    return `${this.#address.replace(/\/v1$/, '')}${path}`;
  }
}

/** A model behind an endpoint: what it says is guarded, and its failed calls are repeated as its options say. */
export function retried<Model extends Payee>(
  model: Model,
  options: Pick<EndpointOptions, 'retry' | 'apiKey' | 'baseUrl' | 'headers'>,
): Model {
  const { retry = {} } = options;
  const secrets = secretsOf(options);
  const kept = guarded(model, () => secrets);
  if (retry === false) return kept;
  return withRetry(retry)(kept);
}

/** The usage that a reply tells; `undefined` where it tells none. */
export function usageOf(reply: unknown): Usage | undefined {
  const told = fieldsOf(fieldsOf(reply)['usage']);
  const inputTokens = numberOf(told['prompt_tokens']) ?? numberOf(told['input_tokens']);
  if (inputTokens === undefined) return undefined;
  const outputTokens = numberOf(told['completion_tokens']) ?? numberOf(told['output_tokens']) ?? 0;
  return { inputTokens, outputTokens };
}

/** What several requests used; nothing is known where one of them does not tell. */
export function usageOfAll(usages: readonly (Usage | undefined)[]): { readonly usage?: Usage } {
  const told = usages.filter((usage) => usage !== undefined);
  return told.length < usages.length || told.length === 0 ? {} : { usage: sumOfUsages(told) };
}

function tellLimits(headers: unknown, call: ModelCall): void {
  const limits = rateLimitsOf(headerLookup(headers));
  if (limits !== undefined) call.limits?.(limits);
}

function expectOptions(options: EndpointOptions, baseUrl: string | undefined): void {
  const { model, maxReplyBytes, retry } = options;
  if (typeof model !== 'string' || model === '') {
    throw expectation('model', 'the name of a model', model);
  }
  if (baseUrl === undefined) {
    throw expectation('baseUrl', 'an address, as in http://localhost:8000/v1', baseUrl);
  }
  expectConnection({ ...options, baseUrl });
  if (maxReplyBytes !== undefined) expectInteger('maxReplyBytes', maxReplyBytes, { min: 1 });
  if (retry !== undefined && retry !== false && typeof retry !== 'object') {
    throw expectation('retry', 'an object or false', retry);
  }
}
