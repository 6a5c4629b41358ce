import type { LlamaConfig } from './llama-config.ts';
import { cos, exp, log, sin } from './numerics.ts';

/**
 * The angles of rotary positions: for each position the cosines of a head, each twice, then the sines, each preceded by
 * its negative. Pair i of a head is rotated by position · base ** (−2i / headDimension).
 *
 * @see Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021.
 */
export function ropeTable(config: LlamaConfig): Float32Array<ArrayBuffer> {
  const { contextLength, headDimension, ropeBase } = config;
  const table = new Float32Array(contextLength * headDimension * 2);
  for (let pair = 0; pair < headDimension / 2; pair++) {
    const frequency = exp((-2 * pair * log(ropeBase)) / headDimension);
    for (let position = 0; position < contextLength; position++) {
      const [cosine, sine] = [cos(position * frequency), sin(position * frequency)];
      const at = position * headDimension * 2 + pair * 2;
      table.set([cosine, cosine], at);
      table.set([-sine, sine], at + headDimension);
    }
  }
  return table;
}
