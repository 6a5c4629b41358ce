import { EspalierError } from '../../base/errors.ts';
import type { Capabilities } from '../../contracts/language-model.ts';
import type { JsonBody, Refuses } from '../transport/chat-request.ts';
import { fieldsOf, itemsOf, type JsonFields, numberOf, textOf } from '../transport/json.ts';
import type { Environment, Habits } from './habits.ts';

/** A known provider. */
export type Provider =
  | 'openrouter'
  | 'gemini'
  | 'groq'
  | 'mistral'
  | 'deepseek'
  | 'together'
  | 'fireworks'
  | 'azure'
  | 'bedrock'
  | 'vertex';

/** Capabilities common to all. Image support depends on the model, so the user must declare it. */
const common: Capabilities = {
  ...{ stop: true, schema: true, tools: true, temperature: true },
  ...{ continuation: false, topK: false },
};

/**
 * The properties of each provider. Capabilities that are not listed depend on the model: they are requested, but not
 * relied upon.
 *
 * - OpenRouter may route a request to hosts that ignore unsupported parameters, unless these are required: schemas,
 *   tools and log-probabilities are required, the others can be emulated here.
 * - Gemini and Mistral refuse unknown fields.
 * - DeepSeek ignores the temperature while it thinks, and gets a schema in words, together with its JSON mode.
 * - Azure's models have the names of deployments, which say nothing about them.
 * - Vertex uses an OAuth token as the key, as printed by `gcloud auth print-access-token`; it is valid for an hour.
 */
export const providers: Readonly<Record<Provider, Habits>> = {
  openrouter: {
    ...{ capabilities: { ...common, n: false, seed: true }, isFree: false },
    ...{ baseUrl: 'https://openrouter.ai/api/v1', keyVariable: 'OPENROUTER_API_KEY' },
    spelled: requiring,
    // With your own key at the host, this is only the fee of OpenRouter.
    charged: ({ cost, is_byok: isOwn }) => (isOwn === true ? undefined : numberOf(cost)),
    turns: { kept: ({ reasoning_details: told }) => listed('reasoning_details', told) },
  },
  gemini: {
    ...{ capabilities: common, isFree: false },
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
    turns: { kept: signedCalls, usual: unsignedCalls },
  },
  groq: {
    capabilities: { ...common, n: false, seed: true, logprobs: false },
    ...{ baseUrl: 'https://api.groq.com/openai/v1', keyVariable: 'GROQ_API_KEY', isFree: false },
    bindsAlone: true,
  },
  mistral: {
    capabilities: { ...common, n: true, seed: true, logprobs: false },
    ...{ baseUrl: 'https://api.mistral.ai/v1', keyVariable: 'MISTRAL_API_KEY', isFree: false },
    spelled: inMistralsWords,
    turns: { kept: ({ content }) => listed('content', content) },
  },
  deepseek: {
    capabilities: {
      ...{ stop: true, tools: true, logprobs: true },
      ...{ n: false, seed: false, schema: false, continuation: false, topK: false },
    },
    known: { toolChoice: false },
    ...{ baseUrl: 'https://api.deepseek.com', keyVariable: 'DEEPSEEK_API_KEY', isFree: false },
    writesJson: true,
    turns: {
      kept: ({ reasoning_content: told }) => ({
        reasoning_content: typeof told === 'string' ? told : '',
      }),
      // Without this field, even if it is empty, the entire conversation is refused.
      usual: () => ({ reasoning_content: '' }),
    },
  },
  together: {
    capabilities: { ...common, n: true, seed: true, logprobs: true },
    ...{ baseUrl: 'https://api.together.ai/v1', keyVariable: 'TOGETHER_API_KEY', isFree: false },
    spelled: countingLogprobs,
  },
  fireworks: {
    ...{ capabilities: { ...common, n: true, seed: true, logprobs: true }, isFree: false },
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keyVariable: 'FIREWORKS_API_KEY',
  },
  azure: {
    ...{ capabilities: common, known: { maxTokens: false }, isFree: false },
    ...{ baseUrl: azureAddress, keyVariable: 'AZURE_OPENAI_API_KEY' },
  },
  bedrock: {
    ...{ capabilities: common, isFree: false },
    baseUrl: (environment) =>
      `https://bedrock-runtime.${word('AWS_REGION', environment)}.amazonaws.com/openai/v1`,
    keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  },
  vertex: {
    ...{ capabilities: { ...common, n: true }, isFree: false },
    ...{ baseUrl: vertexAddress, keyVariable: 'GOOGLE_OAUTH_ACCESS_TOKEN' },
    turns: { kept: signedCalls, usual: unsignedCalls },
  },
};

