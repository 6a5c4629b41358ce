import type { Call } from './dialect.ts';
import { words } from './fields.ts';

const shared = words(`
  model frequency_penalty logit_bias logprobs max_tokens n presence_penalty seed stop stream
  stream_options temperature top_p user
`);

const caching = words(`
  prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier service_tier
  store metadata moderation
`);

const openAi: Readonly<Record<string, readonly string[]>> = {
  '/v1/chat/completions': [
    ...shared,
    ...caching,
    ...words(`
      messages audio function_call functions max_completion_tokens modalities
      parallel_tool_calls prediction reasoning_effort response_format tool_choice tools
      top_logprobs verbosity web_search_options
    `),
  ],
  '/v1/completions': [...shared, 'prompt', 'best_of', 'echo', 'suffix'],
  '/v1/batches': words(`
    input_file_id endpoint completion_window metadata output_expires_after
  `),
  '/v1/responses': [
    ...caching,
    ...words(`
      model background context_management conversation include input instructions
      max_output_tokens parallel_tool_calls previous_response_id prompt reasoning stream
      stream_options temperature text tool_choice tools top_logprobs top_p truncation user
    `),
  ],
};

const anthropic: Readonly<Record<string, readonly string[]>> = {
  '/v1/messages': words(`
    max_tokens messages model cache_control container diagnostics inference_geo metadata
    output_config service_tier speed stop_sequences stream system thinking tool_choice tools
    user_profile_id workspace_id
  `),
  '/v1/messages/batches': ['requests'],
  '/v1/messages/count_tokens': words(`
    messages model cache_control output_config speed system thinking tool_choice tools
    user_profile_id workspace_id
  `),
};

/** The fields that OpenAI knows in the body of a request. */
export function openAiFields({ exchange }: Call): readonly string[] | undefined {
  return openAi[exchange.path];
}

/** The fields that Anthropic knows in the body of a request; sampling parameters only for old models. */
export function anthropicFields({ exchange, service }: Call): readonly string[] | undefined {
  const known = anthropic[exchange.path];
  const samples = !service.settings.modern && exchange.path === '/v1/messages';
  return known && samples ? [...known, 'temperature', 'top_p', 'top_k'] : known;
}

/** The fields known by a server with more than OpenAI's. */
export function fieldsBeside(
  more: readonly string[],
): (call: Call) => readonly string[] | undefined {
  return ({ exchange }) => {
    const known = openAi[exchange.path];
    return known === undefined ? undefined : [...known, ...more];
  };
}
