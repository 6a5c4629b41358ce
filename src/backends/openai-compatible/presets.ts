import type { Capabilities } from '../../contracts/language-model.ts';
import type { Habits } from './habits.ts';
import { type Provider, providers } from './providers.ts';

/** A kind of server of your own. */
type Own = Exclude<ServerPreset, Provider | 'generic'>;

/** A kind of server whose habits are known, or a provider; `generic` is any other one. */
export type ServerPreset =
  | 'vllm'
  | 'sglang'
  | 'llama-server'
  | 'ollama'
  | 'lm-studio'
  | 'transformers'
  | Provider
  | 'generic';

/** What servers with a batch scheduler support. */
const scheduled: Capabilities = {
  ...{ n: true, logprobs: true, stop: true, continuation: true, schema: true },
  ...{ temperature: true, topK: true },
};

/** What servers for the desk support. */
const plain: Capabilities = {
  ...{ n: false, seed: true, stop: true, continuation: false, schema: true, tools: true },
  temperature: true,
};

/** vLLM and SGLang take no notice of what a request leaves out. */
const neutralWhenAsked = {
  neutral: { top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 },
  neutralises: 'when-asked',
} as const;

/**
 * What each kind of server is known to support.
 *
 * - vLLM takes the sampling defaults of the model's `generation_config.json`, and SGLang does too: they hold
 *   where a request sets no parameter of sampling. Unknown fields are ignored in silence there.
 * - SGLang takes no notice of a seed unless it was started with `--enable-deterministic-inference`.
 * - llama-server has sampling defaults of its own (temperature 0.8, top-k 40, min-p 0.05), which are never
 *   of use here. Its usage counts one choice of several. Its chat goes on from a partial answer, and whether
 *   the answer then holds that beginning differs from release to release: a rendered prompt is safer.
 * - Ollama ignores `n`, drops the oldest messages where a conversation exceeds its context, and says neither.
 * - `transformers serve` refuses `n`, log-probabilities and schemas, and answers a trailing assistant message
 *   with an empty object.
 */
const own: Readonly<Record<Own, Habits>> = {
  vllm: {
    capabilities: { ...scheduled, seed: true, tools: true },
    baseUrl: 'http://localhost:8000/v1',
    owner: 'vllm',
    isFree: true,
    ...neutralWhenAsked,
    continuation: { continue_final_message: true, add_generation_prompt: false },
    renders: 'tokenize',
    rendersWhen: 'refused',
    counts: 'tokenize',
    seedsChoices: true,
  },
  sglang: {
    capabilities: { ...scheduled, tools: true },
    baseUrl: 'http://localhost:30000/v1',
    owner: 'sglang',
    isFree: true,
    ...neutralWhenAsked,
    continuation: { continue_final_message: true },
    counts: 'tokenize-text',
  },
  'llama-server': {
    capabilities: { ...scheduled, seed: true },
    baseUrl: 'http://localhost:8080/v1',
    owner: 'llamacpp',
    isFree: true,
    neutral: { temperature: 1, top_p: 1, top_k: 0, min_p: 0 },
    neutralises: 'always',
    continuation: { chat_template_kwargs: { enable_thinking: false } },
    renders: 'apply-template',
    rendersWhen: 'always',
    counts: 'input-tokens',
    seedsChoices: true,
    countsOneChoice: true,
  },
  ollama: {
    capabilities: { ...plain, topK: false },
    baseUrl: 'http://localhost:11434/v1',
    owner: 'library',
    isFree: true,
  },
  'lm-studio': {
    capabilities: { ...plain, topK: true },
    baseUrl: 'http://localhost:1234/v1',
    owner: 'organization_owner',
    isFree: true,
  },
  transformers: {
    capabilities: {
      ...{ n: false, logprobs: false, continuation: false, schema: false },
      ...{ temperature: true, topK: false },
    },
    baseUrl: 'http://localhost:8000/v1',
    isFree: true,
  },
};

/** What each kind of server, and each provider, is known to support. */
export const habits: Readonly<Record<ServerPreset, Habits>> = {
  ...own,
  ...providers,
  generic: {
    capabilities: { stop: true, temperature: true, continuation: false, topK: false },
    isFree: false,
  },
};

/** The kinds of servers of your own whose habits are known. */
export const servers = Object.keys(own) as readonly Own[];

/** The providers whose habits are known. */
export const hosts = Object.keys(providers) as readonly Provider[];

/** Whether a preset is a provider, whose address is known and who lists more than one would ask for. */
export function isHosted(preset: ServerPreset | undefined): boolean {
  return preset !== undefined && habits[preset].keyVariable !== undefined;
}
