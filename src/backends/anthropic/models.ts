import { defaultPrices } from '../../calls/prices.ts';
import { listedPrice } from '../../calls/pricing.ts';
import type { ModelPrice } from '../../contracts/language-model.ts';

/** What a model supports of what not every one does. */
export interface ModelTraits {
  /** A temperature, top-p and top-k. */
  readonly sampling: boolean;
  /** Goes on from the beginning of its answer. */
  readonly prefill: boolean;
  /** Calls a tool because it is told to. */
  readonly forcedTools: boolean;
  /** Output bound to a JSON schema. */
  readonly schema: boolean;
  /** How many tokens a prompt has at least that the cache keeps; 0 where that is not known. */
  readonly leastPrefixTokens: number;
}

/** What a model supports, by its name. A name that tells no version is that of a new model. */
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

/** From how many tokens of a prompt on the cache keeps it. */
const leastPrefixes: readonly (readonly [names: RegExp, tokens: number])[] = [
  [/claude-(?:opus|sonnet|haiku)-5-5|claude-fable-5(?:-1)?(?!\d|-\d)|claude-opus-5(?!\d|-\d)/, 512],
  [/claude-sonnet-(?:4-5|4-6|5(?!\d|-\d))|claude-opus-4-8/, 1024],
  [/claude-opus-4-7/, 2048],
  [/claude-opus-4-[56]|claude-haiku-4-5/, 4096],
];

/** `claude-opus-4-6`, `claude-sonnet-4-20250514`; a date is no minor version. */
const named = /claude-[a-z]+-(\d+)(?:[-.](\d{1,2}))?(?!\d)/;
/** `claude-3-5-sonnet-20241022` */
const numbered = /claude-(\d+)(?:[-.](\d{1,2}))?-[a-z]/;

/** Major version times 100, plus minor version. */
function versionOf(modelId: string): number | undefined {
  const match = numbered.exec(modelId) ?? named.exec(modelId);
  return match === null ? undefined : Number(match[1]) * 100 + Number(match[2] ?? 0);
}

/**
 * What a model costs, where that is known: entries of the cache that last an hour cost twice as much to write as
 * tokens cost to read.
 */
export function modelPriceOf(modelId: string, keepsForAnHour: boolean): ModelPrice | undefined {
  const known = listedPrice(defaultPrices, { modelId });
  if (known === undefined || !keepsForAnHour) return known;
  return { ...known, cacheWrite: 2 * known.input };
}
