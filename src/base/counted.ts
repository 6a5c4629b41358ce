/** A number of things as text: `1 call`, `2 calls`, `2 searches`. */
export function counted(count: number, noun: string, shown: number | string = count): string {
  const ending = /(?:ch|sh|s|x)$/.test(noun) ? 'es' : 's';
  return `${shown} ${noun}${count === 1 ? '' : ending}`;
}
