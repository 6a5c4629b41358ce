import type { Reflection } from '../../src/contracts/memory.ts';
import { makeReflection } from '../../src/memory/reflection.ts';

/** A reflection that differs from others in what is given. */
export function reflection(changes: Partial<Omit<Reflection, 'id'>> = {}): Reflection {
  return makeReflection({
    kind: 'policy',
    task: 'open the door',
    situation: 'in the hall',
    action: 'push',
    outcome: 'it stays shut',
    lesson: 'Look at the handle before you push.',
    source: { environment: 'house', node: 3, expected: 0.9, realised: 0.1, model: 'test:writer' },
    ...changes,
  });
}

/** Several that differ in their situation. */
export function reflections(...situations: readonly string[]): readonly Reflection[] {
  return situations.map((situation) => reflection({ situation }));
}
