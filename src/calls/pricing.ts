import { EspalierError } from '../base/errors.ts';
import { expectInteger, expectNumber, expectObject } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { ModelPrice, Payee, Usage } from '../contracts/language-model.ts';
import type { WorstCase } from '../contracts/operation.ts';
import type { CallSpend } from './call-spend.ts';
import { defaultPrices, type PriceTable } from './prices.ts';
import { faultOfCounts } from './usage.ts';

/**
 * The most that a call may cost: in the dearer of no tier and the one asked for, and as a long prompt where what is
 * reserved is one.
 */
export function mostCost(
  worstCase: WorstCase = {},
  price?: ModelPrice,
  askedTier?: string,
): CallSpend {
  expectObject('worstCase', worstCase);
  expectOptions('worstCase', worstCase, 'calls inputTokens outputTokens');
  const { calls = 1, inputTokens = 0, outputTokens = 0 } = worstCase;
  expectInteger('worstCase.calls', calls, { min: 0 });
  for (const [name, tokens] of Object.entries({ inputTokens, outputTokens })) {
    expectNumber(`worstCase.${name}`, tokens, { min: 0 });
  }
  // At the dearest price: the provider may put all that it reads into its cache.
  const cacheWriteTokens = (price?.cacheWrite ?? 0) > (price?.input ?? 0) ? inputTokens : 0;
  const usage = { inputTokens, outputTokens, cachedTokens: 0, cacheWriteTokens };
  const factors = factorsOf(price, { inputTokens, serviceTier: askedTier });
  // What is asked for need not be given, and a prompt may be shorter than reserved.
  const input = Math.max(1, factors.tier) * Math.max(1, factors.input);
  const output = Math.max(1, factors.tier) * Math.max(1, factors.output);
  return cost(usage, calls, price && times(price, { input, output }));
}

/**
 * What a request did cost: what its provider says it charged, else what its tokens cost in the tier that it says it
 * served. A usage that was not told in full, or that cannot be, is charged as reserved; a cached part that was not
 * told is charged as if nothing had been cached.
 */
export function actualCost(
  usage: Usage | undefined,
  reserved: CallSpend,
  price: ModelPrice | undefined,
): CallSpend {
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0 } = usage ?? {};
  if (inputTokens === undefined || outputTokens === undefined) return reserved;
  if (faultOfCounts(usage ?? {}) !== undefined) return reserved;
  const counts = { inputTokens, outputTokens, cachedTokens, cacheWriteTokens };
  const { requests = 1, serviceTier, usd, parts } = usage ?? {};
  const { tier, input, output } = factorsOf(price, {
    inputTokens: inputTokens / Math.max(1, requests),
    serviceTier,
  });
  const told = price && times(price, { input: tier * input, output: tier * output });
  const spend = cost(counts, reserved.calls, told);
  if (usd !== undefined) return { ...spend, usd };
  if (parts === undefined) return spend;
  const dollars = parts.map((part) => actualCost(part, reserved, price).usd);
  return { ...spend, usd: dollars.reduce((sum, part) => sum + part, 0) };
}

/** The tier of service that a model is asked for beforehand. */
export function askedTierOf({ settings = {} }: Pick<Payee, 'settings'>): string | undefined {
  const { serviceTier, extraBody } = settings;
  const tier = serviceTier ?? (Object(extraBody) as { service_tier?: unknown }).service_tier;
  return typeof tier === 'string' ? tier : undefined;
}

/** By what prices are multiplied in a tier, and for a prompt of that length. */
function factorsOf(
  price: ModelPrice | undefined,
  { inputTokens, serviceTier }: { inputTokens: number; serviceTier: string | undefined },
): Readonly<Record<'input' | 'output' | 'tier', number>> {
  const { tiers = {}, longContext } = price ?? {};
  const isKnown = serviceTier !== undefined && Object.hasOwn(tiers, serviceTier);
  const tier = isKnown ? (tiers[serviceTier] ?? 1) : 1;
  const isLong = longContext !== undefined && inputTokens > longContext.above;
  return { tier, input: isLong ? longContext.input : 1, output: isLong ? longContext.output : 1 };
}

function times(
  { input, output, cachedInput = input, cacheWrite = input }: ModelPrice,
  by: Readonly<Record<'input' | 'output', number>>,
): ModelPrice {
  return {
    input: input * by.input,
    output: output * by.output,
    cachedInput: cachedInput * by.input,
    cacheWrite: cacheWrite * by.input,
  };
}

/**
 * The price of a model: the caller's, else what the model says itself, else that of
 * {@link defaultPrices}. A limit on dollars cannot be kept with a model whose price is unknown.
 */
