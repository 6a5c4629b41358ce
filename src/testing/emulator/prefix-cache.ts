import { tokensOf } from './tokens.ts';

/** The maximum number of prefixes kept; the oldest are dropped. */
const mostPrefixes = 200_000;

/** How a server reuses prefixes. */
export interface PrefixCacheOptions {
  /** The block size in tokens: only whole blocks are found again. */
  readonly block: number;
  /** The length of the shortest prefix that is found, in tokens. @defaultValue 0 */
  readonly least?: number;
}

/** The prompts that a server has read, to count the tokens that it need not read again. */
export class PrefixCache {
  private readonly prefixes = new Set<number>();
  private readonly options: PrefixCacheOptions;

  constructor(options: PrefixCacheOptions) {
    this.options = options;
  }

  /** The number of tokens of a prompt that were read before, except its last token, which is always read again. */
  cachedTokens(prompt: string): number {
    const tokens = tokensOf(prompt);
    let cached = 0;
    for (const { end, key } of blocksOf(tokens, this.options.block)) {
      if (end >= tokens.length || !this.prefixes.has(key)) break;
      cached = end;
    }
    return cached < (this.options.least ?? 0) ? 0 : cached;
  }

  /** Adds a text that was read or written. */
  add(text: string): void {
    for (const { key } of blocksOf(tokensOf(text), this.options.block)) {
      this.prefixes.delete(key);
      this.prefixes.add(key);
    }
    for (const oldest of this.prefixes) {
      if (this.prefixes.size <= mostPrefixes) break;
      this.prefixes.delete(oldest);
    }
  }
}

/** The ends of the whole blocks, each with a hash of everything before it. */
function* blocksOf(tokens: readonly string[], block: number) {
  let [high, low] = [0x811c9dc5, 0x01234567];
  for (const [index, token] of tokens.entries()) {
    for (let place = 0; place < token.length; place++) {
      high = Math.imul(high ^ token.charCodeAt(place), 0x01000193);
      low = Math.imul(low ^ token.charCodeAt(place), 0x5bd1e995);
    }
    // The boundaries of tokens are part of the prefix.
    high = Math.imul(high ^ 0x10000, 0x01000193);
    const end = index + 1;
    if (end % block === 0) yield { end, key: (high >>> 0) * 0x200000 + (low >>> 11) };
  }
}
