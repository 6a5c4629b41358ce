import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { taskNamed } from '../../../src/bench/tasks/tasks.ts';
import { plainContext } from '../../../src/testing/index.ts';

const sides = join(import.meta.dirname, '../../../python');
const folder = mkdtempSync(join(tmpdir(), 'espalier-gym-'));
const hasPython = spawnSync('python3', ['-c', '']).status === 0;
afterAll(() => rmSync(folder, { recursive: true }));

/** What a line of Python says of the Python side. */
function said(line: string): string {
  const program = `import sys; sys.path.insert(0, ${JSON.stringify(sides)}); from espalier_reasoning_gym import *\n${line}`;
  const { stdout, stderr } = spawnSync('python3', ['-B', '-c', program], { encoding: 'utf8' });
  return stdout.trim() || (stderr.trim().split('\n').at(-1) ?? '');
}

test('without Python there is one sentence', async () => {
  const task = await taskNamed('reasoning-gym:chain_sum');
  vi.stubEnv('PATH', folder);
  try {
    await expect(task.instances({ seed: 0 })).rejects.toThrow(
      /^The task `reasoning-gym` needs a `python3` .* run `python3 -m pip install reasoning-gym`\.$/,
    );
  } finally {
    vi.unstubAllEnvs();
    await task.close?.();
  }
});

describe.skipIf(!hasPython)('with Python', () => {
  test.each([
    ['[1, "a", 2.5]', "[1, 'a', 2.5]"],
    ['0x1f + 2 * 3 - (1 / 4)', '36.75'],
    ['__import__("os").getcwd()', 'ValueError: Expected numbers and lists, got Call.'],
    ['[x for x in [1]]', 'ValueError: Expected numbers and lists, got ListComp.'],
    ['"a" * 1000000000', 'ValueError: Expected a product of numbers.'],
    ['[1] * 1000000000', 'ValueError: Expected a product of numbers.'],
    ['9 ** 9 ** 9', 'ValueError: Expected a small exponent.'],
    ['1 << 100000000', 'ValueError: Expected a small exponent.'],
  ])('an answer %j is read without being run', (answer, read) => {
    expect(said(`print(careful_eval(${JSON.stringify(answer)}))`)).toBe(read);
  });

  test.each([
    ['3*x**2 + sin(2*x)/4 + C', 'fine'],
    ['49*(85 - 1)/14 - 42 - 73', 'fine'],
    ['open("x", "w")', 'ValueError: Expected a formula.'],
    ['exec(chr(111))', 'ValueError: Expected a formula, got a word.'],
    ['x.func', 'ValueError: Expected a formula with small exponents.'],
    ['9**9**9', 'ValueError: Expected a formula with small exponents.'],
    ['2**(99999)', 'ValueError: Expected a formula with small exponents.'],
  ])('a formula %j is taken or not', (answer, read) => {
    expect(said(`expect_formula(${JSON.stringify(answer)}); print("fine")`)).toBe(read);
  });

  /** A stand-in for the package with one generator, which reads answers as some of the real ones do. */
  function standIn(): string {
    const path = join(folder, 'python3');
    const stub = `
import types, sys
def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(members)
class Echo(list):
    def score_answer(self, answer, entry):
        return 1.0 if scores.eval(answer) == entry["n"] else 0.25
for name in ["sympy", "sympy.parsing", "sympy.parsing.sympy_parser"]:
    module(name, parse_expr=None)
sys.modules["sympy"].parsing = sys.modules["sympy.parsing"]
sys.modules["sympy.parsing"].sympy_parser = sys.modules["sympy.parsing.sympy_parser"]
module("reasoning_gym.factory", DATASETS={"echo": 1})
module("reasoning_gym.scores", eval=eval)
scores = sys.modules["reasoning_gym.scores"]
module("reasoning_gym", create_dataset=lambda name, seed, size: Echo({"question": "%d/%d?" % (seed, n), "n": n} for n in range(size)))
`;
    writeFileSync(join(folder, 'sitecustomize.py'), stub);
    const real = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], {
      encoding: 'utf8',
    });
    writeFileSync(path, `#!/bin/sh\nPYTHONPATH=${folder} exec ${real.stdout.trim()} "$@"\n`, {
      mode: 0o755,
    });
    return folder;
  }

  test('questions come from the generator, and scores from its scorer, which runs no answer', async () => {
    vi.stubEnv('PATH', `${standIn()}:/usr/bin:/bin`);
    const task = await taskNamed('reasoning-gym:echo');
    try {
      const instances = await task.instances({ seed: 3, limit: 4 });
      expect(instances.map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
      const scoreOf = async (index: number, answer: string) => {
        const state = { question: '', steps: [], answer };
        const verdict = await instances[index]?.oracle?.label(state, plainContext());
        return [verdict?.correct, verdict?.score];
      };
      expect(await scoreOf(2, '2')).toEqual([true, 1]);
      expect(await scoreOf(2, '1')).toEqual([false, 0.25]);
      expect(
        await scoreOf(0, `[open(${JSON.stringify(join(folder, 'mark'))}, "w"), 0][1]`),
      ).toEqual([false, 0]);
      const again = await task.instances({ seed: 3, limit: 2 });
      const textOf = async (index: number, of = instances) =>
        (await of[index]?.environment.reset(plainContext()))?.state.question;
      expect(await textOf(1, again)).toBe(await textOf(1));
      expect(await textOf(1)).toMatch(/^\d+\/1\?$/);
    } finally {
      await task.close?.();
    }
    const misspelt = await taskNamed('reasoning-gym:ecko');
    await expect(misspelt.instances({ seed: 0 })).rejects.toThrow(
      'reasoning-gym has no generator `ecko`. Did you mean `echo`?',
    );
    await misspelt.close?.();
    vi.unstubAllEnvs();
  }, 60_000);
});
