import { EspalierError } from '../base/errors.ts';
import { expectInteger, expectNumber, expectObject } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { ModelPrice, Payee, Usage } from '../contracts/language-model.ts';
import type { WorstCase } from '../contracts/operation.ts';
import type { CallSpend } from './call-spend.ts';
import { defaultPrices, type PriceTable } from './prices.ts';
import { faultOfCounts } from './usage.ts';

/**
 * The maximum cost of a call: in the more expensive of the standard and the requested tier, and as a long prompt if the
 * reservation is one.
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
  // At the highest price: the provider may write everything it reads to its cache.
  const cacheWriteTokens = (price?.cacheWrite ?? 0) > (price?.input ?? 0) ? inputTokens : 0;
  const usage = { inputTokens, outputTokens, cachedTokens: 0, cacheWriteTokens };
  const factors = factorsOf(price, { inputTokens, serviceTier: askedTier });
  // The requested tier may not be granted, and a prompt may be shorter than reserved.
  const input = Math.max(1, factors.tier) * Math.max(1, factors.input);
  const output = Math.max(1, factors.tier) * Math.max(1, factors.output);
  return cost(usage, calls, price && times(price, { input, output }));
}

/**
 * The actual cost of a request: the amount that its provider reports, or else the price of its tokens in the reported
 * tier. An incomplete or impossible usage is charged as reserved; if the cached part is not reported, nothing counts as
 * cached.
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

/** The service tier requested in a model's settings. */
export function askedTierOf({ settings = {} }: Pick<Payee, 'settings'>): string | undefined {
  const { serviceTier, extraBody } = settings;
  const tier = serviceTier ?? (Object(extraBody) as { service_tier?: unknown }).service_tier;
  return typeof tier === 'string' ? tier : undefined;
}

/** The price multipliers of a tier and a prompt length. */
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
 * The price of a model: from the caller's table, or else from the model, or else from {@link defaultPrices}. A limit on
 * dollars cannot be enforced for a model with an unknown price.
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

/** Throws unless a table contains only prices. */
export function checkPrices(prices: PriceTable): void {
  expectObject('prices', prices);
  for (const [modelId, price] of Object.entries(prices)) {
    expectPrice(price, (field) => `prices['${modelId}']${field}`);
  }
}

/** Throws unless a price is valid. */
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

/** The price that the model itself has, which it may learn only when it is called. */
function toldBy({ modelId, price }: Parameters<typeof priceOf>[0]): ModelPrice | undefined {
  if (price !== undefined) expectPrice(price, (field) => `price${field} of ${modelId}`);
  return price;
}

/**
 * The price of a model in a table: under its name, or under its name without a date, without `-latest`, without the
 * affixes that Bedrock adds for models it serves globally (`global.anthropic.…-v1:0`), or, on hosts with such names,
 * without the vendor before a slash. Fine-tuned models (`ft:…`) do not have the price of their base model, nor do
 * models that Bedrock serves in one region (`us.anthropic.…`).
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

/** Hosts that name models `vendor/model` and charge the vendor's price. */
const vendorNaming = /^(openrouter|vertex)\b/;

/** `anthropic/claude-sonnet-5.5`, `google/gemini-4-argon` */
function withoutVendor(modelId: string): string {
  const name = modelId.replace(/^(anthropic|deepseek|google|mistralai|openai|x-ai)\//, '');
  return name.startsWith('claude-') ? name.replaceAll('.', '-') : name;
}

/** `global.anthropic.claude-haiku-4-5-20251001-v1:0`. Profiles of one region cost more than the vendor charges. */
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
