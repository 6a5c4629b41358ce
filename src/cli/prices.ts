import type { Command } from 'commander';
import { EspalierError } from '../base/errors.ts';
import { modelName } from '../base/model-name.ts';
import type { PriceTable } from '../calls/prices.ts';
import { priceOf } from '../calls/pricing.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import { numberOption } from './values.ts';

/** What a model costs, and whether that matters. */
export interface PriceRequest {
  readonly priceIn?: number;
  readonly priceOut?: number;
  readonly budgetUsd?: number;
}

/** The options of all commands that keep to a budget in dollars. */
export function addPriceOptions(command: Command): Command {
  return command
    .option('--price-in <usd>', 'dollars per million input tokens', numberOption('price-in'))
    .option('--price-out <usd>', 'dollars per million output tokens', numberOption('price-out'));
}

/**
 * The price of the model that was chosen, where one was given.
 *
 * @throws EspalierError `usage` where half a price was given, or a limit on dollars and no price is known.
 */
export function pricesFor(
  { priceIn: input, priceOut: output, budgetUsd }: PriceRequest,
  model: LanguageModel | undefined,
): PriceTable {
  if ((input === undefined) !== (output === undefined)) {
    const given = input === undefined ? '--price-out' : '--price-in';
    const message = `Expected \`--price-in\` and \`--price-out\` together, got only \`${given}\`.`;
    throw new EspalierError('usage', message);
  }
  if (model === undefined) return {};
  if (input !== undefined && output !== undefined) {
    // So it is with all who take batches.
    return { [model.modelId]: { input, output, tiers: { batch: 0.5 } } };
  }
  if (budgetUsd !== undefined && priceOf(model, {}, false) === undefined) {
    throw new EspalierError(
      'usage',
      `\`--budget-usd\` needs the price of ${modelName(model)}, which is not known. Give it as \`--price-in\` and \`--price-out\`, in dollars for a million tokens.`,
    );
  }
  return {};
}

/** The price at which a model was asked, for the report of its run; nothing where it is unknown. */
export function recordedPrice(
  model: LanguageModel | undefined,
  prices: PriceTable,
): { readonly price?: JsonValue } {
  const price = model && priceOf(model, prices, false);
  return price === undefined ? {} : { price: { ...price } };
}

/** Dollars for people; nothing where there are none, and a word where a price is unknown. */
export function shownDollars(usd: number | null): readonly string[] {
  if (usd === null) return ['$ unknown'];
  return usd > 0 ? [`$${usd.toFixed(4)}`] : [];
}
