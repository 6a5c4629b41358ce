import type { LlamaConfig, Tensor } from '../../src/backends/tiny/llama-config.ts';

type Vector = readonly number[];

/**
 * The logits after each token of a text, in double precision and straight from the papers: one loop for each
 * formula, no cache, nothing shared with the runner.
 *
 * @see Touvron et al., "LLaMA: Open and Efficient Foundation Language Models", 2023.
 */
export function referenceLogits(
  config: LlamaConfig,
  tensors: ReadonlyMap<string, Tensor>,
  tokens: readonly number[],
): readonly Vector[] {
  const weight = (name: string): Vector => Array.from(tensors.get(`${name}.weight`)?.data ?? []);
  const { embeddingLength: width } = config;
  const embeddings = weight('token_embd');
  let stream: readonly Vector[] = tokens.map((token) =>
    embeddings.slice(token * width, (token + 1) * width),
  );
  for (let block = 0; block < config.blockCount; block++) {
    const ofBlock = (name: string): Vector => weight(`blk.${block}.${name}`);
    const attended = attention(config, ofBlock, stream);
    stream = stream.map((x, position) => plus(x, attended[position] ?? []));
    stream = stream.map((x) => plus(x, feedForward(config, ofBlock, x)));
  }
  const output = tensors.has('output.weight') ? weight('output') : embeddings;
  return stream.map((x) => times(output, rmsNorm(x, weight('output_norm'), config.rmsEpsilon)));
}

function attention(
  config: LlamaConfig,
  weight: (name: string) => Vector,
  stream: readonly Vector[],
): readonly Vector[] {
  const { headCount, headCountKv, rmsEpsilon } = config;
  const normed = stream.map((x) => rmsNorm(x, weight('attn_norm'), rmsEpsilon));
  const headsOf = (name: string): readonly (readonly Vector[])[] =>
    normed.map((x) => heads(config, times(weight(name), x)));
  const queries = headsOf('attn_q').map((each, position) => rotated(config, each, position));
  const keys = headsOf('attn_k').map((each, position) => rotated(config, each, position));
  const values = headsOf('attn_v');

  return stream.map((_, position) => {
    const found: number[] = [];
    for (let head = 0; head < headCount; head++) {
      const shared = Math.floor((head * headCountKv) / headCount);
      const scores: number[] = [];
      for (let past = 0; past <= position; past++) {
        const product = dot(at(at(queries, position), head), at(at(keys, past), shared));
        scores.push(product / Math.sqrt(config.headDimension));
      }
      const shares = softmax(scores);
      for (let d = 0; d < config.headDimension; d++) {
        found.push(
          shares.reduce((sum, share, past) => sum + share * at(at(at(values, past), shared), d), 0),
        );
      }
    }
    return times(weight('attn_output'), found);
  });
}

function feedForward(config: LlamaConfig, weight: (name: string) => Vector, x: Vector): Vector {
  const normed = rmsNorm(x, weight('ffn_norm'), config.rmsEpsilon);
  const up = times(weight('ffn_up'), normed);
  const gate = times(weight('ffn_gate'), normed);
  const hidden = gate.map((value, index) => (value / (1 + Math.exp(-value))) * at(up, index));
  return times(weight('ffn_down'), hidden);
}

function heads({ headDimension }: LlamaConfig, x: Vector): readonly Vector[] {
  const parts: Vector[] = [];
  for (let start = 0; start < x.length; start += headDimension) {
    parts.push(x.slice(start, start + headDimension));
  }
  return parts;
}

/** Neighbours as complex numbers, turned by position · base^(−2i/d). */
function rotated(
  { headDimension, ropeBase }: LlamaConfig,
  parts: readonly Vector[],
  position: number,
): readonly Vector[] {
  return parts.map((head) =>
    head.map((value, index) => {
      const pair = Math.floor(index / 2);
      const angle = position * ropeBase ** ((-2 * pair) / headDimension);
      return index % 2 === 0
        ? value * Math.cos(angle) - at(head, index + 1) * Math.sin(angle)
        : at(head, index - 1) * Math.sin(angle) + value * Math.cos(angle);
    }),
  );
}

function rmsNorm(x: Vector, weight: Vector, epsilon: number): Vector {
  const meanSquare = x.reduce((sum, value) => sum + value * value, 0) / x.length;
  return x.map((value, index) => (value / Math.sqrt(meanSquare + epsilon)) * at(weight, index));
}

function softmax(scores: Vector): Vector {
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

/** A matrix, row after row, times a vector. */
function times(matrix: Vector, x: Vector): Vector {
  const rows: number[] = [];
  for (let start = 0; start < matrix.length; start += x.length) {
    rows.push(x.reduce((sum, value, index) => sum + value * at(matrix, start + index), 0));
  }
  return rows;
}

function dot(a: Vector, b: Vector): number {
  return a.reduce((sum, value, index) => sum + value * at(b, index), 0);
}

function plus(a: Vector, b: Vector): Vector {
  return a.map((value, index) => value + at(b, index));
}

function at<Value>(values: readonly Value[], index: number): Value {
  const value = values[index];
  if (value === undefined) throw new Error(`Nothing at ${index} of ${values.length}.`);
  return value;
}
