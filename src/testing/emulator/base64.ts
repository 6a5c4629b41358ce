/** Numbers as the base64 form of 32-bit floats, little-endian. */
export function base64Of(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [place, number] of numbers.entries()) bytes.writeFloatLE(number, place * 4);
  return bytes.toString('base64');
}
