import { EspalierError } from '../base/errors.ts';
import { expectInteger, expectNumber, expectObject } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { ModelPrice, Usage } from '../contracts/language-model.ts';
import type { WorstCase } from '../contracts/operation.ts';
import type { CallSpend } from './call-spend.ts';
import { defaultPrices, type PriceTable } from './prices.ts';
import { faultOfCounts } from './usage.ts';

/** The most that a call may cost. */
export function mostCost(worstCase: WorstCase = {}, price?: ModelPrice): CallSpend {
  expectObject('worstCase', worstCase);
  expectOptions('worstCase', worstCase, 'calls inputTokens outputTokens');
  const { calls = 1, inputTokens = 0, outputTokens = 0 } = worstCase;
  expectInteger('worstCase.calls', calls, { min: 0 });
  for (const [name, tokens] of Object.entries({ inputTokens, outputTokens })) {
    expectNumber(`worstCase.${name}`, tokens, { min: 0 });
  }
  // At the dearest price: the provider may put all that it reads into its cache.
  const cacheWriteTokens = (price?.cacheWrite ?? 0) > (price?.input ?? 0) ? inputTokens : 0;
  return cost({ inputTokens, outputTokens, cachedTokens: 0, cacheWriteTokens }, calls, price);
}

/**
 * What a request did cost. A usage that was not told in full, or that cannot be, is charged as reserved; a
 * cached part that was not told is charged as if nothing had been cached.
 */
export function actualCost(
  usage: Usage | undefined,
  reserved: CallSpend,
  price: ModelPrice | undefined,
): CallSpend {
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0 } = usage ?? {};
  if (inputTokens === undefined || outputTokens === undefined) return reserved;
  if (faultOfCounts(usage ?? {}) !== undefined) return reserved;
  return cost({ inputTokens, outputTokens, cachedTokens, cacheWriteTokens }, reserved.calls, price);
}

/**
 * The price of a model: the caller's, else what the model says itself, else that of
 * {@link defaultPrices}. A limit on dollars cannot be kept with a model whose price is unknown.
 */
export function priceOf(
  model: { readonly modelId: string; readonly price?: ModelPrice },
  prices: PriceTable,
  dollarsAreLimited: boolean,
): ModelPrice | undefined {
  const { modelId } = model;
  const price = entry(prices, modelId) ?? toldBy(model) ?? entry(defaultPrices, modelId);
  if (price === undefined && dollarsAreLimited) {
    throw new EspalierError(
      'usage',
      `Expected \`prices\` to hold a price for \`${modelId}\`, because \`budget.usd\` is set, got none.`,
    );
  }
  return price;
}

/** Throws unless a price is one. */
export function expectPrice(price: ModelPrice, nameOf: (field: string) => string): void {
  expectObject(nameOf(''), price);
  expectOptions(nameOf(''), price, 'input output cachedInput cacheWrite');
  const { input, output, cachedInput, cacheWrite } = price;
  expectNumber(nameOf('.input'), input, { min: 0 });
  expectNumber(nameOf('.output'), output, { min: 0 });
  if (cachedInput !== undefined) expectNumber(nameOf('.cachedInput'), cachedInput, { min: 0 });
  if (cacheWrite !== undefined) expectNumber(nameOf('.cacheWrite'), cacheWrite, { min: 0 });
}

/** What a model says itself, which may learn it only as it is called. */
function toldBy({ modelId, price }: Parameters<typeof priceOf>[0]): ModelPrice | undefined {
  if (price !== undefined) expectPrice(price, (field) => `price${field} of ${modelId}`);
  return price;
}

function entry(prices: PriceTable, modelId: string): ModelPrice | undefined {
  return Object.hasOwn(prices, modelId) ? prices[modelId] : undefined;
}

type KnownUsage = Required<Omit<Usage, 'reasoningTokens'>>;

function cost(usage: KnownUsage, calls: number, price: ModelPrice | undefined): CallSpend {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = usage;
  const { input = 0, output = 0, cachedInput = input, cacheWrite = input } = price ?? {};
  const plain = Math.max(0, inputTokens - cachedTokens - cacheWriteTokens);
  const millionths =
    plain * input +
    cachedTokens * cachedInput +
    cacheWriteTokens * cacheWrite +
    outputTokens * output;
  return { calls, tokens: inputTokens + outputTokens, usd: millionths / 1_000_000 };
}
