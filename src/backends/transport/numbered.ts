import { countOf, fieldsOf } from './json.ts';

/** The numbers of a base64 text: 32-bit floats, the least significant byte first. `undefined` if it is none. */
export function floatsOf(base64: string): readonly number[] | undefined {
  const bytes = Buffer.from(base64, 'base64');
  const isWhole = bytes.length % 4 === 0 && bytes.toString('base64') === base64;
  if (!isWhole) return undefined;
  return Array.from({ length: bytes.length / 4 }, (_, place) => bytes.readFloatLE(place * 4));
}

/**
 * The items of a reply in the order of what was asked, whatever their order: by their `index`. `undefined`
 * stands for what has no answer, or two.
 */
export function byIndex(items: readonly unknown[], count: number): readonly unknown[] {
  const found: unknown[][] = Array.from({ length: count }, () => []);
  for (const item of items) {
    const index = countOf(fieldsOf(item)['index']);
    if (index !== undefined) found[index]?.push(item);
  }
  return found.map((answers) => (answers.length === 1 ? answers[0] : undefined));
}
