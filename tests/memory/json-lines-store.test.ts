import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { jsonLinesStore, memory } from '../../src/memory/index.ts';
import { plainContext } from '../../src/testing/index.ts';
import { reflection, reflections } from './reflections.ts';

let folder = '';
let path = '';
const skipped: Parameters<
  NonNullable<NonNullable<Parameters<typeof jsonLinesStore>[1]>['onSkipped']>
>[0][] = [];
const open = () => jsonLinesStore(path, { onSkipped: (line) => skipped.push(line) });
const situations = () => open().all();
const names = () => situations().map(({ situation }) => situation);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'espalier-memory-'));
  path = join(folder, 'memory.jsonl');
  skipped.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a process that dies at any byte', () => {
  test('loses the line it was writing, and the next one writes on', () => {
    open().add(reflections('first'));
    const kept = readFileSync(path).length;
    open().add(reflections('söcond'));
    const whole = readFileSync(path);
    for (let length = kept; length < whole.length; length++) {
      writeFileSync(path, whole.subarray(0, length));
      expect(names(), `cut after ${length} bytes`).toEqual(['first']);
      open().add(reflections('third'));
      // All of the line but its end: it was there, and is again.
      const isWhole = length === whole.length - 1;
      expect(names()).toEqual(isWhole ? ['first', 'söcond', 'third'] : ['first', 'third']);
      expect(readFileSync(path, 'utf8').endsWith('}\n')).toBe(true);
    }
  });

  test('leaves a line that is counted once it has an end', () => {
    open().add(reflections('first'));
    appendFileSync(path, '{"id": "bro');
    const store = open();
    expect(store.all()).toHaveLength(1);
    expect(store.skipped).toBe(0);
    store.add(reflections('second'));
    expect(store.skipped).toBe(1);
    expect(skipped).toEqual([{ path, line: 2, fault: 'it is not JSON' }]);
  });
});

describe('lines from outside', () => {
  test('that are no reflections are left out, with the reason', () => {
    const sound = reflection();
    const { lesson: _, ...without } = sound;
    const lines = [
      'not JSON',
      JSON.stringify(without),
      JSON.stringify({ ...sound, kind: 'other' }),
      JSON.stringify({ ...sound, situation: 'changed by hand' }),
      '',
      JSON.stringify(sound),
      'null',
    ];
    writeFileSync(path, `${lines.join('\n')}\n`);
    const store = open();
    expect(store.all()).toEqual([sound]);
    expect(store.skipped).toBe(5);
    expect(skipped.map(({ line }) => line)).toEqual([1, 2, 3, 4, 7]);
    expect(skipped.map(({ fault }) => fault)).toEqual([
      'it is not JSON',
      expect.stringContaining('`lesson` is not as expected'),
      expect.stringContaining('`kind` is not as expected'),
      '`id` is not the address of its content',
      expect.stringContaining('it is not as expected'),
    ]);
    // Once.
    store.all();
    expect(store.skipped).toBe(5);
  });

  test('with fields of their own bring nothing in', () => {
    const sound = reflection();
    writeFileSync(path, `${JSON.stringify({ ...sound, extra: 1, __proto__: { evil: 1 } })}\n`);
    expect(open().all()).toEqual([sound]);
  });

  test('are refused when they are added', () => {
    expect(() => open().add([{ ...reflection(), situation: 'other' }])).toThrow(
      'Expected a valid reflection, got one in which `id` is not the address of its content.',
    );
    expect(existsSync(path)).toBe(false);
  });
});

describe('a file that changes', () => {
  test('is read on from where it was', () => {
    const [mine, other] = [open(), open()];
    mine.add(reflections('a'));
    other.add(reflections('b'));
    mine.add(reflections('c'));
    expect(mine.all()).toHaveLength(3);
    expect(other.all()).toEqual(mine.all());
  });

  test('is read anew where it was replaced or cut', () => {
    const store = open();
    store.add(reflections('a', 'b'));
    const [first] = readFileSync(path, 'utf8').split('\n');
    writeFileSync(`${path}.new`, `${first}\n`);
    renameSync(`${path}.new`, path);
    expect(store.all()).toHaveLength(1);
    const longer = jsonLinesStore(`${path}.longer`);
    longer.add(reflections('x', 'y', 'z'));
    renameSync(longer.path, path);
    expect(store.all().map(({ situation }) => situation)).toEqual(['x', 'y', 'z']);
    writeFileSync(path, '');
    expect(store.all()).toEqual([]);
    rmSync(path);
    expect(store.all()).toEqual([]);
    store.add(reflections('c'));
    expect(names()).toEqual(['c']);
  });
});

test('a folder in its place is told in one sentence', () => {
  const store = jsonLinesStore(folder);
  expect(() => store.all()).toThrow(expect.objectContaining({ code: 'storage' }));
});

/** A process that waits for a word to begin. */
async function writer(name: string, count: number): Promise<ChildProcess> {
  const script = join(import.meta.dirname, 'write-reflections.ts');
  const args = ['--import', 'tsx', script, path, name, String(count)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

describe('several processes', () => {
  test('write at once, and nothing is lost', async () => {
    const writers = await Promise.all([writer('left', 60), writer('right', 60)]);
    const ended = writers.map((child) => once(child, 'exit'));
    for (const child of writers) child.stdin?.write('go\n');
    const codes = (await Promise.all(ended)).map(([code]) => code as unknown);
    expect(codes).toEqual([0, 0]);
    const store = open();
    expect(store.all()).toHaveLength(121);
    expect(store.skipped).toBe(0);
    for (const name of ['left', 'right']) {
      const numbers = names()
        .filter((one) => one.startsWith(name))
        .map((one) => Number(one.split(' ')[1]));
      expect(numbers).toEqual(Array.from({ length: 60 }, (_, number) => number));
    }
  }, 30_000);

  test('that are killed leave nothing broken behind', async () => {
    const child = await writer('killed', 100_000);
    const exit = once(child, 'exit');
    child.stdin?.write('go\n');
    while (!existsSync(path) || readFileSync(path).length < 20_000) await turn();
    child.kill('SIGKILL');
    await exit;
    const store = open();
    const before = store.all();
    expect(before.length).toBeGreaterThan(10);
    store.add(reflections('after'));
    expect(names()).toEqual([...before.map(({ situation }) => situation), 'after']);
  }, 30_000);

  test('remember for one another', async () => {
    const child = await writer('from another process', 1);
    const exit = once(child, 'exit');
    child.stdin?.write('go\n');
    await exit;
    const found = await memory({ store: open() }).recall(
      { kind: 'policy', task: 'open the door', situation: 'shared' },
      plainContext(),
    );
    expect(found.map(({ reflection: { situation } }) => situation)[0]).toBe('shared');
    expect(found[0]?.reflection.source.model).toBe('test:writer');
  }, 30_000);
});

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
