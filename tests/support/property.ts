import fc from 'fast-check';
import { test } from 'vitest';

/** Defines a test that holds for all values drawn from the arbitraries; its failure names the seed that repeats it. */
export function property<Values extends [unknown, ...unknown[]]>(
  arbitraries: { readonly [Place in keyof Values]: fc.Arbitrary<Values[Place]> },
  options: fc.Parameters<Values> = {},
) {
  return (name: string, holds: (...values: Values) => unknown): void =>
    test(name, () =>
      fc.assert(
        fc.asyncProperty<Values>(
          ...arbitraries,
          async (...values) => void (await holds(...values)),
        ),
        options,
      ),
    );
}
