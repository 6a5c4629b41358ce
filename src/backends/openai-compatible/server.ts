import { ModelCallError } from '../../base/errors.ts';
import type { LanguageModel } from '../../contracts/language-model.ts';
import type { Exchange } from '../transport/exchange.ts';
import { countOf, defined, fieldsOf, type JsonFields, textOf } from '../transport/json.ts';
import { habits, isHosted, type ServerPreset, servers } from './presets.ts';
import { Shared } from './shared.ts';

/** A model on a server that implements OpenAI's Chat Completions. */
export interface OpenAiCompatibleModel extends LanguageModel {
  /** Probes the server: its kind, its address and its models. */
  server(signal?: AbortSignal): Promise<{
    /** The kind of server. */
    readonly preset: ServerPreset;
    /** The address that paths are appended to. */
    readonly baseUrl: string;
    /** The models it serves; empty if not reported. */
    readonly models: readonly {
      /** Its name there. */
      readonly id: string;
      /** The maximum tokens of a request with its answer, if reported. */
      readonly contextLength?: number;
    }[];
    /** The context length of this model, in tokens, if reported. */
    readonly contextLength?: number;
  }>;
}

/** The known facts about a server. */
type ServerInfo = Awaited<ReturnType<OpenAiCompatibleModel['server']>>;

/** A server that is ready for requests. */
export type Connected = ServerInfo & {
  /** The model to request. */
  readonly model: string;
};

/** The options of a server, before it is probed. */
export interface ServerOptions {
  /** Its address, without a trailing slash. */
  readonly baseUrl: string;
  readonly preset?: ServerPreset;
  readonly model?: string;
  readonly contextLength?: number;
  readonly timeoutMs?: number;
}

/** The timeout of one probe, in milliseconds. */
const patienceMs = 10_000;

/** Finds out, on first use, what is not known about a server: its path, its kind, its models. */
export class Server {
  readonly #line: Exchange;
  readonly #options: ServerOptions;
  readonly #connection: Shared<Connected>;

  constructor(line: Exchange, options: ServerOptions) {
    this.#line = line;
    this.#options = options;
    this.#connection = new Shared((signal) => this.#connect(signal));
  }

  /** The server, ready for requests. Unknown facts are probed once. */
  connect(signal: AbortSignal): Promise<Connected> {
    return this.#connection.get(signal);
  }

  /** Everything that the server reports about itself. */
  look(signal: AbortSignal): Promise<ServerInfo> {
    return this.#survey(signal, true);
  }

