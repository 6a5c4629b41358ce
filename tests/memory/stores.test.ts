import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { ReflectionStore } from '../../src/contracts/memory.ts';
import { inMemoryStore, jsonLinesStore } from '../../src/memory/index.ts';
import { reflectionId } from '../../src/memory/reflection.ts';
import { describeReflectionStore } from './describe-reflection-store.ts';
import { reflection } from './reflections.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-stores-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** As a database would be: each answer takes a turn of the event loop. */
function slow(store: ReflectionStore): ReflectionStore {
  const turn = () =>
    new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  return {
    all: () => turn().then(() => store.all()),
    add: (reflections) => turn().then(() => store.add(reflections)),
  };
}

describeReflectionStore('in memory', inMemoryStore);
describeReflectionStore('in JSON lines', () =>
  jsonLinesStore(join(folder, `deep/${files++}/memory.jsonl`)),
);
describeReflectionStore('elsewhere', () => slow(inMemoryStore()));

test('an id is the address of kind, task, situation, action and outcome, and of nothing else', () => {
  const base = reflection();
  for (const field of ['task', 'situation', 'action', 'outcome'] as const) {
    expect(reflectionId({ ...base, [field]: 'other' })).not.toBe(base.id);
  }
  expect(reflectionId({ ...base, kind: 'value' })).not.toBe(base.id);
  expect(reflection({ lesson: 'Another.' }).id).toBe(base.id);
  expect(reflection({ source: { ...base.source, node: 9 } }).id).toBe(base.id);
  expect(base.id).toMatch(/^[\w-]{43}$/);
});
