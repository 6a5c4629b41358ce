/**
 * Lets methods be taken out of the objects of a class, as in `({ visit }) => …`: private fields would not be found. What
 * is taken is bound, and a copy of an object has none of it.
 *
 * @param names - The methods of `prototype`, with spaces between them.
 */
export function bindTakenOut(prototype: object, names: string): void {
  for (const name of names.split(' ')) {
    const method = Reflect.get(prototype, name) as (...given: unknown[]) => unknown;
    Object.defineProperty(prototype, name, {
      configurable: true,
      get(this: object) {
        return method.bind(this);
      },
    });
  }
}
