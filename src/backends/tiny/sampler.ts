import { EspalierError } from '../../base/errors.ts';
import type { Random } from '../../contracts/context.ts';
import type { Drawing, LogProbabilities } from '../in-process/sample.ts';
import type { Tokenizer } from '../in-process/tokenizer.ts';
import { exp, log } from './numerics.ts';

/**
 * Draws a token: the logits are divided by the temperature, then top-k is applied, then top-p. It uses one random
 * number per token, and none at temperature 0.
 *
 * Of equal logits, the one with the lowest id counts as likelier.
 */
export function drawToken(logits: Float32Array, settings: Drawing, random: Random): number {
  const best = likeliest(logits);
  if (settings.temperature === 0) return best;
  const weights = weightsOf(logits, settings.temperature, logits[best] ?? 0);
  cut(weights, logits, settings);
  let left = random.next() * sum(weights);
  for (let token = 0; token < weights.length; token++) {
    left -= weights[token] ?? 0;
    if (left < 0) return token;
  }
  // Rounding may leave a remainder.
  return best;
}

/** The logarithm of the softmax of all logits, before temperature, top-k and top-p. */
export function logProbabilities(
  logits: Float32Array,
  { nameOf }: Pick<Tokenizer, 'nameOf'>,
): LogProbabilities {
  const highest = logits[likeliest(logits)] ?? 0;
  let total = 0;
  for (const logit of logits) total += exp(logit - highest);
  const logTotal = log(total);
  const of = (token: number) => ({
    token: nameOf(token),
    logprob: Math.min(0, (logits[token] ?? 0) - highest - logTotal),
  });
  return { of, top: (count) => ranked(logits, count).map(of) };
}

function likeliest(logits: Float32Array): number {
  let best = 0;
  let highest = Number.NEGATIVE_INFINITY;
  for (let token = 0; token < logits.length; token++) {
    const logit = logits[token] ?? 0;
    if (logit > highest) {
      highest = logit;
      best = token;
    }
  }
  if (Number.isFinite(highest)) return best;
  throw new EspalierError('usage', 'The model gives no finite logits: its file is damaged.');
}

/** Proportional to the probabilities, with 1 for the likeliest token. */
function weightsOf(logits: Float32Array, temperature: number, highest: number): Float64Array {
  const weights = new Float64Array(logits.length);
  for (let token = 0; token < weights.length; token++) {
    weights[token] = exp(((logits[token] ?? 0) - highest) / temperature);
  }
  return weights;
}

/** The number of likeliest tokens that are found without a full sort. Usually top-p keeps fewer. */
const fewTokens = 64;

/** Sets the weights of excluded tokens to 0. */
function cut(
  weights: Float64Array,
  logits: Float32Array,
  { topK = logits.length, topP = 1 }: Drawing,
): void {
  const most = Math.min(topK, logits.length);
  if (most < logits.length) keep(weights, ranked(logits, most));
  if (topP === 1) return;
  const mass = topP * sum(weights);
  for (const size of [Math.min(fewTokens, most), most]) {
    const likely = ranked(logits, size);
    const count = countUpTo(mass, likely, weights);
    if (count === undefined) continue;
    keep(weights, likely.slice(0, count));
    return;
  }
}

/** The number of tokens needed to reach a mass, at least one; `undefined` if all of them do not suffice. */
function countUpTo(
  mass: number,
  tokens: readonly number[],
  weights: Float64Array,
): number | undefined {
  let reached = 0;
  for (const [place, token] of tokens.entries()) {
    reached += weights[token] ?? 0;
    if (reached >= mass) return place + 1;
  }
  return undefined;
}

function keep(weights: Float64Array, tokens: readonly number[]): void {
  const kept = tokens.map((token) => weights[token] ?? 0);
  weights.fill(0);
  for (const [place, token] of tokens.entries()) weights[token] = kept[place] ?? 0;
}

/** The `count` likeliest tokens, in descending order. */
function ranked(logits: Float32Array, count: number): readonly number[] {
  const isLikelier = (one: number, other: number): boolean => {
    const difference = (logits[one] ?? 0) - (logits[other] ?? 0);
    return difference > 0 || (difference === 0 && one < other);
  };
  if (count > fewTokens) {
    const all = Array.from(logits.keys());
    return all.sort((a, b) => (isLikelier(a, b) ? -1 : 1)).slice(0, count);
  }
  const best: number[] = [];
  for (let token = 0; token < logits.length; token++) {
    const last = best.at(-1);
    if (best.length === count && last !== undefined && !isLikelier(token, last)) continue;
    let place = best.length;
    while (place > 0 && isLikelier(token, best[place - 1] ?? 0)) place--;
    best.splice(place, 0, token);
    if (best.length > count) best.pop();
  }
  return best;
}

function sum(weights: Float64Array): number {
  let total = 0;
  for (let token = 0; token < weights.length; token++) total += weights[token] ?? 0;
  return total;
}