export function priceOf(
  model: Pick<Payee, 'modelId' | 'price'> & Partial<Pick<Payee, 'provider'>>,
  prices: PriceTable,
  dollarsAreLimited: boolean,
): ModelPrice | undefined {
  const { modelId } = model;
  const price = listedPrice(prices, model) ?? toldBy(model) ?? listedPrice(defaultPrices, model);
  if (price === undefined && dollarsAreLimited) {
    throw new EspalierError(
      'usage',
      `Expected \`prices\` (\`--price-in\` and \`--price-out\`) to hold a price for \`${modelId}\`, because dollars are limited, got none.`,
    );
  }
  return price;
}

/** Throws unless a table holds only prices. */
export function checkPrices(prices: PriceTable): void {
  expectObject('prices', prices);
  for (const [modelId, price] of Object.entries(prices)) {
    expectPrice(price, (field) => `prices['${modelId}']${field}`);
  }
}

/** Throws unless a price is one. */
export function expectPrice(price: ModelPrice, nameOf: (field: string) => string): void {
  expectObject(nameOf(''), price);
  expectOptions(nameOf(''), price, 'input output cachedInput cacheWrite tiers longContext');
  const { input, output, cachedInput, cacheWrite, tiers, longContext } = price;
  expectNumber(nameOf('.input'), input, { min: 0 });
  expectNumber(nameOf('.output'), output, { min: 0 });
  if (cachedInput !== undefined) expectNumber(nameOf('.cachedInput'), cachedInput, { min: 0 });
  if (cacheWrite !== undefined) expectNumber(nameOf('.cacheWrite'), cacheWrite, { min: 0 });
  if (tiers !== undefined) {
    expectObject(nameOf('.tiers'), tiers);
    for (const [tier, factor] of Object.entries(tiers)) {
      expectNumber(nameOf(`.tiers.${tier}`), factor, { min: 0 });
    }
  }
  if (longContext !== undefined) {
    expectObject(nameOf('.longContext'), longContext);
    expectOptions(nameOf('.longContext'), longContext, 'above input output');
    for (const [name, value] of Object.entries({ ...longContext })) {
      expectNumber(nameOf(`.longContext.${name}`), value, { min: 0 });
    }
  }
}

/** What a model says itself, which may learn it only as it is called. */
function toldBy({ modelId, price }: Parameters<typeof priceOf>[0]): ModelPrice | undefined {
  if (price !== undefined) expectPrice(price, (field) => `price${field} of ${modelId}`);
  return price;
}

/**
 * What a table says of a model: under its name, or under its name without a date, `-latest`, what Bedrock puts around
 * the names of models that it serves everywhere (`global.anthropic.…-v1:0`), or, on hosts that name models so, the vendor
 * before a slash. A fine-tuned model (`ft:…`) does not cost what the one below it does, and neither does one that
 * Bedrock serves in one part of the world (`us.anthropic.…`).
 */
export function listedPrice(
  prices: PriceTable,
  { modelId, provider = '' }: Partial<Payee> & Pick<Payee, 'modelId'>,
): ModelPrice | undefined {
  const names = [modelId];
  if (!modelId.startsWith('ft:')) {
    const bare = vendorNaming.test(provider) ? withoutVendor(modelId) : withoutProfile(modelId);
    names.push(bare, bare.replace(/(?:[-@]20\d{6}|-20\d\d-\d\d-\d\d|[-@]latest)$/, ''));
  }
  const name = names.find((candidate) => Object.hasOwn(prices, candidate));
  return name === undefined ? undefined : prices[name];
}

/** Who names models `vendor/model` and asks what the vendor does. */
const vendorNaming = /^(openrouter|vertex)\b/;

/** `anthropic/claude-sonnet-5.5`, `google/gemini-4-argon` */
function withoutVendor(modelId: string): string {
  const name = modelId.replace(/^(anthropic|deepseek|google|mistralai|openai|x-ai)\//, '');
  return name.startsWith('claude-') ? name.replaceAll('.', '-') : name;
}

/** `global.anthropic.claude-haiku-4-5-20251001-v1:0`. Profiles of one region cost more than the vendor asks. */
function withoutProfile(modelId: string): string {
  return modelId.replace(/^global\.(?:anthropic|openai|xai)\.(.+?)(?:-v\d+(?::\d+)?)?$/, '$1');
}

type KnownUsage = Required<
  Pick<Usage, 'cacheWriteTokens' | 'cachedTokens' | 'inputTokens' | 'outputTokens'>
>;

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
