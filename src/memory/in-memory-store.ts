import { expectArray } from '../base/expect.ts';
import type { Reflection, ReflectionStore } from '../contracts/memory.ts';

/** Keeps reflections for the lifetime of the process. */
export function inMemoryStore(): ReflectionStore {
  const kept = new Map<string, Reflection>();
  return {
    all: () => [...kept.values()],
    add(reflections) {
      expectArray('reflections', reflections);
      for (const reflection of reflections) {
        if (!kept.has(reflection.id)) kept.set(reflection.id, reflection);
      }
    },
  };
}
