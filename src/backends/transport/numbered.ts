import { countOf, fieldsOf } from './json.ts';

/** The numbers in a base64 text: 32-bit floats, little-endian. `undefined` if it is invalid. */
export function floatsOf(base64: string): readonly number[] | undefined {
  const bytes = Buffer.from(base64, 'base64');
  const isWhole = bytes.length % 4 === 0 && bytes.toString('base64') === base64;
  if (!isWhole) return undefined;
  return Array.from({ length: bytes.length / 4 }, (_, place) => bytes.readFloatLE(place * 4));
}

/**
 * The items of a reply in the order of the request, by their `index`. `undefined` stands for an item without an answer,
 * or with two.
 */
export function byIndex(items: readonly unknown[], count: number): readonly unknown[] {
  const found: unknown[][] = Array.from({ length: count }, () => []);
  for (const item of items) {
    const index = countOf(fieldsOf(item)['index']);
    if (index !== undefined) found[index]?.push(item);
  }
  return found.map((answers) => (answers.length === 1 ? answers[0] : undefined));
}
