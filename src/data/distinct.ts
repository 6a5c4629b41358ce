import { contentAddress } from '../base/canonical-json.ts';

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

/** What tells rows with a completion apart. */
export function textOfRow({
  prompt,
  completion,
}: {
  prompt: unknown;
  completion: unknown;
}): unknown {
  return [prompt, completion];
}
