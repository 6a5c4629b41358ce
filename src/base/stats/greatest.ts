/** The place of the greatest number, of equal ones the first; −1 where there is none. */
export function greatest(numbers: readonly number[]): number {
  return numbers.indexOf(Math.max(...numbers));
}
