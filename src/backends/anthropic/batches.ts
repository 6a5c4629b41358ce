import { EspalierError } from '../../base/errors.ts';
import type { Batch, BatchAnswer, BatchService, BatchState } from '../../contracts/batch.ts';
import { batchesOfPage, earliest, listed } from '../transport/batched.ts';
import { fieldsOf, type JsonFields, textOf } from '../transport/json.ts';
import type { Line } from '../transport/line.ts';
import { receivedFrom, type Sdk } from '../transport/sdk.ts';
import type { AnthropicBatches, AnthropicClient } from './client.ts';
import { anthropicError, statusOf } from './errors.ts';

/**
 * Message Batches. They carry no metadata: a batch with an unconfirmed submission is identified by its time, its size
 * and, once it has ended, the names of its requests.
 */
export class MessageBatches implements BatchService {
  readonly #line: Line;
  readonly #sdk: Sdk<AnthropicClient>;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({
    line,
    sdk,
    headers,
  }: {
    readonly line: Line;
    readonly sdk: Sdk<AnthropicClient>;
    readonly headers: Readonly<Record<string, string>>;
  }) {
    this.#line = line;
    this.#sdk = sdk;
    this.#headers = headers;
  }

  get name(): string {
    return this.#line.name;
  }

  async submit({ names }: Batch, bodies: readonly object[], signal: AbortSignal): Promise<string> {
    const requests = bodies.map((params, place) => ({ custom_id: names[place], params }));
    return this.#idOf(
      await this.#ask(signal, (batches, options) => batches.create({ requests }, options)),
      signal,
    );
  }

  async find(
    batch: Batch,
    signal: AbortSignal,
  ): Promise<{ readonly id: string } | 'later' | undefined> {
    const ask = async (after: string | undefined) => {
      const query = { limit: batchesOfPage, ...(after !== undefined && { after_id: after }) };
      const page = await this.#ask(signal, (batches, options) => batches.list(query, options));
      // A page object of the SDK replaces missing data by an empty list; the original body is also available.
      return 'body' in page ? fieldsOf(page['body']) : page;
    };
    for await (const there of listed(ask, (what) => this.#line.malformed(what, { signal }))) {
      if (Date.parse(textOf(there['created_at']) ?? '') < earliest(batch.at)) return undefined;
      const isIt = await this.#isIt(there, batch, signal);
      if (isIt === 'later') return isIt;
      if (isIt) return { id: this.#idOf(there, signal) };
    }
    return undefined;
  }

  async look(id: string, signal: AbortSignal): Promise<BatchState> {
    const batch = await this.#retrieve(id, signal);
    return batch['processing_status'] === 'ended' ? 'ended' : 'running';
  }

  async cancel(id: string, signal: AbortSignal): Promise<void> {
    await this.#ask(signal, (batches, options) => batches.cancel(id, {}, options));
  }

  async results(id: string, signal: AbortSignal): Promise<ReadonlyMap<string, BatchAnswer>> {
    const { messages } = await this.#sdk.client();
    const size = sizeOf(await this.#retrieve(id, signal));
    const answers = new Map<string, BatchAnswer>();
    await this.#line.request({ signal }, async (within) => {
      const results = (await messages.batches?.results(id, {}, this.#options(within))) ?? [];
      for await (const line of results) {
        const { custom_id: name, result } = fieldsOf(line);
        answers.set(textOf(name) ?? '', this.#answerOf(fieldsOf(result), signal));
      }
      return { headers: undefined };
    });
    if (answers.size >= size) return answers;
    throw this.#line.malformed('results of a batch that are not whole', { signal });
  }

  /** Whether a batch in the list is the one wanted. */
  async #isIt(
    there: JsonFields,
    { names }: Batch,
    signal: AbortSignal,
  ): Promise<boolean | 'later'> {
    if (sizeOf(there) !== names.length) return false;
    if (there['processing_status'] !== 'ended') return 'later';
    const id = this.#idOf(there, signal);
    if (textOf(there['results_url']) === undefined) throw this.#untold(id);
    const results = await this.results(id, signal);
    return names.some((name) => results.has(name));
  }

  #retrieve(id: string, signal: AbortSignal): Promise<JsonFields> {
    return this.#ask(signal, (batches, options) => batches.retrieve(id, {}, options));
  }

  #untold(id: string): EspalierError {
    return new EspalierError(
      'unavailable',
      `${this.name} no longer has the results of the batch ${id}, so it is unknown whether it belongs to this run and was paid for. Look it up at the provider, and use another run folder.`,
      { scope: 'run' },
    );
  }

  #answerOf(result: JsonFields, signal: AbortSignal): BatchAnswer {
    if (result['type'] === 'succeeded') {
      return { reply: { body: result['message'], headers: undefined } };
    }
    if (result['type'] !== 'errored') return undefined;
    const error = fieldsOf(result['error']);
    const status = statusOf(textOf(fieldsOf(error['error'])['type'])) ?? 500;
    if (status >= 500 || status === 429) return undefined;
    return { failure: anthropicError({ status, error }, this.#line.context(signal)) };
  }

  async #ask(
    signal: AbortSignal,
    send: (batches: AnthropicBatches, options: object) => PromiseLike<unknown>,
  ): Promise<JsonFields> {
    const { messages } = await this.#sdk.client();
    const { batches } = messages;
    if (batches === undefined) throw new Error('The client has no `messages.batches`.');
    const received = await this.#line.request({ signal }, (within) =>
      receivedFrom(send(batches, this.#options(within))),
    );
    return fieldsOf(received.body);
  }

  #options(signal: AbortSignal): object {
    return { signal, headers: this.#headers, maxRetries: 0, timeout: this.#line.timeoutMs };
  }

  #idOf({ id }: JsonFields, signal: AbortSignal): string {
    const text = textOf(id);
    if (text === undefined) throw this.#line.malformed('no id of a batch', { signal });
    return text;
  }
}

/** The number of requests in a batch. */
function sizeOf({ request_counts: counts }: JsonFields): number {
  return Object.values(fieldsOf(counts)).reduce<number>((sum, count) => sum + Number(count), 0);
}
