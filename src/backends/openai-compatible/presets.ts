import type { Capabilities } from '../../contracts/language-model.ts';
import type { Habits } from './habits.ts';
import { type Provider, providers } from './providers.ts';

/** A kind of server of your own. */
type Own = Exclude<ServerPreset, Provider | 'generic'>;

/** A known kind of server, or a provider; `generic` is any other server. */
export type ServerPreset =
  | 'vllm'
  | 'sglang'
  | 'llama-server'
  | 'ollama'
  | 'lm-studio'
  | 'transformers'
  | Provider
  | 'generic';

/** Capabilities of servers with a batch scheduler. */
const scheduled: Capabilities = {
  ...{ n: true, logprobs: true, stop: true, continuation: true, schema: true },
  ...{ temperature: true, topK: true },
};

/** Capabilities of desktop servers. */
const plain: Capabilities = {
  ...{ n: false, seed: true, stop: true, continuation: false, schema: true, tools: true },
  temperature: true,
};

/** vLLM and SGLang ignore parameters with these values. */
const neutralWhenAsked = {
  neutral: { top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 },
  neutralises: 'when-asked',
} as const;

/**
 * The known properties of each kind of server.
 *
 * - vLLM and SGLang use the sampling defaults of the model's `generation_config.json` if a request sets no sampling
 *   parameter. They silently ignore unknown fields.
 * - SGLang ignores seeds unless it was started with `--enable-deterministic-inference`.
 * - llama-server has sampling defaults of its own (temperature 0.8, top-k 40, min-p 0.05), which are never useful here.
 *   Its usage counts only one of several choices. Its chat continues a partial answer, but releases differ in whether
 *   the answer then includes it: a rendered prompt is safer.
 * - Ollama silently ignores `n`, and silently drops the oldest messages if a conversation exceeds its context.
 * - `transformers serve` refuses `n`, log-probabilities and schemas, and answers a trailing assistant message with an
 *   empty object.
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

/** The properties of each kind of server and each provider. */
export const habits: Readonly<Record<ServerPreset, Habits>> = {
  ...own,
  ...providers,
  generic: {
    capabilities: { stop: true, temperature: true, continuation: false, topK: false },
    isFree: false,
  },
};

/** The known kinds of your own servers. */
export const servers = Object.keys(own) as readonly Own[];

/** The known providers. */
export const hosts = Object.keys(providers) as readonly Provider[];

/** Whether a preset is a provider, whose address is known, and which serves many models. */
export function isHosted(preset: ServerPreset | undefined): boolean {
  return preset !== undefined && habits[preset].keyVariable !== undefined;
}
