import { defaultPrices } from '../../calls/prices.ts';
import { listedPrice } from '../../calls/pricing.ts';
import type { ModelPrice } from '../../contracts/language-model.ts';

/** Features that not all models support. */
export interface ModelTraits {
  /** A temperature, top-p and top-k. */
  readonly sampling: boolean;
  /** Continuing a partial answer. */
  readonly prefill: boolean;
  /** Forced tool calls. */
  readonly forcedTools: boolean;
  /** Output constrained by a JSON schema. */
  readonly schema: boolean;
  /** The shortest prompt that is cached, in tokens; 0 if unknown. */
  readonly leastPrefixTokens: number;
}

/** The features of a model, by its name. A name without a version counts as a new model. */
export function traitsOf(modelId: string): ModelTraits {
  const version = versionOf(modelId) ?? Number.POSITIVE_INFINITY;
  return {
    sampling: version <= 406,
    prefill: version <= 405,
    forcedTools: version <= 500,
    schema: version >= 405 || (version === 401 && modelId.includes('opus')),
    leastPrefixTokens: leastPrefixes.find(([names]) => names.test(modelId))?.[1] ?? 0,
  };
}

/** The shortest prompt that is cached, in tokens, by model name. */
const leastPrefixes: readonly (readonly [names: RegExp, tokens: number])[] = [
  [/claude-(?:opus|sonnet|haiku)-5-5|claude-fable-5(?:-1)?(?!\d|-\d)|claude-opus-5(?!\d|-\d)/, 512],
  [/claude-sonnet-(?:4-5|4-6|5(?!\d|-\d))|claude-opus-4-8/, 1024],
  [/claude-opus-4-7/, 2048],
  [/claude-opus-4-[56]|claude-haiku-4-5/, 4096],
];

/** `claude-opus-4-6`, `claude-sonnet-4-20250514`; a date is not a minor version. */
const named = /claude-[a-z]+-(\d+)(?:[-.](\d{1,2}))?(?!\d)/;
/** `claude-3-5-sonnet-20241022` */
const numbered = /claude-(\d+)(?:[-.](\d{1,2}))?-[a-z]/;

/** Major version times 100, plus minor version. */
function versionOf(modelId: string): number | undefined {
  const match = numbered.exec(modelId) ?? named.exec(modelId);
  return match === null ? undefined : Number(match[1]) * 100 + Number(match[2] ?? 0);
}

/** The price of a model, if known: writing to the one-hour cache costs twice the input price. */
export function modelPriceOf(modelId: string, keepsForAnHour: boolean): ModelPrice | undefined {
  const known = listedPrice(defaultPrices, { modelId });
  if (known === undefined || !keepsForAnHour) return known;
  return { ...known, cacheWrite: 2 * known.input };
}
