import type { ModelPrice, Usage } from '../contracts/language-model.ts';
import type { ModelUsage, Role } from '../contracts/spend.ts';
import { nothing } from './call-spend.ts';
import { actualCost } from './pricing.ts';

/** Who asked, whom, and what the answer used. */
export interface AnsweredCall {
  /** Names the call: one that is met again counts once. */
  readonly id: string;
  readonly role: Role;
  /** The model, as `provider:modelId`. */
  readonly model: string;
  readonly price: ModelPrice | undefined;
  /** How many completions, scores or embeddings it brought. */
  readonly calls: number;
  readonly usage: Usage;
}

/** Adds up what models read and wrote, by who asked them. */
export class UsageByRole {
  readonly #counted = new Set<string>();
  readonly #sums = new Map<string, ModelUsage>();

  /** What has been added so far, in the order in which models were first asked. */
  get all(): readonly ModelUsage[] {
    return [...this.#sums.values()];
  }

  /** Takes in a call that was answered. */
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
