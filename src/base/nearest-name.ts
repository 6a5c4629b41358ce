/**
 * The name that was most likely meant, if one is similar to what was written.
 *
 * @param most - How many letters may differ.
 */
export function nearestName(
  written: string,
  names: readonly string[],
  most: number = Math.ceil(written.length / 3),
): string | undefined {
  // The first letter is rarely the wrong one: of names that are equally near, one that starts alike was meant.
  const start = written.charAt(0).toLowerCase();
  const distances = names.map(
    (name) => distanceBetween(written, name) + (name.toLowerCase().startsWith(start) ? 0 : 0.5),
  );
  const least = Math.min(...distances);
  return Math.floor(least) <= most ? names[distances.indexOf(least)] : undefined;
}

/** The Levenshtein distance; differences in case cost nothing. */
function distanceBetween(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let at = 1; at <= a.length; at++) {
    const next = [at];
    for (let to = 1; to <= b.length; to++) {
      const change = (row[to - 1] ?? 0) + (a[at - 1] === b[to - 1] ? 0 : 1);
      next.push(Math.min(change, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
