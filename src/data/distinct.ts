import { contentAddress } from '../base/canonical-json.ts';
import type { Message } from '../contracts/language-model.ts';

/** The first of each set of items with equal keys, in order, up to a limit. No item behind it is asked for. */
export function* distinct<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => unknown,
  limit: number = Number.POSITIVE_INFINITY,
): Generator<Item, void, undefined> {
  const seen = new Set<string>();
  for (const item of items) {
    const key = contentAddress(JSON.stringify(keyOf(item)));
    if (seen.has(key)) continue;
    seen.add(key);
    yield item;
    if (seen.size >= limit) return;
  }
}

/** The best of the items with equal keys, and the first of equally good ones, in the original order. */
export function bestOfEqual<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  goodness: (item: Item) => number,
): readonly Item[] {
  const kept = new Map<string, Item>();
  for (const item of items) {
    const key = keyOf(item);
    const known = kept.get(key);
    if (known !== undefined && goodness(known) >= goodness(item)) continue;
    // Put behind what came since.
    kept.delete(key);
    kept.set(key, item);
  }
  return [...kept.values()];
}

/** The key by which texts are distinguished: the space around a text does not count. */
export function keyOfTurns(turns: readonly Message[]): string {
  return JSON.stringify(turns.map((turn) => ({ ...turn, content: turn.content.trim() })));
}

/** The key by which rows with a completion are distinguished. */
export function textOfRow(
  row: Readonly<Record<'completion' | 'prompt', readonly Message[]>>,
): unknown {
  return [row.prompt, keyOfTurns(row.completion)];
}
