import { Heap } from '../base/heap.ts';

/** The number of hashes that are kept: the count of up to that number of texts is exact. */
const kept = 4096;

/**
 * Counts the different texts among many, in memory that does not grow with their number: exactly up to 4,096, beyond that
 * within some 3 % (two standard errors), from how close together the smallest hashes lie.
 *
 * @see Bar-Yossef et al., "Counting distinct elements in a data stream", 2002, algorithm 1.
 */
export function distinctCounter(): {
  /** @param key - 52 bits of a hash of the text. */
  add(key: number): void;
  count(): number;
} {
  const known = new Set<number>();
  const largestFirst = new Heap<number>((one, other) => one > other);
  /** The smallest hash that is not kept. */
  let bound: number | undefined;
  let added = 0;
  return {
    add(key) {
      added += 1;
      if ((bound !== undefined && key >= bound) || known.has(key)) return;
      known.add(key);
      largestFirst.push(key);
      if (known.size <= kept) return;
      bound = largestFirst.pop() ?? key;
      known.delete(bound);
    },
    count: () =>
      bound === undefined ? known.size : Math.min(added, Math.round((kept / bound) * 2 ** 52)),
  };
}
