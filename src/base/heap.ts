/** A binary heap: the first item in an order comes out first. */
export class Heap<Item> {
  readonly #items: Item[] = [];
  readonly #precedes: (one: Item, other: Item) => boolean;

  /** @param precedes - The order, which must be total. */
  constructor(precedes: (one: Item, other: Item) => boolean) {
    this.#precedes = precedes;
  }

  push(item: Item): void {
    const items = this.#items;
    let hole = items.push(item) - 1;
    while (hole > 0) {
      const above = (hole - 1) >> 1;
      const parent = items[above];
      if (parent === undefined || !this.#precedes(item, parent)) break;
      items[hole] = parent;
      hole = above;
    }
    items[hole] = item;
  }

  pop(): Item | undefined {
    const items = this.#items;
    const [first] = items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let hole = 0;
    for (;;) {
      const below = this.#firstChild(hole);
      const child = items[below];
      if (child === undefined || !this.#precedes(child, last)) break;
      items[hole] = child;
      hole = below;
    }
    items[hole] = last;
    return first;
  }

  #firstChild(place: number): number {
    const left = 2 * place + 1;
    const [one, other] = [this.#items[left], this.#items[left + 1]];
    const isOther = one !== undefined && other !== undefined && this.#precedes(other, one);
    return isOther ? left + 1 : left;
  }
}
