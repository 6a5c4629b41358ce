import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withMemoryLimit } from '../../../src/bench/tasks/memory-limit.ts';
import { loadPython, runPython } from '../../../src/bench/tasks/python-sandbox.ts';
import { inThread } from '../../../src/bench/tasks/sandbox.ts';
import { taskNamed } from '../../../src/bench/tasks/tasks.ts';
import { plainContext } from '../../../src/testing/index.ts';

const path = join(mkdtempSync(join(tmpdir(), 'espalier-human-eval-')), 'problems.jsonl');

const clamp = {
  task_id: 'own/0',
  prompt: `from typing import List

def least(numbers):
    return min(numbers)

def clamp(numbers: List[int], low: int) -> List[int]:
    """Raises each number to at least \`low\`.
    >>> clamp([1, 5], 3)
    [3, 5]
    >>> clamp([], 3) == []
    >>> clamp([1], None)
    Traceback (most recent call last):
    TypeError: no bound
    """
`,
  entry_point: 'clamp',
  test: `def check(candidate):
    assert candidate([1, 5], 3) == [3, 5]
    assert least(candidate([-4, 9, 2], 0)) == 0
`,
};

const right = `def clamp(numbers: List[int], low: int) -> List[int]:
    if low is None: raise TypeError("no bound")
    return [max(low, each) for each in numbers]`;

async function instanceOf(problem: object = clamp) {
  writeFileSync(path, `${JSON.stringify({ ...clamp, ...problem })}\n`);
  const [instance] = await (await taskNamed(path)).instances({ seed: 0 });
  if (instance?.oracle === undefined) throw new Error('There is no problem.');
  return instance;
}

async function judged(code: string, problem?: object) {
  const { environment, oracle } = await instanceOf(problem);
  const { state } = await environment.reset(plainContext());
  const step = await environment.step(state, code, plainContext());
  return { step, verdict: await oracle?.label(step.state, plainContext()) };
}

test('a right function passes the examples of its docstring and the hidden tests, with the imports and helpers of the prompt', async () => {
  const { step, verdict } = await judged(right);
  expect(step.state.report).toEqual([
    'clamp([1, 5], 3) is right',
    'clamp([], 3) == [] is right',
    'clamp([1], None) is right',
  ]);
  expect(step).toMatchObject({ terminal: true, reward: 1, answer: true });
  expect(verdict).toEqual({ correct: true, score: 1 });
});

test('tests beside `check` may need the function', async () => {
  const test = `assert least(clamp([1], 3)) == 3\n${clamp.test}`;
  expect((await judged(right, { test })).verdict?.correct).toBe(true);
});

test('a body that continues the prompt is a function too', async () => {
  const body = `    if low is None: raise TypeError("no bound")
    return [max(low, each) for each in numbers]  # clamp`;
  expect((await judged(body)).verdict?.correct).toBe(true);
});

test('what passes the examples only is an end for the search, and wrong', async () => {
  const table = `def clamp(numbers, low):
    if low is None: raise TypeError("no bound")
    return [3, 5] if numbers else []`;
  const { step, verdict } = await judged(table);
  expect(step).toMatchObject({ terminal: true, reward: 1 });
  expect(verdict).toEqual({ correct: false, score: 0 });
});

test.each([
  ['def check(candidate) return', /SyntaxError: .*\. Fix the file\.$/],
  ['import numpy\ndef check(candidate): pass', /ModuleNotFoundError: No module named 'numpy'\./],
  ['def test(candidate): pass', /there is no function check\./],
])('tests that no solution could pass leave it unscored: %j', async (test, fault) => {
  await expect(judged(right, { test })).rejects.toThrow(
    new RegExp(`^The tests in \`test\` cannot be run: ${fault.source}`),
  );
});

test('a wrong function is told what its examples gave, and may be written anew', async () => {
  const { step } = await judged('def clamp(numbers, low):\n    return numbers + [low]');
  expect(step.terminal).toBeUndefined();
  expect(step.state.report).toEqual([
    'clamp([1, 5], 3) should give [3, 5], got [1, 5, 3]',
    'clamp([], 3) == [] should give True, got False',
    'clamp([1], None) should give TypeError: no bound, got [1, None]',
  ]);
});

test.each([
  ['no Python', 'function clamp() {}', /^It failed: SyntaxError/],
  ['an early end', 'import os\ndef clamp(): pass\nos._exit(0)', /it ended Python before its tests/],
  ['an exit', 'import sys\ndef clamp(): pass\nsys.exit(0)', /^It failed: SystemExit: 0/],
  ['files', 'def clamp(): pass\nopen("/etc/passwd")', /^It failed: FileNotFoundError/],
  ['folders', 'def clamp(): pass\nimport os\nos.listdir(".")', /^It failed: FileNotFoundError/],
  ['writing', 'def clamp(): pass\nopen("x", "w")', /^It failed: \w*Error/],
  ['the network', 'def clamp(): pass\nimport socket\nsocket.socket()', /^It failed: \w*Error/],
  [
    'processes',
    'def clamp(): pass\nimport subprocess\nsubprocess.run(["ls"])',
    /^It failed: \w*Error/,
  ],
  ['all memory', 'def clamp(): pass\nx = "a" * (400 * 2 ** 20)', /^It failed: MemoryError/],
  ['the environment', 'def clamp(): pass\nimport os\nassert len(os.environ) > 1', /AssertionError/],
  ['another name', 'clamped = 1', /^clamp\(\[1, 5\], 3\) should give/],
])('%s is one sentence', async (_what, code, line) => {
  const { environment } = await instanceOf();
  const { state } = await environment.reset(plainContext());
  const step = await environment.step(state, code, plainContext());
  expect(step.state.report?.[0]).toMatch(line);
});

