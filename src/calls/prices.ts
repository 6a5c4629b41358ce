import type { ModelPrice } from '../contracts/language-model.ts';

/** Prices by model id, in US dollars per million tokens. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/** The date of the prices in {@link defaultPrices}. */
export const pricesAsOf = '2026-11-22';

/**
 * Prices of hosted models on the day of {@link pricesAsOf}. Anthropic's are from its own pages, the others from
 * secondary sources: check them, and pass your own as `prices` if dollars matter. DeepSeek's are peak prices. A model
 * not listed has an unknown price, not a zero price; a fine-tuned model (`ft:…`) does not have its base model's price.
 */
export const defaultPrices: PriceTable = {
  'claude-fable-5-1': { ...anthropic(10, 50), cachedInput: 0.25 },
  'claude-opus-5-5': fast({ ...anthropic(4, 20), cachedInput: 0.2 }),
  'claude-opus-5': fast(anthropic(5, 25)),
  'claude-opus-4-8': fast(anthropic(5, 25)),
  'claude-opus-4-7': anthropic(5, 25),
  'claude-opus-4-6': anthropic(5, 25),
  'claude-sonnet-5-5': { ...anthropic(2, 10), cachedInput: 0.1 },
  'claude-sonnet-5': anthropic(2, 10),
  'claude-haiku-5-5': {
    ...anthropic(0.1, 0.5),
    longContext: { above: 100_000, input: 5, output: 5 },
  },
  'claude-haiku-4-5': anthropic(1, 5),
  'gpt-6-astra': openai(10, 50),
  'gpt-6.1-sol': { ...openai(2, 10), cachedInput: 0.1 },
  'gpt-6.1-terra': { ...openai(1, 5), cachedInput: 0.05 },
  'gpt-6-sol': openai(2, 10),
  'gpt-6-luna': openai(0.1, 0.5),
  'gpt-5.6-sol': openai(4, 20),
  'gpt-5.6-terra': openai(2, 12),
  'gpt-5.6-luna': openai(0.2, 1.2),
  'gemini-4-argon': { ...gemini(2, 10), cachedInput: 0.1 },
  'gemini-3.8-flash': gemini(0.75, 3.75),
  'deepseek-v4-pro': { input: 1.32, output: 3.96, cachedInput: 0.044 },
  'deepseek-v4-flash': { input: 0.3, output: 1.2, cachedInput: 0.006 },
  'grok-4.7': {
    ...{ input: 2, output: 6, cachedInput: 0.5, tiers: { batch: 0.8 } },
    longContext: { above: 200_000, input: 2, output: 2 },
  },
  'mistral-large-4': { input: 1.36, output: 4.18, cachedInput: 0.14 },
};

/** Entries in the five-minute cache cost a quarter more to write, and a tenth to read. */
function anthropic(input: number, output: number): ModelPrice {
  const cache = { cachedInput: input / 10, cacheWrite: input * 1.25 };
  return { input, output, ...cache, tiers: { batch: 0.5 } };
}

/** Adds the fast tier, which some models have. */
function fast(price: ModelPrice): ModelPrice {
  return { ...price, tiers: { ...price.tiers, fast: 2 } };
}

/** From GPT-5.6 on, writing to the cache costs a quarter more, and reading from it a tenth. */
function openai(input: number, output: number): ModelPrice {
  return {
    ...{ input, output, cachedInput: input / 10, cacheWrite: input * 1.25 },
    tiers: { batch: 0.5, flex: 0.5, priority: 2, fast: 2, ultrafast: 6 },
    longContext: { above: 272_000, input: 2, output: 1.5 },
  };
}

function gemini(input: number, output: number): ModelPrice {
  const tiers = { batch: 0.5, flex: 0.5, priority: 1.8 };
  return { input, output, cachedInput: input / 10, tiers };
}
