import { expect, test } from 'vitest';
import * as z from 'zod';
import type { ActCall } from '../../../src/contracts/world.ts';
import { runTool } from '../../../src/environments/tools/running.ts';
import { declared, makeTool, type ToolSpec } from '../../../src/environments/tools/tool.ts';
import { manualClock } from '../../../src/testing/index.ts';

interface Db {
  readonly n: number;
}
type Options = Partial<Omit<Extract<ToolSpec<Db, object, object>, { effect: 'read' }>, 'run'>>;

const callOf = (signal = new AbortController().signal): ActCall => ({
  signal,
  clock: manualClock({ auto: true }),
  id: 'one',
});

const read = (run: (db: Db, input: object, call: ActCall) => unknown, options: Options = {}) =>
  declared(
    'look',
    makeTool<Db, object, object>({ effect: 'read', input: z.object({}), run, ...options }),
  );

const pure = (run: () => unknown) =>
  declared(
    'change',
    makeTool<Db, object, object>({ effect: 'pure', input: z.object({}), run: run as never }),
  );

const on = { db: { n: 1 }, parsed: {} };

const thrown = (value: unknown) => () => {
  throw value;
};

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

const returned: readonly (readonly [string, () => unknown, unknown])[] = [
  ['a value', () => ({ a: [1] }), { output: { a: [1] } }],
  ['nothing', () => undefined, { output: null }],
  ['a throw', thrown(new Error('No line.')), { error: 'No line.' }],
  ['a rejection', async () => thrown(new Error('No line.'))(), { error: 'No line.' }],
  ['a throw of no error', thrown({ code: 7 }), { error: '{"code":7}' }],
  [
    'a hang',
    () => new Promise(() => {}),
    { error: 'It took longer than 30000 ms, and was abandoned.', late: true },
  ],
  ['bytes', () => Buffer.alloc(300), { output: '[binary, 300 bytes]' }],
  ['a buffer', () => new ArrayBuffer(9), { output: '[binary, 9 bytes]' }],
  ['a cycle', () => cyclic, { error: 'It returned a value that JSON cannot hold: a cycle.' }],
  [
    'a function',
    () => () => 1,
    { error: 'It returned a value that JSON cannot hold: a function.' },
  ],
  ['a map', () => new Map(), { error: 'It returned a value that JSON cannot hold: a Map.' }],
  ['no number', () => Number.NaN, { error: 'It returned a value that JSON cannot hold: `NaN`.' }],
  [
    'a getter that throws',
    () => Object.defineProperty({}, 'a', { get: thrown('no'), enumerable: true }),
    { error: 'It returned a value that JSON cannot hold: what cannot be read.' },
  ],
  [
    'a promise that cannot be asked',
    () => Object.defineProperty({}, 'then', { get: thrown('no') }),
    { error: 'no' },
  ],
];

test.each(returned)('what a tool returns becomes a result: %s', async (_, run, expected) => {
  expect(await runTool(read(run), on, callOf())).toEqual(expected);
});

const noObject = { error: 'It did not return a plain object with `state` or `output`.' };
const bare = 'Expected an object with `state` or `output`, got one with `n`.';

const changes: readonly (readonly [string, () => unknown, unknown])[] = [
  ['both', () => ({ state: { n: 2 }, output: 'ok' }), { output: 'ok', data: { n: 2 } }],
  ['an output alone', () => ({ output: 'ok' }), { output: 'ok' }],
  ['no object', () => 'ok', noObject],
  ['a list', () => [], noObject],
  ['nothing of both', () => ({}), { output: null }],
  ['the data by themselves', () => ({ n: 2 }), { error: `${bare} Did you mean \`{ state: … }\`?` }],
  [
    'a state spread out beside an output',
    () => ({ n: 2, output: 'ok' }),
    { error: `${bare} It may have no others.` },
  ],
  ['nothing', () => undefined, noObject],
  [
    'a state that is no JSON',
    () => ({ state: new Set() }),
    { error: 'It returned a state that JSON cannot hold: a Set.' },
  ],
  [
    'a state that throws',
    () => Object.defineProperty({}, 'state', { get: thrown('no') }),
    { error: 'no' },
  ],
];

test.each(changes)('of a pure tool, a state and an output: %s', async (_, run, expected) => {
  expect(await runTool(pure(run), on, callOf())).toEqual(expected);
});

const lost = {
  error:
    'Only `pure` tools return a state: return the output itself, without `{ state, output }` around it.',
};

test.each([
  ['a state and an output', () => ({ state: { n: 2 }, output: 'ok' }), lost],
  ['an output in an object', () => ({ output: 'ok' }), lost],
  ['a promise of a state', async () => ({ state: { n: 2 } }), lost],
  ['more than an output', () => ({ output: 'ok', code: 0 }), { output: { output: 'ok', code: 0 } }],
] as const)('a tool that reads does not return a state: %s', async (_, run, expected) => {
  expect(await runTool(read(run), on, callOf())).toEqual(expected);
});

test('50 MB are cut, with the head and the tail left and the rest counted', async () => {
  const long = read(() => `<${'x'.repeat(50_000_000)}>`, { maxOutput: 10 });
  expect(await runTool(long, on, callOf())).toEqual({
    output: '<xxxx\n[… 49999992 characters left out …]\nxxxx>',
  });
  const object = read(() => ({ rows: ['ab', 'ab', 'ab'] }), { maxOutput: 12 });
  // {"rows":["ab","ab","ab"]} has 25 characters.
  expect(await runTool(object, on, callOf())).toEqual({
    output: '{"rows\n[… 13 characters left out …]\n"ab"]}',
  });
});

test('a cut leaves no half of a character', async () => {
  const foxes = read(() => '🦊'.repeat(50), { maxOutput: 6 });
  const cut = { output: '🦊\n[… 96 characters left out …]\n🦊' };
  expect(await runTool(foxes, on, callOf())).toEqual(cut);
});

test('a tool that is late is told by its signal', async () => {
  let told: unknown;
  const tool = read(
    (_db, _input, { signal }) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          told = signal.reason;
        });
      }),
    { timeoutMs: 50 },
  );
  expect(await runTool(tool, on, callOf())).toEqual({
    error: 'It took longer than 50 ms, and was abandoned.',
    late: true,
  });
  expect(told).toEqual(new Error('It took longer than 50 ms, and was abandoned.'));
});

test('only an abort of the search throws', async () => {
  const search = new AbortController();
  const tool = read(() => new Promise(() => search.abort(new Error('enough'))));
  await expect(runTool(tool, on, callOf(search.signal))).rejects.toThrow('enough');
  await expect(runTool(tool, on, callOf(search.signal))).rejects.toThrow('enough');
});
