import type { TokenAlternative } from '../../contracts/language-model.ts';
import type { Drawing, LogProbabilities } from '../in-process/sample.ts';
import type { NextTold } from './binding.ts';

/**
 * How many of the likeliest tokens are asked for at each place. To tell all of a large vocabulary takes
 * longer than many a model takes to compute them.
 */
export const toldTokens = 512;

/** What a model expects next: the likeliest tokens, and the weight of all. */
export interface Distribution {
  /** The likeliest first; of equal ones that of the lowest id. */
  readonly tokens: readonly number[];
  /** Their e^(logit − highest): 1 for the first. */
  readonly weights: readonly number[];
  /** The sum of the weights of the whole vocabulary. */
  readonly total: number;
  /** How many tokens of the vocabulary are not told. */
  readonly untold: number;
}

/** Reads what the binding tells of the tokens that may come next. */
export function distributionOf(told: NextTold, vocabularySize: number): Distribution {
  const entries = [...(told.logits ?? [])].filter(([, logit]) => Number.isFinite(logit));
  entries.sort(([oneId, one], [otherId, other]) => other - one || oneId - otherId);
  const highest = entries[0]?.[1];
  if (highest === undefined) {
    throw new Error('The model gives no finite logits: its file may be damaged.');
  }
  const tokens = entries.map(([token]) => token);
  const weights = entries.map(([, logit]) => Math.exp(logit - highest));
  const untold = told.logits?.size === vocabularySize ? 0 : vocabularySize - tokens.length;
  const known = sum(weights);
  // The binding adds up in single precision.
  const total = untold === 0 ? known : Math.max(known, told.totalLogitWeight ?? known);
  return { tokens, weights, total, untold };
}

/**
 * Draws a token: the logits are divided by the temperature, then top-k cuts, then top-p cuts what is left.
 *
 * @param chance - A random number in [0, 1). Tokens are passed in the order of their likelihood.
 * @returns the token, or `undefined` if that depends on tokens which are not told.
 */
export function drawToken(
  distribution: Distribution,
  { temperature, topK = Number.POSITIVE_INFINITY, topP = 1 }: Drawing,
  chance: number,
): number | undefined {
  const { tokens, weights } = distribution;
  if (temperature === 0 || topK === 1) return tokens[0];
  const warmed = weights.slice(0, topK).map((weight) => weight ** (1 / temperature));
  const [least, most] =
    topK <= weights.length ? [0, 0] : weightOfRest(distribution, { temperature, topK });
  const place = placeOf(warmed, { rest: least, topP, chance });
  if (most > least && placeOf(warmed, { rest: most, topP, chance }) !== place) return undefined;
  return place === undefined ? undefined : tokens[place];
}

/** The logarithms of the probabilities, before temperature, top-k and top-p. */
export function logprobsOf(
  { tokens, weights, total }: Distribution,
  name: (token: number) => string,
): LogProbabilities {
  const told = (token: number, place: number): TokenAlternative => ({
    token: name(token),
    logprob: Math.min(0, Math.log((weights[place] ?? 0) / total)),
  });
  return {
    of(token) {
      const place = tokens.indexOf(token);
      return place < 0 ? undefined : told(token, place);
    },
    top: (count) => tokens.slice(0, count).map(told),
  };
}

/** How exact the sum of the binding is. */
const rounding = 1e-4;

/**
 * Between which bounds the tokens that are not told weigh at a temperature. None of them weighs more than the
 * last that is told, and what they weigh together at temperature 1 is known.
 */
function weightOfRest(
  { weights, total, untold }: Distribution,
  { temperature, topK }: { readonly temperature: number; readonly topK: number },
): readonly [number, number] {
  if (untold === 0) return [0, 0];
  const rest = total - sum(weights);
  const most = rest + rounding * total;
  const least = topK === Number.POSITIVE_INFINITY ? Math.max(0, rest - rounding * total) : 0;
  if (temperature === 1) return [least, most];
  // w^(1/T) = w · w^(1/T − 1), and the second factor grows with w.
  if (temperature < 1) return [0, most * (weights.at(-1) ?? 1) ** (1 / temperature - 1)];
  // The power is concave: equal weights have the largest sum. And no weight is above 1.
  return [least, untold * (most / untold) ** (1 / temperature)];
}

/** At which place a chance falls, where `rest` is the weight of what is not told; `undefined` if beyond. */
function placeOf(
  weights: readonly number[],
  { rest, topP, chance }: { readonly rest: number; readonly topP: number; readonly chance: number },
): number | undefined {
  const total = sum(weights) + rest;
  let [count, mass] = [weights.length, total];
  if (topP < 1) {
    [count, mass] = [0, 0];
    while (count < weights.length && (count === 0 || mass < topP * total)) {
      mass += weights[count++] ?? 0;
    }
    if (mass < topP * total && rest > 0) return undefined;
  }
  let left = chance * mass;
  for (let place = 0; place < count; place++) {
    left -= weights[place] ?? 0;
    if (left < 0) return place;
  }
  // Rounding may leave something where all is told.
  return rest > 0 && topP === 1 ? undefined : 0;
}

function sum(weights: readonly number[]): number {
  return weights.reduce((total, weight) => total + weight, 0);
}
