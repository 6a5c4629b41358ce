/**
 * Allows methods to be destructured from the objects of a class, as in `({ visit }) => …`, which private fields would
 * otherwise prevent. The methods are bound, and a copy of an object does not have them.
 *
 * @param names - The methods of `prototype`, separated by spaces.
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
