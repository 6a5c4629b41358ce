import { EspalierError } from './errors.ts';
import { describeValue } from './expect.ts';

/**
 * Refuses an option that nobody knows, so that a slip of the pen does not pass for a default, and options that are no
 * object.
 *
 * @param owner - Whose options they are, as in code.
 * @param known - The names of its options, with spaces between them.
 */
export function expectOptions(owner: string, options: unknown, known: string): void {
  if (typeof options !== 'object' || options === null) {
    const message = `Expected the options of \`${owner}\` to be an object, got ${describeValue(options)}.`;
    throw new EspalierError('usage', message);
  }
  const names = namesIn(known);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const distances = names.map((name) => distanceBetween(unknown, name));
  const least = Math.min(...distances);
  const isNear = least <= Math.ceil(unknown.length / 3);
  const hint = isNear
    ? `Did you mean \`${names[distances.indexOf(least)]}\`?`
    : `It has ${names.join(', ')}.`;
  throw new EspalierError('usage', `\`${owner}\` has no option \`${unknown}\`. ${hint}`);
}

const lists = new Map<string, readonly string[]>();

/** Split once: some are looked at in every simulation. */
function namesIn(known: string): readonly string[] {
  let names = lists.get(known);
  if (names === undefined) {
    names = known.split(' ');
    lists.set(known, names);
  }
  return names;
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
