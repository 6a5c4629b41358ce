/**
 * The way to a place in a tree, shared by all ways that go on from there: the memory that copies take would grow with
 * the square of the depth.
 */
export interface Trail<Value> {
  /** The way to the place before; left out at the first. */
  readonly before: Trail<Value> | undefined;
  /** What was met last. */
  readonly last: Value;
}

/** What was met on the way, in order. */
export function listOf<Value>(trail: Trail<Value> | undefined): readonly Value[] {
  const met: Value[] = [];
  for (let at = trail; at !== undefined; at = at.before) met.push(at.last);
  return met.reverse();
}
