import { EspalierError } from './errors.ts';

/**
 * Refuses an option that nobody knows, so that a slip of the pen does not pass for a default.
 *
 * @param owner - Whose options they are, as in code.
 */
export function expectOptions<Options extends object>(
  owner: string,
  options: Options,
  known: readonly (keyof Options & string)[],
): void {
  for (const name of Object.keys(options)) {
    if (known.some((each) => each === name)) continue;
    const [nearest] = known
      .map((each) => ({ each, distance: distanceBetween(name, each) }))
      .sort((a, b) => a.distance - b.distance);
    const isNear = nearest !== undefined && nearest.distance <= Math.ceil(name.length / 3);
    const hint = isNear ? `Did you mean \`${nearest.each}\`?` : `It has ${known.join(', ')}.`;
    throw new EspalierError('usage', `\`${owner}\` has no option \`${name}\`. ${hint}`);
  }
}

/** The edit distance of Levenshtein; letters alike but for their case cost nothing. */
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
