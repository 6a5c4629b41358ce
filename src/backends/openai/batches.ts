import type { Batch, BatchAnswer, BatchService, BatchState } from '../../contracts/batch.ts';
import { batchesOfPage, earliest, listed } from '../transport/batched.ts';
import { modelCallErrorFrom } from '../transport/errors.ts';
import {
  fieldsOf,
  itemsOf,
  type JsonFields,
  numberOf,
  parsedJson,
  textOf,
} from '../transport/json.ts';
import type { Line } from '../transport/line.ts';
import { receivedFrom, type Sdk } from '../transport/sdk.ts';
import type { OpenAiClient } from './client.ts';
import type { OpenAiApi } from './request.ts';

/** The metadata field that identifies our batches. */
const mark = 'espalier';

const paths: Readonly<Record<OpenAiApi, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
};

/** The final states of a batch that has at least some answers. */
const ended: readonly unknown[] = ['completed', 'expired', 'cancelled'];

type BatchClient = Required<Pick<OpenAiClient, 'batches' | 'files'>>;

/**
 * The Batch API, for requests to one of the two other APIs. Replies do not say that they were served in a batch, so
 * they are marked.
 */
export class OpenAiBatches implements BatchService {
  readonly #line: Line;
  readonly #sdk: Sdk<OpenAiClient>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #url: string;

  constructor(
    { line, sdk, headers }: { line: Line; sdk: Sdk<OpenAiClient>; headers: Record<string, string> },
    api: OpenAiApi,
  ) {
    this.#line = line;
    this.#sdk = sdk;
    this.#headers = headers;
    this.#url = paths[api];
  }

  get name(): string {
    return `${this.#line.name} ${this.#url}`;
  }

  async submit(
    { key, names }: Batch,
    bodies: readonly object[],
    signal: AbortSignal,
  ): Promise<string> {
    const url = this.#url;
    const requests = bodies.map((body, place) =>
      JSON.stringify({ custom_id: names[place], method: 'POST', url, body }),
    );
    const file = new File([requests.join('\n')], `${key}.jsonl`);
    const input = await this.#ask(signal, ({ files }, options) =>
      files.create({ file, purpose: 'batch' }, options),
    );
    const asked = {
      ...{ input_file_id: this.#idOf(input, signal), endpoint: url, completion_window: '24h' },
      metadata: { [mark]: key },
    };
    const made = await this.#ask(signal, ({ batches }, options) => batches.create(asked, options));
    return this.#idOf(made, signal);
  }

  async find({ key, at }: Batch, signal: AbortSignal): Promise<{ id: string } | undefined> {
    const ask = async (after: string | undefined) => {
      const query = { limit: batchesOfPage, ...(after !== undefined && { after }) };
      const page = await this.#ask(signal, ({ batches }, options) => batches.list(query, options));
      // A page object of the SDK replaces missing data by an empty list; the original body is also available.
      const { body } = fieldsOf(page);
      return fieldsOf(body ?? page);
    };
    for await (const there of listed(ask, (what) => this.#line.malformed(what, { signal }))) {
      if (fieldsOf(there['metadata'])[mark] === key) return { id: this.#idOf(there, signal) };
      if ((numberOf(there['created_at']) ?? Infinity) * 1000 < earliest(at)) return undefined;
    }
    return undefined;
  }

  async look(id: string, signal: AbortSignal): Promise<BatchState> {
    const { status, errors } = await this.#retrieve(id, signal);
    if (status !== 'failed') return ended.includes(status) ? 'ended' : 'running';
    const [first] = itemsOf(fieldsOf(errors)['data']).map(fieldsOf);
    return { refused: textOf(first?.['message']) ?? 'no reason was told' };
  }

  async cancel(id: string, signal: AbortSignal): Promise<void> {
    await this.#ask(signal, ({ batches }, options) => batches.cancel(id, options));
  }

  async results(id: string, signal: AbortSignal): Promise<ReadonlyMap<string, BatchAnswer>> {
    const batch = await this.#retrieve(id, signal);
    const lines = [
      ...(await this.#linesOf(batch['output_file_id'], signal)),
      ...(await this.#linesOf(batch['error_file_id'], signal)),
    ];
    const { completed = 0, failed = 0 } = fieldsOf(batch['request_counts']);
    const isWhole = lines.length >= Number(completed) + Number(failed);
    if (!isWhole || !lines.every(({ custom_id: name }) => typeof name === 'string')) {
      throw this.#line.malformed('a file of results that is not whole', { signal });
    }
    return new Map(
      lines.map(({ custom_id: name, response }) => [
        textOf(name) ?? '',
        this.#answerOf(fieldsOf(response), signal),
      ]),
    );
  }

  #answerOf(response: JsonFields, signal: AbortSignal): BatchAnswer {
    const { status_code: status, body } = response;
    if (status === 200) {
      return { reply: { body: { ...fieldsOf(body), service_tier: 'batch' }, headers: undefined } };
    }
    if (typeof status !== 'number' || status >= 500 || status === 429) return undefined;
    const failure = modelCallErrorFrom({ status, error: body }, this.#line.context(signal));
    return { failure };
  }

  /** The lines of a result file. */
  async #linesOf(file: unknown, signal: AbortSignal): Promise<readonly JsonFields[]> {
    const id = textOf(file);
    if (id === undefined) return [];
    const content = await this.#ask(signal, ({ files }, options) => files.content(id, options));
    const text = await (content as Response).text();
    const written = text.split('\n').filter((line) => line !== '');
    return written.map((line) => fieldsOf(parsedJson(line)));
  }

  async #retrieve(id: string, signal: AbortSignal): Promise<JsonFields> {
    return fieldsOf(
      await this.#ask(signal, ({ batches }, options) => batches.retrieve(id, options)),
    );
  }

  async #ask(
    signal: AbortSignal,
    send: (client: BatchClient, options: object) => PromiseLike<unknown>,
  ): Promise<unknown> {
    const client = (await this.#sdk.client()) as BatchClient;
    const { timeoutMs: timeout } = this.#line;
    const received = await this.#line.request({ signal }, (within) =>
      receivedFrom(
        send(client, { signal: within, headers: this.#headers, maxRetries: 0, timeout }),
      ),
    );
    return received.body;
  }

  #idOf(made: unknown, signal: AbortSignal): string {
    const id = textOf(fieldsOf(made)['id']);
    if (id === undefined) throw this.#line.malformed('no id', { signal });
    return id;
  }
}
