/** A rival that dies in the middle of its line, in the moment between our look at the file and our write. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { reflection, reflections } from './reflections.ts';

const rival = { writes: [] as string[], cuts: [] as number[] };
vi.doMock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return {
    ...fs,
    openSync(path: string, flags: string) {
      const text = flags === 'a' ? rival.writes.shift() : undefined;
      if (text !== undefined) fs.appendFileSync(path, text);
      return fs.openSync(path, flags);
    },
    writeSync(file: number, bytes: Uint8Array) {
      const cut = rival.cuts.shift() ?? Number.POSITIVE_INFINITY;
      if (cut < 0) throw new Error('ENOSPC: no space left on device, write');
      return fs.writeSync(file, bytes.subarray(0, Math.min(cut, bytes.length)));
    },
  };
});

// Modules are shared by all files of a process: the store is loaded anew, on the file system with a rival.
vi.resetModules();
const { jsonLinesStore } = await import('../../src/memory/index.ts');
afterAll(() => {
  vi.doUnmock('node:fs');
  vi.resetModules();
});

const folder = mkdtempSync(join(tmpdir(), 'espalier-rival-'));
const path = join(folder, 'memory.jsonl');
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  rmSync(path, { force: true });
  rival.writes = [];
  rival.cuts = [];
});

test('costs no line of ours', () => {
  const store = jsonLinesStore(path, { onSkipped: () => {} });
  store.add([reflection()]);
  rival.writes.push('{"id": "half');
  store.add(reflections('ours'));
  expect(store.all()).toHaveLength(2);
  expect(store.skipped).toBe(1);
  expect(jsonLinesStore(path, { onSkipped: () => {} }).all()).toEqual(store.all());
});

test('and a write that was cut short is made again', () => {
  const store = jsonLinesStore(path, { onSkipped: () => {} });
  rival.cuts = [10];
  store.add(reflections('ours'));
  expect(store.all()).toHaveLength(1);
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(3);
});

test('but one that never arrives is an error', () => {
  rival.writes.push('{"half', '{"half again');
  expect(() =>
    jsonLinesStore(path, { onSkipped: () => {} }).add(reflections('ours')),
  ).not.toThrow();
  rmSync(path);
  rival.cuts = [0, 0];
  expect(() => jsonLinesStore(path).add(reflections('ours'))).toThrow(
    `The memory \`${path}\` could not be used: what was written to it can no longer be found.`,
  );
  expect(rival.cuts).toEqual([]);
});

test('and so is a full disk, in one sentence', () => {
  rival.cuts = [-1];
  expect(() => jsonLinesStore(path).add([reflection()])).toThrow(
    expect.objectContaining({
      code: 'storage',
      message: `The memory \`${path}\` could not be used: ENOSPC: no space left on device, write.`,
    }),
  );
});
