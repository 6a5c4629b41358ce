import { EspalierError } from '../spec/errors.ts';
import type { GenerateRequest, Usage } from '../spec/language-model.ts';
import type { CallSpend } from './ledger.ts';

/** US dollars per million tokens. */
export interface ModelPrice {
  /** For tokens read. */
  readonly input: number;
  /** For tokens written. */
  readonly output: number;
}

/** Prices by model id. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/** The completion length that a reservation assumes where a request sets no `maxTokens`. */
export const defaultMaxTokens = 1024;

/** Tokens that a chat template may add to each message. */
const templateAllowance = 16;

/** The most that a request may cost: no token is shorter than a byte. */
export function worstCase(
  request: Pick<GenerateRequest, 'messages' | 'maxTokens'>,
  samples: number,
  price: ModelPrice | undefined,
): CallSpend {
  const inputTokens = request.messages.reduce(
    (sum, { content }) => sum + Buffer.byteLength(content) + templateAllowance,
    templateAllowance,
  );
  const outputTokens = samples * (request.maxTokens ?? defaultMaxTokens);
  return cost({ inputTokens, outputTokens }, samples, price);
}

/** What texts that are only read may cost. */
export function worstCaseOfReading(
  texts: readonly string[],
  price: ModelPrice | undefined,
): CallSpend {
  const messages = texts.map((content) => ({ role: 'user' as const, content }));
  return worstCase({ messages, maxTokens: 0 }, 1, price);
}

/** What a request did cost. A usage that was not told in full is charged as reserved. */
export function actualCost(
  usage: Usage | undefined,
  reserved: CallSpend,
  price: ModelPrice | undefined,
): CallSpend {
  const { inputTokens, outputTokens } = usage ?? {};
  if (inputTokens === undefined || outputTokens === undefined) return reserved;
  return cost({ inputTokens, outputTokens }, reserved.calls, price);
}

/** The price of a model. A limit on dollars cannot be kept with a model whose price is unknown. */
export function priceOf(
  modelId: string,
  prices: PriceTable,
  dollarsAreLimited: boolean,
): ModelPrice | undefined {
  const price = Object.hasOwn(prices, modelId) ? prices[modelId] : undefined;
  if (price === undefined && dollarsAreLimited) {
    throw new EspalierError(
      'usage',
      `Expected \`prices\` to hold a price for \`${modelId}\`, because \`budget.usd\` is set, got none.`,
    );
  }
  return price;
}

function cost(
  usage: { readonly inputTokens: number; readonly outputTokens: number },
  calls: number,
  price: ModelPrice | undefined,
): CallSpend {
  const { inputTokens, outputTokens } = usage;
  const millionths = inputTokens * (price?.input ?? 0) + outputTokens * (price?.output ?? 0);
  return { calls, tokens: inputTokens + outputTokens, usd: millionths / 1_000_000 };
}
