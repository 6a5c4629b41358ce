import { expectInteger, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { EmbeddingModel } from '../../contracts/embedding-model.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import {
  Endpoint,
  type EndpointOptions,
  endpointOptions,
  usageOfAll,
} from '../transport/endpoint.ts';
import { fieldsOf } from '../transport/json.ts';
import { byIndex, floatsOf } from '../transport/numbered.ts';

interface Asking {
  readonly endpoint: Endpoint;
  readonly options: Parameters<typeof embeddings>[0];
  readonly call: ModelCall;
}

/**
 * A model behind a server that speaks OpenAI's `/v1/embeddings`: vLLM, SGLang, llama-server, Ollama, LM Studio,
 * OpenAI itself.
 *
 * An answer with a missing or duplicate vector, unequal lengths or non-numbers is a `ModelCallError` of the kind
 * `malformed`.
 *
 * @throws EspalierError `usage` if an option is out of range.
 * @example
 * ```ts
 * const model = embeddings({ baseUrl: 'http://localhost:8000/v1', model: 'BAAI/bge-small-en-v1.5' });
 * ```
 */
export function embeddings(
  options: EndpointOptions & {
    /** The address of the server, with or without `/v1`; or the full address, ending with `/embeddings`. */
    readonly baseUrl: string;
    /** The length of vectors, for models that can shorten them: an integer from 1 up. @defaultValue the model's */
    readonly dimensions?: number;
    /** The encoding of vectors: JSON numbers, or 32-bit floats as Base64, which is shorter. @defaultValue `'float'` */
    readonly encoding?: 'base64' | 'float';
    /** The maximum texts per request: an integer from 1 up. @defaultValue 512 */
    readonly maxBatch?: number;
  },
): EmbeddingModel {
  expectOptions('embeddings', options, `${endpointOptions} dimensions encoding maxBatch`);
  const { dimensions, encoding, maxBatch = 512 } = options;
  if (dimensions !== undefined) expectInteger('dimensions', dimensions, { min: 1 });
  if (encoding !== undefined) expectOneOf('encoding', encoding, ['base64', 'float']);
  expectInteger('maxBatch', maxBatch, { min: 1 });
  const endpoint = new Endpoint({ provider: 'openai-compatible' }, options);
  return endpoint.kept<EmbeddingModel>({
    ...endpoint.names,
    settings: dimensions === undefined ? {} : { dimensions },
    async embed(texts, call) {
      if (texts.length === 0) return { embeddings: [], usage: { inputTokens: 0, outputTokens: 0 } };
      const batches = Array.from({ length: Math.ceil(texts.length / maxBatch) }, (_, batch) =>
        texts.slice(batch * maxBatch, (batch + 1) * maxBatch),
      );
      // All texts are reserved together, so further requests need no permission.
      const asking = { endpoint, options, call };
      const answers = await Promise.all(batches.map((batch) => ask(batch, asking)));
      const vectors = answers.flatMap((answer) => answer.vectors);
      expectOneLength(vectors, asking);
      return { embeddings: vectors, ...usageOfAll(answers.map(({ usage }) => usage)) };
    },
  });
}

async function ask(texts: readonly string[], asking: Asking) {
  const { endpoint, options, call } = asking;
  const { dimensions, encoding = 'float' } = options;
  const body = {
    ...{ model: endpoint.modelId, input: texts, encoding_format: encoding },
    ...(dimensions !== undefined && { dimensions }),
  };
  const told = await endpoint.list('/v1/embeddings', body, { field: 'data', call });
  const items = byIndex(told.items, texts.length);
  const vectors = items.map((item, place) => vectorOf(item, { ...asking, place }));
  return { vectors, usage: told.usage };
}

function vectorOf(item: unknown, asking: Asking & { readonly place: number }): readonly number[] {
  const { endpoint, call, place } = asking;
  const told = fieldsOf(item)['embedding'];
  const numbers: unknown = typeof told === 'string' ? floatsOf(told) : told;
  const isSound =
    Array.isArray(numbers) &&
    numbers.length > 0 &&
    numbers.every((number) => typeof number === 'number' && Number.isFinite(number));
  if (isSound) return numbers as readonly number[];
  throw endpoint.malformed(`no vector of numbers for text ${place}`, call);
}

function expectOneLength(
  vectors: readonly (readonly number[])[],
  { endpoint, options, call }: Asking,
): void {
  const wanted = options.dimensions ?? vectors[0]?.length ?? 0;
  const odd = vectors.find((vector) => vector.length !== wanted);
  if (odd === undefined) return;
  throw endpoint.malformed(`a vector of ${odd.length} numbers beside ones of ${wanted}`, call);
}
