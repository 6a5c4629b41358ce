import { describe, expect, test } from 'vitest';
import type { ReflectionStore } from '../../src/contracts/memory.ts';
import { reflection, reflections } from './reflections.ts';

/** The contract of a `ReflectionStore` as tests. */
export function describeReflectionStore(name: string, create: () => ReflectionStore): void {
  describe(`reflection store ${name}`, () => {
    test('is empty at first', async () => {
      expect(await create().all()).toEqual([]);
    });

    test('gives back what was added, the oldest first', async () => {
      const store = create();
      const [first, second, third] = reflections('b', 'a', 'c');
      await store.add([first, second].flatMap((one) => one ?? []));
      await store.add([third].flatMap((one) => one ?? []));
      expect(await store.all()).toEqual([first, second, third]);
    });

    test('leaves out what it holds, and what comes twice at once', async () => {
      const store = create();
      const known = reflection();
      await store.add([known]);
      await store.add([{ ...known, lesson: 'Another lesson of the same.' }]);
      const [twice = known] = reflections('twice');
      await store.add([twice, twice, known]);
      expect(await store.all()).toEqual([known, twice]);
    });

    test('adds nothing where there is nothing', async () => {
      const store = create();
      await store.add([]);
      expect(await store.all()).toEqual([]);
    });

    test('refuses one reflection without a list around it', async () => {
      const store = create();
      const add = async () => store.add(reflection() as never);
      await expect(add()).rejects.toThrow('Expected `reflections` to be an array, got ');
      expect(await store.all()).toEqual([]);
    });

    test('keeps every character', async () => {
      const store = create();
      const odd = reflection({ situation: 'line\nbreak \u2028 “quotes" \\ 日本 🌳', action: '' });
      await store.add([odd]);
      expect(await store.all()).toEqual([odd]);
    });

    test('does not let a list that was given change', async () => {
      const store = create();
      await store.add([reflection()]);
      const before = await store.all();
      await store.add(reflections('later'));
      expect(before).toHaveLength(1);
    });
  });
}
