import { EspalierError } from '../base/errors.ts';
import { expectNumber, expectObject } from '../base/expect.ts';
import type { DecisionRequest } from '../contracts/decision-model.ts';
import type { GenerateRequest, ModelPrice, Usage } from '../contracts/language-model.ts';
import type { ScoreRequest } from '../contracts/reward-model.ts';
import type { CallSpend } from './ledger.ts';
import { defaultPrices, type PriceTable } from './prices.ts';
import { faultOfCounts } from './usage.ts';

/** The completion length that a reservation assumes where a request sets no `maxTokens`. */
export const defaultMaxTokens = 1024;

/** Tokens that a chat template may add to each message. */
const templateAllowance = 16;

/** The most that a request may cost: no token is shorter than a byte. */
export function worstCase(
  request: Pick<GenerateRequest, 'messages' | 'maxTokens' | 'schema' | 'tools'>,
  samples: number,
  price: ModelPrice | undefined,
): CallSpend {
  const { messages, schema, tools } = request;
  const inputTokens = messages.reduce(
    (sum, { content, toolCalls }) => sum + sizeOf(content, toolCalls) + templateAllowance,
    templateAllowance + sizeOf('', schema) + sizeOf('', tools),
  );
  const outputTokens = samples * (request.maxTokens ?? defaultMaxTokens);
  // At the dearest price: the provider may put all that it reads into its cache.
  const cacheWriteTokens = (price?.cacheWrite ?? 0) > (price?.input ?? 0) ? inputTokens : 0;
  return cost({ inputTokens, outputTokens, cachedTokens: 0, cacheWriteTokens }, samples, price);
}

/** The bytes of a text and of what goes along with it as JSON. */
function sizeOf(text: string, json: unknown): number {
  return (
    Buffer.byteLength(text) + (json === undefined ? 0 : Buffer.byteLength(JSON.stringify(json)))
  );
}

/** What texts that are only read may cost. */
export function worstCaseOfReading(
  texts: readonly string[],
  price: ModelPrice | undefined,
): CallSpend {
  const messages = texts.map((content) => ({ role: 'user' as const, content }));
  return worstCase({ messages, maxTokens: 0 }, 1, price);
}

/** What scores may cost. One solution is one call. */
export function worstCaseOfScores(
  { solutions }: ScoreRequest,
  price: ModelPrice | undefined,
): CallSpend {
  const texts = solutions.flatMap(({ prompt, steps }) => [prompt, ...steps]);
  return { ...worstCaseOfReading(texts, price), calls: solutions.length };
}

/** What decisions may cost: a server may ask its model each question by itself. */
export function worstCaseOfDecision(
  { messages, questions }: DecisionRequest,
  price: ModelPrice | undefined,
): CallSpend {
  const request = messages.map(({ content }) => content);
  const texts = Object.values(questions).flatMap((question) => [
    ...request,
    JSON.stringify(question),
  ]);
  return worstCaseOfReading(texts, price);
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
