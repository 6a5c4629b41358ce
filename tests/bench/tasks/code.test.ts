import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/base/random.ts';
import { drawCode } from '../../../src/bench/tasks/code-problems.ts';
import { inThread, runInSandbox } from '../../../src/bench/tasks/sandbox.ts';
import { taskNamed } from '../../../src/bench/tasks/tasks.ts';
import type { CodeState } from '../../../src/bench/tasks/written-code.ts';
import { plainContext } from '../../../src/testing/index.ts';

/** What a text says, as JavaScript that was written from the words alone. */
const meanings: readonly (readonly [RegExp, (n: string) => string])[] = [
  [
    /keep only the numbers that (\d+) divides/,
    (n) => `for (const x of a) if (x % ${n} == 0) b.push(x);`,
  ],
  [/keep only the numbers above (-?\d+)/, (n) => `for (const x of a) if (x > ${n}) b.push(x);`],
  [/multiply each number by (\d+)/, (n) => `for (const x of a) b.push(x * ${n} + 0);`],
  [/take (\d+) from each/, (n) => `for (const x of a) b.push(x - ${n});`],
  [/its place in the list/, () => 'let i = 0; for (const x of a) b.push(x + i++);'],
  [/sum of it and all/, () => 'let s = 0; for (const x of a) b.push(s += x);'],
  [/drop each number that has occurred/, () => 'for (const x of a) if (!b.includes(x)) b.push(x);'],
  [/sort the numbers from the greatest/, () => 'b = [...a].sort((x, y) => y - x);'],
  [/reverse the list/, () => 'for (const x of a) b.unshift(x);'],
  [/at even places/, () => 'for (let i = 0; i < a.length; i += 2) b.push(a[i]);'],
  [/return the list/, () => 'return a;'],
  [/return the sum/, () => 'let s = 0; for (const x of a) s += x; return s;'],
  [/return how many/, () => 'return a.length;'],
  [/return the greatest/, () => 'if (!a.length) return -1; return Math.max(...a);'],
];

function written(text: string): string {
  const steps = [...text.matchAll(/^\d+\. (.*)$/gm)].map(([, step = '']) => {
    const found = meanings.find(([pattern]) => pattern.test(step));
    if (found === undefined) throw new Error(`Nobody knows: ${step}`);
    return `{ let b = []; ${found[1](found[0].exec(step)?.[1] ?? '')} a = b; }`;
  });
  return `function solve(a) { ${steps.join('\n')} }`;
}

async function drawn(limit: number, seed: number | string = 0) {
  return (await taskNamed('code')).instances({ seed, limit });
}

const stateOf = (code: string): CodeState => ({ text: '', attempts: 1, code });

test('a function that was written from the words passes all tests, and is an end', async () => {
  const instances = await drawn(8);
  expect(new Set(instances.map(({ id }) => id)).size).toBe(8);
  for (const { environment, oracle } of instances) {
    const { state } = await environment.reset(plainContext());
    const code = written(state.text);
    const next = await environment.step(state, code, plainContext());
    expect(next, `${state.text}\n${next.state.report}`).toMatchObject({
      terminal: true,
      reward: 1,
      answer: true,
    });
    expect(await oracle?.label(next.state, plainContext())).toEqual({ correct: true, score: 1 });
  }
}, 60_000);

test('the stages are drawn from the seed, and the hidden tests are others than those that are shown', async () => {
  const texts = async (seed: string, limit = 10) =>
    Promise.all(
      (await drawn(limit, seed)).map(
        async ({ environment }) => (await environment.reset(plainContext())).state,
      ),
    );
  expect(await texts('a')).toEqual(await texts('a'));
  expect(await texts('a', 4)).toEqual((await texts('a')).slice(0, 4));
  expect(await texts('a')).not.toEqual(await texts('b'));
  const { visible, hidden } = drawCode(seededRandom('split'), 3);
  expect([visible.length, hidden.length]).toEqual([3, 12]);
  expect(hidden[0]?.input).toEqual([]);
  const shown = visible.map(({ input }) => JSON.stringify(input));
  expect(hidden.filter(({ input }) => shown.includes(JSON.stringify(input)))).toEqual([]);
});

