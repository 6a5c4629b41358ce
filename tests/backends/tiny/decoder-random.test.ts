import fc from 'fast-check';
import { expect } from 'vitest';
import { Decoder, type Prefix } from '../../../src/backends/tiny/decoder.ts';
import type { LlamaFile } from '../../../src/backends/tiny/gguf.ts';
import { property } from '../../support/property.ts';
import { readRandomLlama } from '../../support/temporary-gguf.ts';

/** One layer, a key and a value of 16 numbers each; 369 logits. */
const [slotBytes, logitsBytes] = [2 * 16 * 4, 369 * 4];

let model: Promise<LlamaFile> | undefined;

const token = fc.integer({ min: 1, max: 3 });
const item = fc.record({
  /** Which of the prefixes that were met; 0 is the root. */
  from: fc.nat(),
  tokens: fc.array(token, { minLength: 1, maxLength: 4 }),
});
const step = fc.record({
  items: fc.array(item, { minLength: 1, maxLength: 4 }),
  retain: fc.option(fc.nat(), { nil: undefined }),
  release: fc.boolean(),
});

property([fc.array(step, { maxLength: 25 }), fc.integer({ min: 8, max: 40 })], { numRuns: 40 })(
  'whatever is read, kept and given up, the logits stay the same',
  async (steps, slots) => {
    model ??= readRandomLlama({ blockCount: 1 });
    const file = await model;
    const decoder = new Decoder(file, slots * slotBytes + 2 * logitsBytes);
    const met: { readonly text: readonly number[]; readonly prefix: Prefix }[] = [
      { text: [], prefix: decoder.root },
    ];
    const kept: Prefix[] = [];
    const pick = (index: number) => met[index % met.length] ?? { text: [], prefix: decoder.root };
    for (const { items, retain, release } of steps) {
      const asked = items.map(({ from, tokens }) => ({ ...pick(from), tokens }));
      const batch = asked.filter(({ text, tokens }) => text.length + tokens.length <= 6);
      const decoded = decoder.decode(
        batch.map(({ prefix, tokens }) => ({ prefix, tokens, wantLogits: true })),
      );
      for (const [index, { text, tokens }] of batch.entries()) {
        const whole = [...text, ...tokens];
        const { prefix = decoder.root, logits } = decoded[index] ?? {};
        expect([prefix.length, prefix.token]).toEqual([whole.length, whole.at(-1)]);
        expect(logits).toEqual(logitsOf(file, whole));
        met.push({ text: whole, prefix });
      }
      // One may be retained at a time: with it and the six of an item the smallest cache is full.
      if (release || kept.length > 0) for (const prefix of kept.splice(0)) decoder.release(prefix);
      if (retain !== undefined && pick(retain).text.length <= 2) {
        kept.push(pick(retain).prefix);
        decoder.retain(pick(retain).prefix);
      }
      expect(decoder.stats.cached).toBeLessThanOrEqual(slots + (2 * logitsBytes) / slotBytes);
    }
  },
);

let roomy: Decoder | undefined;

/** By a decoder that never gives anything up. */
function logitsOf(file: LlamaFile, tokens: readonly number[]): Float32Array | undefined {
  roomy ??= new Decoder(file);
  const [decoded] = roomy.decode([{ prefix: roomy.root, tokens, wantLogits: true }]);
  return decoded?.logits;
}
