import type { Call } from '../dialect.ts';
import { hashedName } from '../hash.ts';
import { countTokens } from '../tokens.ts';
import type { Block } from './anthropic-request.ts';

/** The number of blocks before a breakpoint in which an entry is looked up. */
const lookBack = 20;

/** The tokens of a prompt as billed by Anthropic. */
export interface CachedPrompt {
  /** All of them. */
  readonly input: number;
  /** Read from the cache. */
  readonly cached: number;
  /** Written to the cache. */
  readonly cacheWrite: number;
  /** The written tokens that are kept for an hour. */
  readonly forAnHour: number;
}

/**
 * Counts a prompt against the cache. A prefix can be read once the reply to the request that wrote it has been sent, so
 * concurrent requests all write.
 */
export function countCached({ service, exchange }: Call, blocks: readonly Block[]): CachedPrompt {
  const prefixes = blocks.map((_, place) => textOf(blocks.slice(0, place + 1)));
  const breakpoints = blocks.flatMap(({ keep }, place) => (keep === undefined ? [] : [place]));
  const found = breakpoints
    .flatMap((place) => prefixes.slice(Math.max(0, place + 1 - lookBack), place + 1))
    .filter((prefix) => service.kept.has(keyOf(prefix)));
  const longest = found.reduce((best, prefix) => (prefix.length > best.length ? prefix : best), '');
  const cached = countTokens(longest);
  const last = breakpoints.at(-1);
  const cacheWrite =
    last === undefined ? 0 : Math.max(0, countTokens(prefixes[last] ?? '') - cached);

  const written = breakpoints.map((place) => keyOf(prefixes[place] ?? ''));
  exchange.afterwards.push(() => {
    for (const key of written) service.kept.add(key);
  });
  // The mark at the start of the answer is also a token.
  const input = countTokens(textOf(blocks)) + 1;
  const isForAnHour = last !== undefined && blocks[last]?.keep === '1h';
  return { input, cached, cacheWrite, forAnHour: isForAnHour ? cacheWrite : 0 };
}

function textOf(blocks: readonly Block[]): string {
  return blocks.map(({ text }) => text).join('');
}

function keyOf(prefix: string): string {
  return hashedName('first', prefix) + hashedName('second', prefix);
}
