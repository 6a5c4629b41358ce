import type { RetryOptions } from '../calls/middleware/with-retry.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import { type ModelSpec, parseModelSpec } from './model-spec.ts';
import { defined } from './transport/json.ts';

/** Options of {@link languageModel}. Those that a kind of model has no use for do nothing. */
export interface LanguageModelOptions {
  /** The key of a hosted model or a server. @defaultValue for hosted ones the usual environment variable */
  readonly apiKey?: string;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long an answer may take, in milliseconds, from 1 up. @defaultValue by kind of model */
  readonly timeoutMs?: number;
  /** Makes the requests. @defaultValue the `fetch` of the platform */
  readonly fetch?: typeof globalThis.fetch;
  /** When failed requests are repeated; `false` never. @defaultValue as {@link RetryOptions} says */
  readonly retry?: RetryOptions | false;
}

/** A model, and the way to let it go: some hold memory or a thread. */
export interface OpenedModel extends LanguageModel, AsyncDisposable {}

/**
 * The model that a spec names: see {@link parseModelSpec} for what is understood. Only what is needed for it is
 * loaded. No server is asked before the first request.
 *
 * @throws EspalierError `usage` where the spec is not understood or an option is out of its range, or, for a
 * replay, what {@link parseModelSpec} and the journal say.
 *
 * @example
 * ```ts
 * await using model = await languageModel('anthropic:claude-sonnet-5-5');
 * ```
 */
export async function languageModel(
  spec: string,
  options: LanguageModelOptions = {},
): Promise<OpenedModel> {
  const model = await opened(parseModelSpec(spec), options);
  return Symbol.asyncDispose in model
    ? (model as OpenedModel)
    : Object.assign(model, { [Symbol.asyncDispose]: async () => {} });
}

async function opened(spec: ModelSpec, options: LanguageModelOptions): Promise<LanguageModel> {
  const { apiKey, headers, timeoutMs, fetch, retry } = options;
  const connection = defined({ apiKey, headers, timeoutMs, fetch, retry });
  switch (spec.kind) {
    case 'tiny': {
      const { tiny } = await import('./tiny/index.ts');
      return tiny(spec.path === undefined ? {} : { model: spec.path });
    }
    case 'llama': {
      const { llama } = await import('./llama/index.ts');
      return llama({ model: spec.path });
    }
    case 'anthropic': {
      const { anthropic } = await import('./anthropic/index.ts');
      return anthropic({ model: spec.model, ...connection });
    }
    case 'openai': {
      const { openai } = await import('./openai/index.ts');
      return openai({ model: spec.model, ...connection });
    }
    case 'server': {
      const { openaiCompatible } = await import('./openai-compatible/index.ts');
      const { server, baseUrl, model } = spec;
      return openaiCompatible({ ...defined({ preset: server, baseUrl, model }), ...connection });
    }
    case 'replay': {
      const { replay } = await import('./replay/index.ts');
      const { path, model } = spec;
      return replay({ journal: path, ...defined({ model }) });
    }
  }
}
