import type { Capabilities } from '../../contracts/language-model.ts';
import type { JsonBody } from '../transport/chat-request.ts';

/** A kind of server whose habits are known; `generic` is any other one. */
export type ServerPreset =
  | 'vllm'
  | 'sglang'
  | 'llama-server'
  | 'ollama'
  | 'lm-studio'
  | 'transformers'
  | 'generic';

/** The habits of a kind of server. */
export interface Habits {
  /** What it honours. What is not named is unknown: it is sent, and not relied upon. */
  readonly capabilities: Capabilities;
  /** Where it listens by default. */
  readonly baseUrl?: string;
  /** Who owns the models that it lists, where that tells servers apart. */
  readonly owner?: string;
  /** Whether it runs on a machine of one's own, and so costs nothing. */
  readonly isFree: boolean;
  /** How its own sampling parameters are neutralised, so that only what a request says holds. */
  readonly neutral?: Readonly<Record<string, number>>;
  /** When that is done: whenever something is sampled, or where a request sets a parameter of sampling. */
  readonly neutralises?: 'always' | 'when-asked';
  /** What makes it go on from a trailing assistant message. */
  readonly continuation?: JsonBody;
  /** How a prompt is rendered there, for going on from a partial answer. */
  readonly renders?: 'apply-template' | 'tokenize';
  /** Whether that is done always, or where its chat refuses to go on. */
  readonly rendersWhen?: 'always' | 'refused';
  /** Where it tells how many tokens a conversation is, or at least a text. */
  readonly counts?: 'input-tokens' | 'tokenize' | 'tokenize-text';
  /** Whether choice `i` of a seeded request is sampled with the seed plus `i`. */
  readonly seedsChoices?: boolean;
  /** Whether its usage counts one choice, however many there are. */
  readonly countsOneChoice?: boolean;
}

/** What servers with a batch scheduler honour. */
const scheduled: Capabilities = {
  ...{ n: true, logprobs: true, stop: true, continuation: true, schema: true },
  ...{ temperature: true, topK: true },
};

/** What servers for the desk honour. */
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
 * What each kind of server is known to honour.
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
export const habits: Readonly<Record<ServerPreset, Habits>> = {
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
  generic: {
    capabilities: { stop: true, temperature: true, continuation: false, topK: false },
    isFree: false,
  },
};

/** The kinds of servers whose habits are known. */
export const servers: readonly Exclude<ServerPreset, 'generic'>[] = Object.keys(habits).filter(
  (name): name is Exclude<ServerPreset, 'generic'> => name !== 'generic',
);