test('what only passes the tests that are shown is an end for the search, and wrong', async () => {
  const [instance] = await drawn(1);
  const { state } = (await instance?.environment.reset(plainContext())) ?? {};
  const shown = [...state.text.matchAll(/^solve\((.*)\) is (.*)$/gm)];
  expect(shown).toHaveLength(3);
  const table = Object.fromEntries(
    shown.map(([, input = '', output = '']) => [input, JSON.parse(output)]),
  );
  const code = `const solve = (a) => (${JSON.stringify(table)})[JSON.stringify(a)];`;
  const next = await instance?.environment.step(state, code, plainContext());
  expect(next).toMatchObject({ terminal: true, reward: 1 });
  const verdict = await instance?.oracle?.label(next?.state, plainContext());
  expect(verdict?.correct).toBe(false);
});

test.each([
  ['an example at its end', (code: string) => `${code}\nconsole.log(solve([1, 2]));`],
  ['output inside', (code: string) => code.replace('{', '{ console.table(a);')],
  ['`module.exports`', (code: string) => `${code}\nmodule.exports = solve;`],
  ['an object in `module.exports`', (code: string) => `${code}\nmodule.exports = { solve };`],
  ['`exports.solve`', (code: string) => `${code}\nexports.solve = solve;`],
  ['`export` behind a comment', (code: string) => `// It is this:\nexport ${code}`],
  ['`export` behind a helper', (code: string) => `export const half = 2;\nexport ${code}`],
  ['a list of exports', (code: string) => `${code}\nexport { solve, solve as default };`],
  ['a default function', (code: string) => `// It is this:\nexport default ${code}`],
  ['a default at its end', (code: string) => `${code}\nexport default solve;`],
  [
    'a copy of its list',
    (code: string) => code.replace('{', '{ a = structuredClone({ a: [a] }).a[0];'),
  ],
])('a right function with %s is right', async (_what, changed) => {
  const [instance] = await drawn(1);
  const { state } = (await instance?.environment.reset(plainContext())) ?? {};
  const code = changed(written(state.text));
  const next = await instance?.environment.step(state, code, plainContext());
  expect(next?.state.report).toEqual(Array(3).fill(expect.stringMatching(/ is right$/)));
});

test('a function that fails may be written anew, three times, with what the tests said', async () => {
  const [instance] = await drawn(1);
  let state = (await instance?.environment.reset(plainContext()))?.state;
  for (let attempt = 1; attempt <= 4; attempt++) {
    const next = await instance?.environment.step(
      state,
      `function solve() { return ${attempt + 900}; }`,
      plainContext(),
    );
    state = next?.state;
    expect(next?.answer).toBe(true);
    expect([next?.terminal, next?.reward]).toEqual(
      attempt < 4 ? [undefined, undefined] : [true, 0],
    );
  }
  const prompt = JSON.stringify(instance?.environment.notation?.prompt(state));
  expect(prompt).toContain('should be');
  expect(prompt).toContain('got 904');
});

const fence = '```';
const solve = 'function solve(a) {\n  return a;\n}';
const helper = 'const half = (a) => a / 2;';

test.each([
  ['a label behind a space', `${fence} js\n${solve}\n${fence}`, solve],
  ['a space behind the label', `${fence}js \n${solve}\n${fence}`, solve],
  ['lines of Windows', `${fence}js\n${solve}\n${fence}`.replaceAll('\n', '\r\n'), solve],
  ['tildes', `~~~js\n${solve}\n~~~`, solve],
  ['four backticks', `${fence}\`js\n${solve}\n${fence}\``, solve],
  ['a title', `${fence}js title="a.js"\n${solve}\n${fence}`, solve],
  ['braces', `${fence}{js}\n${solve}\n${fence}`, solve],
  ['an answer that was cut off', `Here:\n${fence}js\n${solve}`, solve],
  [
    'an item of a list',
    `1. Code:\n   ${fence}js\n   ${solve.replaceAll('\n', '\n   ')}\n   ${fence}`,
    solve,
  ],
  [
    'an example before it',
    `${fence}js\nsolve([1]) // [1]\n${fence}\nSo:\n${fence}js\n${solve}\n${fence}`,
    solve,
  ],
  [
    'an example after it',
    `${fence}js\n${solve}\n${fence}\nFor example:\n${fence}js\nsolve([1]);\n${fence}`,
    solve,
  ],
  [
    'a helper before it',
    `${fence}js\n${helper}\n${fence}\n${fence}js\n${solve}\n${fence}`,
    `${helper}\n${solve}`,
  ],
  [
    'a fence in a text',
    `${fence}js\n/*\n    ${fence}\n*/\n${solve}\n${fence}`,
    `/*\n    ${fence}\n*/\n${solve}`,
  ],
  ['a body without its name', `${fence}js\n  return a;\n${fence}`, '  return a;'],
])('code is read from a block with %s', async (_what, text, action) => {
  const [instance] = await drawn(1);
  expect(instance?.environment.notation?.parse(text, undefined)).toEqual({ action });
});

