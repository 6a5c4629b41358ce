/** Numbers as the base64 of 32-bit floats, the least significant byte first. */
export function base64Of(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [place, number] of numbers.entries()) bytes.writeFloatLE(number, place * 4);
  return bytes.toString('base64');
}
