import type { TokenAlternative } from '../../contracts/language-model.ts';
import type { Drawing, LogProbabilities } from '../in-process/sample.ts';
import type { NextTold } from './binding.ts';

/**
 * The number of likeliest tokens requested at each position. Reporting all tokens of a large vocabulary takes longer
 * than many models take to compute them.
 */
export const toldTokens = 512;

/** The model's prediction of the next token: the likeliest tokens, and the total weight. */
export interface Distribution {
  /** Likeliest first; ties by lowest id. */
  readonly tokens: readonly number[];
  /** Their e^(logit − highest): 1 for the first. */
  readonly weights: readonly number[];
  /** The sum of the weights of the whole vocabulary. */
  readonly total: number;
  /** The number of unreported tokens of the vocabulary. */
  readonly untold: number;
}

/** Reads the binding's prediction of the next token. */
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
  // The binding sums in single precision.
  const total = untold === 0 ? known : Math.max(known, told.totalLogitWeight ?? known);
  return { tokens, weights, total, untold };
}

/**
 * Draws a token: the logits are divided by the temperature, then top-k is applied, then top-p.
 *
 * @param chance - A random number in [0, 1). Tokens are counted in descending order of probability.
 * @returns the token, or `undefined` if it depends on unreported tokens.
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

/** The precision of the binding's sum. */
const rounding = 1e-4;

/**
 * Bounds for the total weight of the unreported tokens at a temperature. None of them weighs more than the last
 * reported one, and their total at temperature 1 is known.
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
  // The power is concave, so equal weights have the largest sum; and no weight is above 1.
  return [least, untold * (most / untold) ** (1 / temperature)];
}

/**
 * The position at which a random number falls, where `rest` is the weight of unreported tokens; `undefined` if it is
 * beyond the reported ones.
 */
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
  // If all tokens are reported, rounding may leave a remainder.
  return rest > 0 && topP === 1 ? undefined : 0;
}

function sum(weights: readonly number[]): number {
  return weights.reduce((total, weight) => total + weight, 0);
}