test('code is read from a block, or bare', async () => {
  const [instance] = await drawn(1);
  const read = (text: string) => instance?.environment.notation?.parse(text, undefined);
  const action = 'function solve(a) {\n  return a;\n}';
  expect(read(instance?.environment.notation?.format(action) ?? '')).toEqual({ action });
  expect(read(`Here it is:\n\`\`\`javascript\n${action}\n\`\`\`\nThat is all.`)).toEqual({
    action,
  });
  expect(read(action)).toEqual({ action });
  expect(read('I cannot.')).toMatchObject({ failure: { kind: 'parse' } });
  expect(read(`solve${'x'.repeat(20_000)}`)).toMatchObject({ failure: { kind: 'parse' } });
});

describe('the sandbox', () => {
  const run = async (code: string, call = 'solve()') => (await runInSandbox(code, [call]))[0];

  test.each([
    ['process', 'typeof process'],
    ['require', 'typeof require'],
    ['a module', 'typeof importScripts + typeof fetch + typeof setTimeout'],
    [
      'the constructor of the host',
      "(() => { try { return typeof (function(){}).constructor('return process')() } catch { return 'undefined' } })()",
    ],
    ['a clock', 'typeof Date + typeof Math.random'],
  ])('has no %s', async (_what, expression) => {
    const found = await run(`const solve = () => ${expression};`);
    expect(found).toEqual({ value: expect.stringMatching(/^"(?:undefined)+"$/) });
  });

  test.each([
    ['an endless loop', 'while (true) {}', /^InternalError: interrupted/],
    [
      'all memory',
      'let a = []; while (true) a.push(new Array(1e5).fill(1));',
      /^InternalError: out of memory$/,
    ],
    ['recursion', 'const f = () => f() + 1; f();', /stack|InternalError|RangeError/],
    ['no JavaScript', 'def solve(a): return a', /^SyntaxError/],
    ['an exception', 'function solve() { throw new TypeError("no"); }', /^TypeError: no$/],
    ['another name', 'const other = 1;', /^ReferenceError/],
    [
      'a text that is too long',
      'function solve() { return "x".repeat(200000); }',
      /^The result is too long\.$/,
    ],
    ['an import', 'import fs from "node:fs"; function solve() { return 1; }', /^SyntaxError/],
  ])('%s is one sentence', async (_what, code, message) => {
    const result = await run(code);
    expect(result && 'error' in result ? result.error : result).toMatch(message);
  });

  test("many at once do not take one another's time", async () => {
    const code =
      'function solve() { let sum = 0; for (let i = 0; i < 5e5; i++) sum += i; return sum; }';
    const results = await Promise.all(Array.from({ length: 48 }, () => run(code)));
    expect(new Set(results.map((result) => JSON.stringify(result)))).toEqual(
      new Set([JSON.stringify({ value: '124999750000' })]),
    );
  }, 60_000);

  test('an endless loop is ended after the same number of turns each time', async () => {
    const code = 'let turns = 0; const solve = () => { while (true) turns++; };';
    const [one, other] = await Promise.all([
      runInSandbox(code, ['solve()', 'turns']),
      runInSandbox(code, ['solve()', 'turns']),
    ]);
    expect(one).toEqual([
      { error: expect.stringMatching(/^InternalError: interrupted/) },
      { value: expect.stringMatching(/^\d+$/) },
    ]);
    expect(other).toEqual(one);
  }, 60_000);

  test('what never interrupts itself is ended by the clock', async () => {
    const code = `const all = Array(1e6).fill(0);
      const solve = () => all.some(Array.prototype.includes.bind(all, 1));`;
    const request = { code, calls: ['solve()'], interrupts: 200, bytes: 32 * 1024 * 1024 };
    expect(await inThread('sandbox-worker', request, 1_000)).toEqual({
      error: 'It took too long.',
    });
  });

  test('code cannot change what it is compared with', async () => {
    const cheat = 'JSON.stringify = () => "[1]"; function solve() { return [2]; }';
    // It may lie about its own result; what is right stands outside.
    expect(await run(cheat)).toEqual({ value: '[1]' });
    const [instance] = await drawn(1);
    const verdict = await instance?.oracle?.label(stateOf(cheat), plainContext());
    expect(verdict?.correct).toBe(false);
  });
});
