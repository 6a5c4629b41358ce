import { expectOptions } from '../base/expect-options.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import type { AnthropicOptions } from './anthropic/anthropic.ts';
import { type ModelSpec, parseModelSpec } from './model-spec.ts';
import type { OpenAiOptions } from './openai/openai.ts';
import type { openaiCompatible } from './openai-compatible/openai-compatible.ts';
import type { ConnectionOptions } from './transport/connection.ts';
import { defined } from './transport/json.ts';
import type { ThoughtOptions } from './transport/thought-tokens.ts';

/** Options of {@link languageModel}. */
export interface LanguageModelOptions extends Omit<ConnectionOptions, 'baseUrl'>, ThoughtOptions {
  /** The reasoning effort, such as `low`, in the provider's terms. @defaultValue the model's default */
  readonly effort?: string;
}

/**
 * The model that a spec names:
 *
 * - `tiny`, `tiny:./file.gguf`: a small model in this process.
 * - `llama:./file.gguf`: any GGUF file in this process.
 * - `anthropic:claude-sonnet-5-5`, `openai:gpt-6-luna`: a hosted model; `openai:https://HOST/v1#gpt-6-luna` at another
 *   address.
 * - `groq:MODEL`, and so `openrouter`, `gemini`, `mistral`, `deepseek`, `together`, `fireworks`, `bedrock`, `vertex`, and
 *   `azure:DEPLOYMENT`: a provider, with the key and other settings of {@link openaiCompatible} from the environment.
 * - `vllm`, `vllm:Qwen/Qwen3-8B`, `vllm:http://gpu:8000/v1#Qwen/Qwen3-8B`: a server, at its usual port on this machine
 * or at an address, with its first model or the one named. Likewise `sglang`, `llama-server`, `ollama`, `lm-studio` and
 *   `transformers`.
 * - `http://gpu:8000/v1#some-model`: a server whose kind is detected. The option `keyVariable` names the variable with
 *   its key.
 * - `replay:runs/first`, `replay:runs/first#openai:gpt-6-luna`: the journal of a run.
 *
 * Only the code needed for it is loaded. No server is contacted before the first request. Options that do not apply to
 * a kind of model are ignored. Some models hold memory or a thread: dispose of them.
 *
 * @throws EspalierError `usage` if the spec is not understood or an option is out of range; for a replay also the
 * errors of its journal.
 *
 * @example
 * ```ts
 * await using model = await languageModel('anthropic:claude-sonnet-5-5');
 * ```
 */
export async function languageModel(
  spec: string,
  options: LanguageModelOptions = {},
): Promise<LanguageModel & AsyncDisposable> {
  expectOptions(
    'languageModel',
    options,
    'retry timeoutMs apiKey keyVariable headers fetch maxReplyBytes effort thoughtTokens',
  );
  const model = await opened(parseModelSpec(spec), options);
  return Symbol.asyncDispose in model
    ? (model as LanguageModel & AsyncDisposable)
    : Object.assign(model, { [Symbol.asyncDispose]: async () => {} });
}

async function opened(spec: ModelSpec, options: LanguageModelOptions): Promise<LanguageModel> {
  const { effort, ...connection } = options;
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
      const { anthropic } = await import('./anthropic/anthropic.ts');
      // The factory checks whether the provider knows this effort.
      const given = { effort } as Pick<AnthropicOptions, 'effort'>;
      const { baseUrl, model } = spec;
      return anthropic({ model, ...connection, ...defined({ baseUrl, ...given }) });
    }
    case 'openai': {
      const { openai } = await import('./openai/openai.ts');
      const given = { reasoningEffort: effort } as Pick<OpenAiOptions, 'reasoningEffort'>;
      const { baseUrl, model } = spec;
      return openai({ model, ...connection, ...defined({ baseUrl, ...given }) });
    }
    case 'server': {
      const { openaiCompatible } = await import('./openai-compatible/openai-compatible.ts');
      const { server, baseUrl, model } = spec;
      const given = defined({ preset: server, baseUrl, model, effort });
      return openaiCompatible({ ...given, ...connection });
    }
    case 'replay': {
      const { replay } = await import('./replay/replay.ts');
      const { path, model } = spec;
      return replay({ journal: path, ...defined({ model }) });
    }
  }
}
