/** What the ends at and below a node returned. */
export interface SubtreeReturn {
  /** V(n), the mean of R over the ends. */
  readonly value: number;
  /** |leaves(n)|, how many ends there are: from 1 up. */
  readonly leaves: number;
}

/**
 * V(n) of all nodes, `V(n) = Σ R(ℓ) / |leaves(n)|` over the ends ℓ at and below n; `undefined` for a node without
 * one.
 *
 * @param parents - The parent of each node, by id; parents come before their children, and the first is the root,
 * whose entry is not looked at.
 * @param returns - R of each end, by id.
 */
export function subtreeReturns(
  parents: readonly number[],
  returns: ReadonlyMap<number, number>,
): readonly (SubtreeReturn | undefined)[] {
  const sums = parents.map((_, id) => returns.get(id) ?? 0);
  const leaves = parents.map((_, id): number => (returns.has(id) ? 1 : 0));
  for (let id = parents.length - 1; id > 0; id--) {
    const parent = parents[id] ?? 0;
    sums[parent] = (sums[parent] ?? 0) + (sums[id] ?? 0);
    leaves[parent] = (leaves[parent] ?? 0) + (leaves[id] ?? 0);
  }
  return leaves.map((count, id) =>
    count === 0 ? undefined : { value: (sums[id] ?? 0) / count, leaves: count },
  );
}