/** The address of a resource; if it has no path, that of the API is added. */
export function azureAddress({ AZURE_OPENAI_ENDPOINT: endpoint = '' }: Environment): string {
  const address = endpoint.trim().replace(/\/+$/, '');
  if (address === '') throw missing('AZURE_OPENAI_ENDPOINT');
  const isBare = URL.canParse(address) && new URL(address).pathname === '/';
  return isBare ? `${address}/openai/v1` : address;
}

function vertexAddress(environment: Environment): string {
  const project = word('GOOGLE_CLOUD_PROJECT', environment);
  const location = word('GOOGLE_CLOUD_LOCATION', environment);
  const host = `${location === 'global' ? '' : `${location}-`}aiplatform.googleapis.com`;
  return `https://${host}/v1/projects/${project}/locations/${location}/endpoints/openapi`;
}

/** A part of an address. A slash or a dot could send the key somewhere else. */
function word(variable: string, environment: Environment): string {
  const { [variable]: value = '' } = environment;
  if (value === '') throw missing(variable);
  if (/^[\w:-]+$/.test(value)) return value;
  const message = `Expected ${variable} in the environment to be one word of letters, digits and hyphens.`;
  throw new EspalierError('usage', message);
}

function missing(variable: string): EspalierError {
  const message = `Expected ${variable} in the environment, or the whole address as \`baseUrl\`, got neither.`;
  return new EspalierError('usage', message);
}

/** Requires a host that supports everything requested, if an answer without it would be useless. */
function requiring(body: JsonBody, refuses: Refuses): JsonBody {
  const isNeeded = ['response_format', 'tools', 'logprobs'].some((name) => name in body);
  if (!isNeeded || refuses('hosts')) return body;
  return { ...body, provider: { require_parameters: true } };
}

function inMistralsWords({ seed, tool_choice: choice, ...body }: JsonBody): JsonBody {
  return {
    ...body,
    ...(seed !== undefined && { random_seed: seed }),
    ...(choice !== undefined && { tool_choice: choice === 'required' ? 'any' : choice }),
  };
}

/** Together expects the number of log-probabilities instead of a boolean. */
function countingLogprobs({ logprobs, top_logprobs: top = 1, ...body }: JsonBody): JsonBody {
  return logprobs === undefined ? body : { ...body, logprobs: top };
}

/** A field if it is a non-empty list. */
function listed(name: string, told: unknown): JsonFields | undefined {
  return itemsOf(told).length > 0 ? { [name]: told } : undefined;
}

/** The calls as returned by Gemini, with the signatures of its thoughts. */
function signedCalls({ tool_calls: calls }: JsonFields): JsonFields | undefined {
  const told = itemsOf(calls).map(fieldsOf);
  if (!told.some((call) => 'extra_content' in call)) return undefined;
  // A result names its call; one without a name is read under this one.
  return {
    tool_calls: told.map((call, at) => ({ ...call, id: textOf(call['id']) ?? `call_${at}` })),
  };
}

/** Calls from other sources, with the value that makes Gemini accept them without its own signature. */
function unsignedCalls({ tool_calls: calls }: JsonBody): JsonBody {
  const [first, ...others] = (calls ?? []) as readonly JsonBody[];
  const signature = { thought_signature: 'skip_thought_signature_validator' };
  return { tool_calls: [{ ...first, extra_content: { google: signature } }, ...others] };
}
