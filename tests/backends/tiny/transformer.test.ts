import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Decoder } from '../../../src/backends/tiny/decoder.ts';
import type { LlamaFile } from '../../../src/backends/tiny/gguf.ts';
import type { RandomLlamaOptions } from '../../support/random-llama.ts';
import { referenceLogits } from '../../support/reference-llama.ts';
import { readRandomLlama } from '../../support/temporary-gguf.ts';

const text = [1, 300, 17, 42, 42, 5, 260, 261, 262, 300, 2, 99];

const shapes: readonly (RandomLlamaOptions & { readonly name: string })[] = [
  { name: 'grouped queries, tied output' },
  { name: 'a key head for each query head', headCountKv: 4 },
  { name: 'one key head for all', headCountKv: 1 },
  { name: 'an output of its own', tied: false },
  { name: 'one layer', blockCount: 1 },
  { name: 'another base of rotation', ropeBase: 500 },
  {
    name: 'odd widths',
    embeddingLength: 60,
    headCount: 5,
    headCountKv: 5,
    feedForwardLength: 44,
    vocabularySize: 373,
  },
  { name: 'wide heads', embeddingLength: 64, headCount: 2, headCountKv: 1 },
  { name: 'q8_0', encoding: 'q8_0' },
  { name: 'f16', encoding: 'f16' },
];

test.each(shapes)('agrees with the plain formulas: $name', async ({ name: _, ...options }) => {
  const file = await readRandomLlama(options);
  const wanted = referenceLogits(file.config, file.tensors, text);
  const found = stepwise(file);
  for (const [position, logits] of wanted.entries()) {
    expect(largestDifference(found[position] ?? [], logits)).toBeLessThan(2e-5);
  }
});

test('the bits are those of every platform', async () => {
  const file = await readRandomLlama({ encoding: 'q8_0', contextLength: 512 });
  const hash = createHash('sha256');
  for (const logits of stepwise(file)) hash.update(Buffer.from(Float32Array.from(logits).buffer));
  expect(hash.digest('hex')).toMatchInlineSnapshot(
    `"78742b40645a042cdbfcfea7061808f3f5c24939eafc3fee06e352eada30d42d"`,
  );
});

/** The logits after each token, read one by one. */
function stepwise(file: LlamaFile): readonly ArrayLike<number>[] {
  const decoder = new Decoder(file);
  let prefix = decoder.root;
  return text.map((token) => {
    const [decoded] = decoder.decode([{ prefix, tokens: [token], wantLogits: true }]);
    prefix = decoded?.prefix ?? decoder.root;
    return decoded?.logits ?? [];
  });
}

function largestDifference(left: ArrayLike<number>, right: ArrayLike<number>): number {
  expect(left.length).toBe(right.length);
  return Math.max(...Array.from(left, (value, index) => Math.abs(value - (right[index] ?? 0))));
}
