/**
 * Those for which nothing is better without costing more: dearer only if also better, cheapest first. Of equals the first
 * one stands for all.
 */
export function paretoFront<Item>(
  items: readonly Item[],
  measure: (item: Item) => { readonly cost: number; readonly gain: number },
): readonly Item[] {
  const sorted = items.toSorted((a, b) => {
    const [one, other] = [measure(a), measure(b)];
    return one.cost - other.cost || other.gain - one.gain;
  });
  let best = Number.NEGATIVE_INFINITY;
  return sorted.filter((item) => {
    const { gain } = measure(item);
    if (gain <= best) return false;
    best = gain;
    return true;
  });
}