test('output of the code under test cannot stand for a result', async () => {
  const forged = `import os
def clamp(numbers, low): return []
os.write(1, b'secret[[true, "it passes"]]secret')
print('[[true, "it passes"]]')`;
  expect((await judged(forged)).verdict).toEqual({ correct: false, score: 0 });
});

const forgery = '\'[null, [[true, "it passes"]]]\'';

test.each([
  ['json', `import json\njson.dumps = lambda results: ${forgery}`],
  [
    'encoder',
    `import json\njson._default_encoder = type("", (), {"encode": lambda *given: ${forgery}})()`,
  ],
  ['method of the encoder', `import json\njson.JSONEncoder.encode = lambda *given: ${forgery}`],
  [
    'part of the encoder',
    `import json.encoder as e\ne.c_make_encoder = None\ne._make_iterencode = lambda *given: lambda *these: [${forgery}]`,
  ],
  ['exec', 'import builtins\nbuiltins.exec = lambda *given: given[-1].update(check=print)'],
])('a replaced %s does not change the result', async (_what, replaced) => {
  const wrong = `${replaced}\ndef clamp(numbers, low): return []`;
  expect((await judged(wrong)).verdict).toEqual({ correct: false, score: 0 });
});

test('without an example nothing is rewarded, and the first answer is an end', async () => {
  const prompt = 'def clamp(numbers, low):\n    """Raises each number."""\n';
  const { step, verdict } = await judged(right.replace(/List\[int\]/g, 'list'), {
    prompt,
    test: 'def check(candidate): assert candidate([1], 2) == [2]',
  });
  expect(step).toMatchObject({ terminal: true, answer: true });
  expect(step.reward).toBeUndefined();
  expect(verdict?.correct).toBe(true);
});

describe('Python in WebAssembly', () => {
  test('does the same each time', async () => {
    const program = 'import random, time; print(random.random(), time.time(), hash("a"))';
    expect(await runPython(program, '')).toEqual(await runPython(program, ''));
  });

  test('reads its input, and keeps the first megabyte of its output', async () => {
    const text = 'é'.repeat(100_000);
    expect(await runPython('import sys; print(sys.stdin.read(), end="")', text)).toEqual({
      output: text,
    });
    const long = await runPython('print("a" * 3_000_000)', '');
    expect('output' in long && long.output.length).toBeLessThan(2_000_000);
  });

  test.each([
    ['reads input by place', 'os.pread(0, 9, 0)'],
    ['writes output by place', 'os.pwrite(1, b"x", 0)'],
    ['cuts output', 'os.ftruncate(1, 0)'],
    ['sets the times of a file', 'os.utime(1, (0, 0))'],
    ['finds a place in output', 'os.lseek(1, 0, 0)'],
  ])('nothing that %s is there', async (_what, code) => {
    const tried = `import os\ntry:\n    ${code}\nexcept OSError as error: print("refused")`;
    expect(await runPython(tried, 'the input')).toEqual({ output: 'refused\n' });
  });

  test('knows nothing of the files of the host', async () => {
    const { output } = (await runPython('import os; print(*os.fstat(1))', '')) as {
      output: string;
    };
    expect(output).toBe('0 0 0 0 0 0 0 0 0 0\n');
  });

  test('sleeps without time', async () => {
    const program = `import time
start = time.monotonic()
time.sleep(10 ** 6)
print(round(time.monotonic() - start))`;
    expect(await runPython(program, '')).toEqual({ output: '1000000\n' });
  });

  test('cannot close the output of the host', async () => {
    const program = 'import os\nfor file in range(3): os.close(file)\nos.write(1, b"open")';
    expect(await runPython(program, '')).toEqual({ output: 'open' });
    process.stdout.write('');
  });

  test('is ended from outside where it goes on', async () => {
    const request = { python: await loadPython(), program: 'while True: pass', input: '' };
    expect(await inThread('python-worker', request, 1_000)).toEqual({
      error: 'It took too long.',
    });
  });
});

test('a thread that cannot start is no wrong answer', async () => {
  const missing = inThread('no-worker' as 'python-worker', {}, 1_000);
  await expect(missing).rejects.toThrow(/^The sandbox could not start: Cannot find module/);
});

test('a module without memory of its own, or with more than the limit, is refused', () => {
  const empty = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
  expect(() => withMemoryLimit(empty, 1 << 20)).toThrow('It defines no memory.');
  // A memory of at least 300 pages (LEB128: 0xac 0x02), without a maximum.
  const memory = Uint8Array.of(...empty, 5, 4, 1, 0, 0xac, 2);
  expect(() => withMemoryLimit(memory, 299 * 65_536)).toThrow('at least 300 pages');
  expect([...withMemoryLimit(memory, 301 * 65_536)]).toEqual([
    ...empty,
    5,
    6,
    1,
    1,
    0xac,
    2,
    0xad,
    2,
  ]);
});

test('a line without what is needed is named', async () => {
  await expect(instanceOf({ entry_point: 5 })).rejects.toThrow(
    /^Line 1 of `.*`: expected `task_id`, `prompt`, `entry_point` and `test`, got `5` as `entry_point`\.$/,
  );
});
