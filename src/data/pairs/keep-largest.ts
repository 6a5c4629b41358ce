/** The items with the largest margins, of equal ones the first, in the order in which they came. */
export function keepLargest<Item extends { readonly margin: number }>(
  items: readonly Item[],
  most: number = Number.POSITIVE_INFINITY,
): readonly Item[] {
  if (items.length <= most) return items;
  return items
    .map((item, place) => ({ item, place }))
    .toSorted((a, b) => b.item.margin - a.item.margin || a.place - b.place)
    .slice(0, most)
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
