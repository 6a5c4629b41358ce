import {
  expectArray,
  expectation,
  expectFunction,
  expectInteger,
  expectNumber,
  expectOneOf,
  expectTexts,
} from '../../base/expect.ts';
import { defaultAnswer } from './answer.ts';
import type { CheckedOptions, Dialect } from './dialect.ts';
import { anthropic } from './dialects/anthropic.ts';
import { llamaServer } from './dialects/llama-server.ts';
import { ollama } from './dialects/ollama.ts';
import { openAi } from './dialects/openai.ts';
import { providerDialect, providerNames } from './dialects/openai-providers.ts';
import { sglang } from './dialects/sglang.ts';
import { vllm } from './dialects/vllm.ts';
import { hashed } from './hash.ts';
import type { EmulatorOptions, RewardQuestion } from './options.ts';

const dialects: Readonly<Record<EmulatorOptions['dialect'], Dialect>> = {
  openai: openAi,
  vllm,
  sglang,
  'llama-server': llamaServer,
  ollama,
  anthropic,
};

/** Checks options. Throws a usage error for invalid ones. */
export function checkedOptions(options: EmulatorOptions): CheckedOptions {
  const { dialect, models = ['emulated'], answer = defaultAnswer, reward = hashedReward } = options;
  const { contextLength = 131_072, parallel = 4, modern = true, now = Date.now } = options;
  const { latencyMs = 0, apiKey, embedding = hashedEmbedding, decides = true } = options;
  const { batchMs = 0, provider } = options;
  expectOneOf('dialect', dialect, Object.keys(dialects));
  if (provider !== undefined) checkProvider(provider, dialect);
  expectTexts('models', models);
  if (models.length === 0) throw expectation('models', 'an array with a name', models);
  expectFunction('answer', answer);
  expectFunction('reward', reward);
  expectFunction('embedding', embedding);
  expectFunction('now', now);
  expectInteger('contextLength', contextLength, { min: 1 });
  expectInteger('parallel', parallel, { min: 1 });
  expectNumber('batchMs', batchMs, { min: 0 });
  if (typeof latencyMs !== 'function') expectNumber('latencyMs', latencyMs, { min: 0 });
  return {
    dialect: provider === undefined ? dialects[dialect] : providerDialect(provider),
    settings: {
      ...{ models, answer, reward, embedding, decides, apiKey },
      ...{ contextLength, parallel, modern, now, batchMs },
    },
    faultsOf: faultsIn(options.faults ?? []),
    latencyOf: typeof latencyMs === 'function' ? latencyMs : () => latencyMs,
  };
}

function checkProvider(provider: string, dialect: string): void {
  expectOneOf('provider', provider, providerNames);
  if (dialect !== 'openai')
    throw expectation('dialect', "'openai' where there is a provider", dialect);
}

function faultsIn(faults: NonNullable<EmulatorOptions['faults']>): CheckedOptions['faultsOf'] {
  if (typeof faults === 'function') {
    return (request) => {
      const chosen = faults(request) ?? [];
      return typeof chosen === 'string' || 'kind' in chosen ? [chosen] : chosen;
    };
  }
  expectArray('faults', faults);
  const everywhere = faults.filter((fault) => fault === 'auth' || Object(fault).kind === 'loading');
  return ({ asksModel }) => (asksModel ? faults : everywhere);
}

function hashedReward({ text, query = '', label }: RewardQuestion): number {
  return hashed('reward', query, text, ...(label === undefined ? [] : [label]));
}

function hashedEmbedding(text: string): readonly number[] {
  return Array.from({ length: 8 }, (_, place) => hashed('embedding', place, text) - 0.5);
}
