/** What hostile or careless parts cannot do: the process goes on, budgets hold, and the command line says what is wrong. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { visible } from '../../src/base/visible.ts';
import { type Budget, type Environment, search } from '../../src/index.ts';
import { build, fileIn, temporaryFolder } from '../cli/espalier.ts';

beforeAll(build, 60_000);
const folder = temporaryFolder();
const main = join(import.meta.dirname, '../../dist/cli/main.js');

const counting: Environment<number, number> = {
  name: 'counting',
  reset: () => ({ state: 0 }),
  step: (state, action) => ({ state: state + action }),
  notation: {
    prompt: (state) => [{ role: 'user', content: `${state}` }],
    format: String,
    parse: () => ({ action: 1 }),
  },
};
const parts = { policy: () => [{ action: 1 }, { action: 2 }], evaluator: () => 0.5 };

class Limits implements Budget {
  get simulations(): number {
    return 2;
  }
}

test.each([
  ['getters', new Limits()],
  ['inherited limits', Object.create({ simulations: 2 }) as Budget],
])('a budget of %s holds', async (_what, budget) => {
  const { spend } = await search(counting, { ...parts, budget });
  expect(spend.simulations).toBe(2);
});

test('an inherited name that is misspelt is refused', async () => {
  const budget = Object.create({ simulatoins: 2 }) as Budget;
  await expect(search(counting, { ...parts, budget })).rejects.toThrow(
    '`budget` has no option `simulatoins`. Did you mean `simulations`?',
  );
});

test('a synchronous hook that is a rejecting promise is refused, and does not end the process', async () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown) => rejections.push(reason);
  process.on('unhandledRejection', note);
  try {
    const stopWhen = (async () => {
      throw new Error('late');
    }) as never;
    await expect(
      search(counting, { ...parts, stopWhen, budget: { simulations: 3 } }),
    ).rejects.toThrow('Expected a condition of `stopWhen` to return');
    const answer = (async () => {
      throw new Error('late');
    }) as never;
    const result = await search({ ...counting, answer }, { ...parts, budget: { simulations: 3 } });
    expect(result.answer).toBeUndefined();
    await new Promise((done) => setTimeout(done, 20));
    expect(rejections).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});

test('failures are shown without the escape sequences of a model', async () => {
  const policy = () => {
    return { failures: [{ kind: 'invalid', message: 'got \u001b]0;owned\u0007\u202e' }] } as never;
  };
  const thrown = () => {
    throw new Error('got \u001b[2J');
  };
  for (const each of [policy, thrown]) {
    const { failures } = await search(counting, {
      ...parts,
      policy: each,
      budget: { simulations: 3 },
    });
    expect(failures.first).not.toEqual([]);
    for (const { message } of failures.first) expect(message).toBe(visible(message));
  }
});

test('a part that never settles ends the command with a sentence', () => {
  const world = fileIn(
    folder,
    'world.mjs',
    `export default { name: 'w', reset: () => new Promise(() => {}), step: () => ({ state: 0 }),
       notation: { prompt: () => [], format: String, parse: () => ({ action: 1 }) } };`,
  );
  const policy = fileIn(
    folder,
    'policy.mjs',
    "export default { name: 'p', propose: async () => [] };",
  );
  const value = fileIn(
    folder,
    'value.mjs',
    "export default { name: 'v', needs: 'realised', evaluate: async () => [] };",
  );
  const args = ['search', '1', '--environment', world, '--policy', policy, '--value', value];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [main, ...args, '--simulations', '3'],
    { encoding: 'utf8' },
  );
  expect({ status, stdout, stderr }).toMatchObject({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^The command cannot finish: it waits for a promise .*\.\n$/);
});

test.runIf(existsSync('/dev/full'))('a full disk behind the output is one sentence', () => {
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', `"${process.execPath}" "${main}" methods > /dev/full`],
    { encoding: 'utf8' },
  );
  expect(status).toBe(1);
  expect(stderr).toMatch(/^The output cannot be written: ENOSPC.*\n$/);
});

test.each([
  ['a b', "'a b'"],
  ['-x', './-x'],
  ["it's", "'it'\\''s'"],
])('init writes the folder %j so that a shell takes it', (name, quoted) => {
  const printed = execFileSync(process.execPath, [main, 'init', '--', name], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(printed).toContain(`\n  cd ${quoted}\n`);
});
