import type { Decoded, DecodeItem, Prefix } from '../../src/backends/tiny/decoder.ts';
import type { EngineDecoder } from '../../src/backends/tiny/engine.ts';
import { seededRandom } from '../../src/base/random.ts';

/** What a fake decoder is asked to do. */
export interface FakeDecoderOptions {
  readonly vocabularySize: number;
  readonly contextLength?: number;
  /** The logits after a text. @defaultValue random ones, fixed by the text */
  readonly logitsAfter?: (tokens: readonly number[]) => Float32Array;
}

/** A decoder that knows every text, and watches how it is used. */
export interface FakeDecoder extends EngineDecoder {
  /** How many rows each batch computed. */
  readonly rows: readonly number[];
  /** How many items each batch had. */
  readonly items: readonly number[];
}

interface FakePrefix extends Prefix {
  readonly tokens: readonly number[];
}

/** Logits come from a function of the whole text; a text that was read once is cached for ever. */
export function fakeDecoder(options: FakeDecoderOptions): FakeDecoder {
  const { vocabularySize, contextLength = 128 } = options;
  const { logitsAfter = (tokens) => randomLogits(tokens, vocabularySize) } = options;
  const cached = new Set<string>();
  const withLogits = new Set<string>();
  const rows: number[] = [];
  const items: number[] = [];
  const root: FakePrefix = { length: 0, token: -1, tokens: [] };

  const newTokens = ({ prefix, tokens, wantLogits }: DecodeItem): readonly string[] => {
    const before = (prefix as FakePrefix).tokens;
    const texts = tokens.map((_, end) => [...before, ...tokens.slice(0, end + 1)].join(' '));
    const fresh = texts.filter((text) => !cached.has(text));
    const last = texts.at(-1);
    if (fresh.length > 0 || !wantLogits || last === undefined || withLogits.has(last)) return fresh;
    return [last];
  };
  const read = (item: DecodeItem): Decoded => {
    const before = item.prefix as FakePrefix;
    const tokens = [...before.tokens, ...item.tokens];
    if (tokens.length > contextLength) throw new Error('beyond the context');
    const prefix: FakePrefix = { length: tokens.length, token: tokens.at(-1) ?? -1, tokens };
    return { prefix, ...(item.wantLogits && { logits: logitsAfter(tokens) }) };
  };

  return {
    root,
    config: { contextLength, vocabularySize } as EngineDecoder['config'],
    rows,
    items,
    get stats() {
      const computed = rows.reduce((sum, count) => sum + count, 0);
      return { computed, reused: 0, evicted: 0, cached: cached.size, batches: rows.length };
    },
    pending: (item) => newTokens(item).length,
    decode(batch) {
      items.push(batch.length);
      let computed = 0;
      for (const item of batch) {
        const fresh = newTokens(item);
        computed += fresh.length;
        for (const text of fresh) cached.add(text);
        const text = [...(item.prefix as FakePrefix).tokens, ...item.tokens].join(' ');
        if (item.wantLogits) withLogits.add(text);
      }
      rows.push(computed);
      return batch.map(read);
    },
  };
}

function randomLogits(tokens: readonly number[], size: number): Float32Array {
  const random = seededRandom('logits').split(...tokens);
  return Float32Array.from({ length: size }, () => random.next() * 4);
}
