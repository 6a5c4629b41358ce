import { afterAll, describe, test } from 'vitest';
import { openaiCompatible, type ServerPreset } from '../../../src/backends/index.ts';
import { emulator } from '../../../src/testing/emulator/emulator.ts';
import { describeLanguageModel } from '../../../src/testing/index.ts';

const runner = { describe, test };
const server = await emulator({ dialect: 'vllm' });
const openAi = await emulator({ dialect: 'openai' });
afterAll(async () => {
  await server.close();
  await openAi.close();
});

type Body = Readonly<Record<string, unknown>>;

/** What a provider refuses, a sentence each, and what its own words are in those of the server behind it. */
interface Gate {
  readonly refuses?: (body: Body) => string | false | undefined;
  readonly translated?: (body: Body) => Body;
  /** Who answers, where that is not vLLM, which draws one greedy sample only. */
  readonly behind?: string;
}

const known =
  (...names: readonly string[]) =>
  (body: Body) => {
    const usual =
      'model messages max_tokens temperature top_p stop response_format tools tool_choice';
    const other = Object.keys(body).find((name) => ![...usual.split(' '), ...names].includes(name));
    return other && `Invalid JSON payload received. Unknown name "${other}": Cannot find field.`;
  };
const isForced = ({ tool_choice: choice = 'auto' }: Body) =>
  !['auto', 'none'].includes(String(choice));

/** As `hosted.md` of the project's references says of each. */
const gates: Readonly<Record<string, Gate>> = {
  openrouter: { translated: ({ n: _, provider: __, ...body }) => body },
  gemini: { refuses: known('n', 'seed') },
  groq: {
    refuses: (body) =>
      (Number(body['n'] ?? 1) > 1 && "'n' must be at most 1") ||
      ('logprobs' in body && '`logprobs` is not supported with this model') ||
      ((body['messages'] as readonly object[]).some((message) => 'name' in message) &&
        '`name` is not supported') ||
      ('tools' in body && 'response_format' in body && 'json mode cannot be combined with tools'),
  },
  mistral: {
    refuses: (body) =>
      ['seed', 'logprobs', 'top_k'].some((name) => name in body) &&
      'Extra inputs are not permitted',
    translated: ({ random_seed: seed, tool_choice: choice, ...body }) => ({
      ...body,
      ...(seed !== undefined && { seed }),
      ...(choice !== undefined && { tool_choice: choice === 'any' ? 'required' : choice }),
    }),
  },
  deepseek: {
    refuses: (body) =>
      (isForced(body) && 'deepseek-v4-pro does not support this tool_choice') ||
      ('response_format' in body &&
        (body['response_format'] as Body)['type'] !== 'json_object' &&
        'This response_format type is unavailable now') ||
      (('n' in body || 'seed' in body) && 'Extra inputs are not permitted'),
  },
  together: {
    refuses: (body) => typeof body['logprobs'] === 'boolean' && 'logprobs must be an integer',
    translated: ({ logprobs: top, ...body }) =>
      top === undefined ? body : { ...body, logprobs: true, top_logprobs: top },
  },
  fireworks: {},
  azure: {
    refuses: (body) =>
      'max_tokens' in body &&
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  },
  bedrock: {},
  vertex: { behind: openAi.url },
};

/** Stands in front of a server as a provider would. */
function behind({ refuses, translated }: Gate): typeof globalThis.fetch {
  return async (url, init) => {
    if (typeof init?.body !== 'string') return globalThis.fetch(url, init);
    const body = JSON.parse(init.body) as Body;
    const message = refuses?.(body);
    if (message) return Response.json({ error: { message } }, { status: 400 });
    return globalThis.fetch(url, { ...init, body: JSON.stringify(translated?.(body) ?? body) });
  };
}

for (const [name, gate] of Object.entries(gates)) {
  const model = openaiCompatible({
    ...{ preset: name as ServerPreset, model: 'emulated', apiKey: 'some-key', retry: false },
    ...{ baseUrl: `${gate.behind ?? server.url}/v1`, fetch: behind(gate) },
  });
  describeLanguageModel(name, { create: () => model }, runner);
}
