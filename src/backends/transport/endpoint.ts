import { expectation } from '../../base/expect.ts';
import { expectPrice } from '../../calls/pricing.ts';
import { sumOfUsages } from '../../calls/usage.ts';
import type { ModelCall, ModelPrice, Payee, Usage } from '../../contracts/language-model.ts';
import type { JsonBody } from './chat-request.ts';
import {
  type ConnectionOptions,
  connectionOptions,
  expectConnection,
  expectModelName,
} from './connection.ts';
import { modelCallErrorFrom } from './errors.ts';
import { Exchange } from './exchange.ts';
import { countOf, fieldsOf, numberOf } from './json.ts';

/**
 * Connection options of models that do not generate text. The address may also be the full one of the endpoint.
 */
export interface EndpointOptions extends ConnectionOptions {
  /** The model's name there. */
  readonly model: string;
  /** The provider, as in `provider:modelId`. @defaultValue the default of such a server */
  readonly provider?: string;
  /** Its price. @defaultValue free on your own machine, else unknown */
  readonly price?: ModelPrice;
}

/** The names of {@link EndpointOptions}, separated by spaces. */
export const endpointOptions: string = `${connectionOptions} model provider price`;

/** Posts JSON to one server. */
export class Endpoint extends Exchange {
  /** The identity of the model in the fields of its kind. */
  readonly names: Pick<Payee, 'provider' | 'modelId' | 'price'>;
  readonly #address: string;

  /** @param usual - The default name and address of such a server, and whether it is the user's own and free. */
  constructor(
    usual: { readonly provider: string; readonly baseUrl?: string; readonly isFree?: boolean },
    options: EndpointOptions,
  ) {
    const { model, baseUrl = usual.baseUrl, provider = usual.provider } = options;
    expectModelName(model);
    if (baseUrl === undefined) {
      throw expectation('baseUrl', 'an address, as in http://localhost:8000/v1', baseUrl);
    }
    expectConnection({ ...options, baseUrl });
    if (options.price !== undefined) expectPrice(options.price, (field) => `price${field}`);
    super({ ...options, provider, baseUrl });
    const price = options.price ?? (usual.isFree === true ? { input: 0, output: 0 } : undefined);
    this.names = { provider, modelId: model, ...(price !== undefined && { price }) };
    this.#address = baseUrl.replace(/\/+$/, '');
  }

  /**
   * The reply to a body posted to a path, such as `/v1/embeddings`. Rejects with a `ModelCallError`, or with
   * the reason of the caller's signal.
   */
  async post(path: string, body: JsonBody, call: ModelCall): Promise<unknown> {
    const { body: reply } = await this.send({ url: this.#urlOf(path), body }, call);
    const { error } = fieldsOf(reply);
    if (error === undefined || error === null) return reply;
    // Proxies pass errors on with status 200.
    const told = { status: countOf(fieldsOf(error)['code']), error };
    throw modelCallErrorFrom(told, this.context(call.signal));
  }

  /** The list in a field of a reply. */
  async list(
    path: string,
    body: JsonBody,
    { field, call }: { readonly field: string; readonly call: ModelCall },
  ): Promise<{ readonly items: readonly unknown[]; readonly usage: Usage | undefined }> {
    const reply = await this.post(path, body, call);
    const items = fieldsOf(reply)[field];
    if (Array.isArray(items)) return { items, usage: usageOf(reply) };
    throw this.malformed(`JSON with another structure: it has no \`${field}\``, call);
  }

  #urlOf(path: string): string {
    const end = path.slice(path.lastIndexOf('/'));
    if (this.#address.endsWith(end)) return this.#address;
    return `${this.#address.replace(/\/v1$/, '')}${path}`;
  }
}

/** The usage in a reply; `undefined` if it reports none. */
export function usageOf(reply: unknown): Usage | undefined {
  const told = fieldsOf(fieldsOf(reply)['usage']);
  const inputTokens = numberOf(told['prompt_tokens']) ?? numberOf(told['input_tokens']);
  if (inputTokens === undefined) return undefined;
  const outputTokens = numberOf(told['completion_tokens']) ?? numberOf(told['output_tokens']) ?? 0;
  return { inputTokens, outputTokens };
}

/** The usage of several requests together; unknown if one of them does not report it. */
export function usageOfAll(usages: readonly (Usage | undefined)[]): { readonly usage?: Usage } {
  const told = usages.filter((usage) => usage !== undefined);
  return told.length < usages.length || told.length === 0 ? {} : { usage: sumOfUsages(told) };
}
