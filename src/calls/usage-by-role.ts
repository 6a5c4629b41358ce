import type { ModelPrice, Usage } from '../contracts/language-model.ts';
import type { ModelUsage, Role } from '../contracts/spend.ts';
import { nothing } from './call-spend.ts';
import { actualCost } from './pricing.ts';

/** The role and the model of an answered call, and its usage. */
export interface AnsweredCall {
  /** Identifies the call: a repeated one counts once. */
  readonly id: string;
  readonly role: Role;
  /** The model, as `provider:modelId`. */
  readonly model: string;
  readonly price: ModelPrice | undefined;
  /** The number of completions, scores or embeddings returned. */
  readonly calls: number;
  readonly usage: Usage;
}

/** Sums the usage of models by role. */
export class UsageByRole {
  readonly #counted = new Set<string>();
  readonly #sums = new Map<string, ModelUsage>();

  /** The sums so far, in the order in which models were first called. */
  get all(): readonly ModelUsage[] {
    return [...this.#sums.values()];
  }

  /** Adds an answered call. */
  add({ id, role, model, price, calls, usage }: AnsweredCall): void {
    if (this.#counted.has(id)) return;
    this.#counted.add(id);
    const { inputTokens = 0, outputTokens = 0, reasoningTokens = 0 } = usage;
    const { cachedTokens = 0, cacheWriteTokens = 0 } = usage;
    const { usd: told, ...counts } = { ...usage, inputTokens, outputTokens };
    const usdOf = (used: Usage) => price && actualCost(used, nothing, price).usd;
    const uncached = usdOf(withoutCache(counts));
    const before = this.#sums.get(`${role} ${model}`);
    this.#sums.set(`${role} ${model}`, {
      role,
      model,
      calls: (before?.calls ?? 0) + calls,
      inputTokens: (before?.inputTokens ?? 0) + inputTokens,
      cachedTokens: (before?.cachedTokens ?? 0) + cachedTokens,
      cacheWriteTokens: (before?.cacheWriteTokens ?? 0) + cacheWriteTokens,
      outputTokens: (before?.outputTokens ?? 0) + outputTokens,
      reasoningTokens: (before?.reasoningTokens ?? 0) + reasoningTokens,
      usd: sumOf(before, 'usd', told ?? usdOf(counts)),
      uncachedUsd: sumOf(before, 'uncachedUsd', uncached ?? told),
    });
  }
}

function withoutCache(usage: Usage): Usage {
  const parts = usage.parts?.map(withoutCache);
  return { ...usage, cachedTokens: 0, cacheWriteTokens: 0, ...(parts && { parts }) };
}

function sumOf(
  before: ModelUsage | undefined,
  field: 'uncachedUsd' | 'usd',
  usd: number | undefined,
): number | undefined {
  if (before === undefined) return usd;
  return before[field] === undefined || usd === undefined ? undefined : before[field] + usd;
}