  /** The models served at an address; `undefined` if it lists none. */
  async models(baseUrl: string, signal: AbortSignal): Promise<ServerInfo['models'] | undefined> {
    return (await this.#modelsAt(baseUrl, signal))?.map(servedModel);
  }

  async #connect(signal: AbortSignal): Promise<Connected> {
    const info = await this.#survey(signal, false);
    const model = this.#options.model ?? textOf(info.models[0]?.id);
    if (model !== undefined) return { ...info, model };
    throw this.#refusal(
      `at ${info.baseUrl} lists no model. Load one there, or name one with the option \`model\`.`,
    );
  }

  async #survey(signal: AbortSignal, isThorough: boolean): Promise<ServerInfo> {
    const { preset, model, contextLength } = this.#options;
    const { baseUrl, listed } = await this.#find(signal);
    const isUnknown = (isThorough && !isHosted(preset)) || preset === undefined;
    const asksModels = listed === undefined && (isThorough || isUnknown || model === undefined);
    const models = listed ?? (asksModels ? await this.#modelsAt(baseUrl, signal) : []) ?? [];
    const seen = isUnknown ? await this.#recognise(baseUrl, models, signal) : undefined;
    const served = models.map(servedModel);
    const first = isHosted(preset) ? undefined : served[0];
    const told = served.find(({ id }) => id === model) ?? first;
    return {
      preset: preset ?? seen?.preset ?? 'generic',
      baseUrl,
      models: served,
      ...defined({ contextLength: contextLength ?? seen?.contextLength ?? told?.contextLength }),
    };
  }

  /** The address, and the models listed there. */
  async #find(
    signal: AbortSignal,
  ): Promise<{ readonly baseUrl: string; readonly listed?: readonly JsonFields[] | undefined }> {
    const { baseUrl } = this.#options;
    const candidates = candidatesOf(this.#options);
    if (candidates.length === 1) return { baseUrl: candidates[0] };
    for (const candidate of candidates) {
      const listed = await this.#modelsAt(candidate, signal).catch((error: unknown) => {
        // A server that refuses a key exists.
        if (ModelCallError.isInstance(error) && error.kind === 'auth') return 'refused' as const;
        throw error;
      });
      if (listed === 'refused') return { baseUrl: candidate };
      if (listed !== undefined) return { baseUrl: candidate, listed };
    }
    // A gateway need not list models, and its path was given deliberately.
    if (pathOf(baseUrl) !== '') return { baseUrl };
    throw this.#refusal(
      `finds no OpenAI-compatible server at ${baseUrl}: neither /v1/models nor /models is there. Check the base URL: as a rule it ends with /v1.`,
    );
  }

  #refusal(what: string): ModelCallError {
    const message = `${this.#line.name} ${what}`;
    return new ModelCallError({ kind: 'bad-request', message, charged: false });
  }

  /** The models that a server lists; `undefined` if there is no list. */
  async #modelsAt(
    baseUrl: string,
    signal: AbortSignal,
  ): Promise<readonly JsonFields[] | undefined> {
    const list = await this.#get(`${baseUrl}/models`, signal).catch((error: unknown) => {
      const isOther = ModelCallError.isInstance(error) && error.kind === 'malformed';
      const mayPass = ModelCallError.isInstance(error) && !error.retryable && error.kind !== 'auth';
      if (isOther || (mayPass && error.status !== undefined)) return undefined;
      throw error;
    });
    const { data } = fieldsOf(list);
    return Array.isArray(data) ? data.map(fieldsOf) : undefined;
  }

  async #recognise(
    baseUrl: string,
    models: readonly JsonFields[],
    signal: AbortSignal,
  ): Promise<{ readonly preset: ServerPreset; readonly contextLength?: number }> {
    const root = baseUrl.replace(/\/v1$/, '');
    const peek = async (path: string): Promise<JsonFields> => {
      const answer = await this.#get(`${root}${path}`, signal).catch(() => undefined);
      signal.throwIfAborted();
      return fieldsOf(answer);
    };
    const [props, sglang, ollama, vllm] = await Promise.all([
      peek('/props'),
      peek('/get_model_info'),
      peek('/api/version'),
      peek('/version'),
    ]);
    if ('default_generation_settings' in props || 'total_slots' in props) {
      const { n_ctx: context } = fieldsOf(props['default_generation_settings']);
      return { preset: 'llama-server', ...defined({ contextLength: countOf(context) }) };
    }
    if (textOf(sglang['model_path']) !== undefined) return { preset: 'sglang' };
    if (textOf(ollama['version']) !== undefined) return { preset: 'ollama' };
    if (textOf(vllm['version']) !== undefined) return { preset: 'vllm' };
    const owner = textOf(models[0]?.['owned_by']) ?? '';
    return { preset: servers.find((name) => habits[name].owner === owner) ?? 'generic' };
  }

  async #get(url: string, signal: AbortSignal): Promise<unknown> {
    const timeoutMs = Math.min(this.#options.timeoutMs ?? patienceMs, patienceMs);
    try {
      return (await this.#line.send({ url, timeoutMs }, { signal })).body;
    } catch (error) {
      if (!ModelCallError.isInstance(error)) throw error;
      // No server charges for a probe, whatever became of it.
      const { message, cause } = error;
      throw new ModelCallError({ ...error, message, cause, charged: false });
    }
  }
}

function servedModel(fields: JsonFields): ServerInfo['models'][number] {
  const { n_ctx: loaded } = fieldsOf(fields['meta']);
  const contextLength =
    countOf(fields['max_model_len']) ??
    countOf(loaded) ??
    countOf(fields['context_length']) ??
    countOf(fields['max_context_length']);
  return { id: textOf(fields['id']) ?? '', ...defined({ contextLength }) };
}

/** The possible addresses: as given if that is unambiguous, otherwise with and without `/v1`. */
function candidatesOf({
  baseUrl,
  preset,
}: Pick<ServerOptions, 'baseUrl' | 'preset'>): readonly [string, ...string[]] {
  const path = pathOf(baseUrl);
  if (path.endsWith('/v1') || isHosted(preset)) return [baseUrl];
  const isKnown = preset !== undefined && preset !== 'generic';
  return path === '' && isKnown ? [`${baseUrl}/v1`] : [`${baseUrl}/v1`, baseUrl];
}

function pathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/+$/, '');
}
