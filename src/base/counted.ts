/** A number of things, for people: `1 call`, `2 calls`. */
export function counted(count: number, noun: string, shown: number | string = count): string {
  return `${shown} ${noun}${count === 1 ? '' : 's'}`;
}
