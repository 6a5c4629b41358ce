import type { ModelPrice } from '../contracts/language-model.ts';

/** Prices by model id, in US dollars per million tokens. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/** When the prices of {@link defaultPrices} were looked up. */
export const pricesAsOf = '2026-11-21';

/**
 * Prices of hosted models on the day of {@link pricesAsOf}, without discounts for batches or surcharges
 * for long prompts. Those of Anthropic are from its own pages; those of OpenAI from secondary pages only:
 * check them, and give your own as `prices` where dollars matter. A model that is not here has no known
 * price, which is not the same as none.
 */
export const defaultPrices: PriceTable = {
  'claude-fable-5-1': anthropic(10, 50),
  'claude-opus-5-5': { ...anthropic(4, 20), cachedInput: 0.2 },
  'claude-opus-5': anthropic(5, 25),
  'claude-opus-4-8': anthropic(5, 25),
  'claude-opus-4-7': anthropic(5, 25),
  'claude-opus-4-6': anthropic(5, 25),
  'claude-sonnet-5-5': anthropic(2, 10),
  'claude-sonnet-5': anthropic(2, 10),
  'claude-haiku-5-5': anthropic(0.1, 0.5),
  'claude-haiku-4-5': anthropic(1, 5),
  'gpt-6-astra': { ...openai(10, 50), cachedInput: 1 },
  'gpt-6.1-sol': { ...openai(2, 10), cachedInput: 0.1 },
  'gpt-6-sol': { ...openai(2, 10), cachedInput: 0.2 },
  'gpt-6-luna': { ...openai(0.1, 0.5), cachedInput: 0.01 },
  'gpt-5.6-sol': openai(4, 20),
  'gpt-5.6-terra': openai(2, 12),
  'gpt-5.6-luna': openai(0.2, 1.2),
};

/** Five-minute entries of the cache cost a quarter more to write, and a tenth to read. */
function anthropic(input: number, output: number): ModelPrice {
  return { input, output, cachedInput: input / 10, cacheWrite: input * 1.25 };
}

/** From GPT-5.6 on, what is put into the cache costs a quarter more. */
function openai(input: number, output: number): ModelPrice {
  return { input, output, cacheWrite: input * 1.25 };
}
