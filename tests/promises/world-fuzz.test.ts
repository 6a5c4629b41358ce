import { expect, test } from 'vitest';
import { fuzzWorlds } from './world-fuzz.ts';

test('the world is what the committed path makes it, wherever processes are killed', async () => {
  const { cases, kills, ends, faults } = await fuzzWorlds(
    Array.from({ length: 300 }, (_, seed) => seed),
  );

  expect(faults).toEqual([]);
  expect(cases).toBe(300);
  // The cases reach what they are about.
  expect(kills).toBeGreaterThan(300);
  expect(ends['committed']).toBeGreaterThan(150);
  expect(ends['unknown']).toBeGreaterThan(10);
});
