import { type AiSdkModel, type AiSdkOptions, aiSdk } from '../../../src/backends/index.ts';
import type {
  GenerateRequest,
  Generation,
  LanguageModel,
  ModelCall,
  ModelWarning,
  RateLimits,
} from '../../../src/contracts/language-model.ts';
import { manualClock } from '../../../src/testing/manual-clock.ts';

/** What `doGenerate` was called with. */
export type Called = Record<string, unknown> & { readonly abortSignal?: AbortSignal };

/** A model of the AI SDK that remembers how it was called. */
export interface FakeModel extends AiSdkModel {
  readonly calls: readonly Called[];
}

/** A model that gives these results, one after the other; the last one for ever. Errors are thrown. */
export function fake(...results: readonly unknown[]): FakeModel {
  const calls: Called[] = [];
  return {
    specificationVersion: 'v3',
    provider: 'acme.chat',
    modelId: 'large',
    calls,
    doGenerate: async (options) => {
      calls.push(options as Called);
      const result = results[Math.min(calls.length, results.length) - 1] ?? answer('fine');
      if (result instanceof Error) throw result;
      return result;
    },
  };
}

/** A result of version 3. */
export function answer(text: string, changes: object = {}): object {
  return {
    content: [{ type: 'text', text }],
    finishReason: { unified: 'stop', raw: 'end' },
    usage: {
      inputTokens: { total: 12, noCache: 12, cacheRead: 0, cacheWrite: undefined },
      outputTokens: { total: 3, text: 3, reasoning: undefined },
    },
    warnings: [],
    ...changes,
  };
}

/** The model for espalier, which is asked once. */
export function adapted(model: AiSdkModel, options: AiSdkOptions = {}): LanguageModel {
  return aiSdk(model, { retry: false, ...options });
}

/** What came of a call, and what was said on the way. */
export interface Asked {
  readonly generation: Generation;
  readonly warnings: readonly ModelWarning[];
  readonly limits: readonly RateLimits[];
}

/** Asks a model. */
export async function ask(
  model: LanguageModel,
  request: Partial<GenerateRequest> = {},
  changes: Partial<ModelCall> = {},
): Promise<Asked> {
  const warnings: ModelWarning[] = [];
  const limits: RateLimits[] = [];
  const call: ModelCall = {
    signal: new AbortController().signal,
    clock: manualClock({ auto: true }),
    warn: (warning) => void warnings.push(warning),
    limits: (limit) => void limits.push(limit),
    ...changes,
  };
  const messages = [{ role: 'user', content: 'Why?' }] as const;
  const generation = await model.generate({ messages, ...request }, call);
  return { generation, warnings, limits };
}
