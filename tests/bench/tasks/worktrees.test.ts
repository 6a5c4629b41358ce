import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { benchMethod } from '../../../src/bench/methods.ts';
import { drawFiles, letters } from '../../../src/bench/tasks/seeded-bugs.ts';
import { taskNamed } from '../../../src/bench/tasks/tasks.ts';
import { changesIn, heldIn } from '../../../src/bench/tasks/worktrees.ts';
import type { ToolState } from '../../../src/environments/index.ts';
import { search, seededRandom, solved } from '../../../src/index.ts';
import { fromModel } from '../../../src/policies/index.ts';
import { plainContext, scriptedModel } from '../../../src/testing/index.ts';

/** A tool may take a while: its limit is in real time. */
const context = plainContext({ clock: systemClock });
const own = mkdtempSync(join(tmpdir(), 'espalier-mended-'));
beforeAll(() => vi.stubEnv('TMPDIR', own));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(own, { recursive: true });
});

/** The files of the first instance of a seed, as the task draws them. */
const filesOf = (seed: number) => drawFiles(seededRandom(seed).split('worktrees').split(0));

test('of four expressions one passes the test, and files are broken by one of the others', () => {
  const seen = new Set<string>();
  for (let seed = 0; seed < 40; seed++) {
    const files = filesOf(seed);
    expect(files.length).toBeGreaterThan(1);
    const broken = files.filter(({ held, right }) => held !== right).length;
    expect(broken).toBeGreaterThan(0);
    expect(broken).toBeLessThan(4);
    for (const { path, expect: compared, expressions, right, textWith } of files) {
      seen.add(path);
      const passing = letters.filter((letter) => {
        const text = textWith(expressions[letter]).replace('export ', '');
        return runInNewContext(`${text} isEqual(${compared})`, {
          // Lists of another context have another prototype.
          isEqual: (a: unknown, b: unknown) =>
            isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))),
        });
      });
      expect(passing).toEqual([right]);
    }
  }
  expect(seen.size).toBe(8);
});

test('a repository is written when it is searched, mended by the right expressions, and removed', async () => {
  const task = await taskNamed('worktrees');
  const [{ environment, oracle } = {}] = await task.instances({ seed: 3, limit: 2 });
  const files = filesOf(3);
  expect(oracle).toBeUndefined();
  expect(environment?.answer).toBeUndefined();
  expect(readdirSync(own)).toEqual([]);
  try {
    let transition = await environment?.reset(context);
    const shown = JSON.stringify(environment?.notation?.prompt(transition?.state));
    for (const { expressions } of files) {
      for (const text of Object.values(expressions)) expect(shown).toContain(text);
    }
    let broken = files.filter(({ held, right }) => held !== right).length;
    for (const { path, held, right } of files.filter((file) => file.held !== file.right)) {
      expect(heldIn(files, transition?.state).get(path)).toBe(held);
      expect(transition?.terminal).toBeUndefined();
      const input = { file: path, expression: right };
      transition = await environment?.step(transition?.state, { tool: 'put', input }, context);
      broken -= 1;
      const told = (transition?.state as ToolState | undefined)?.turns.at(-1)?.content;
      const expected = { passing: files.length - broken, tests: files.length };
      expect(told).toBe(`<output>\n${JSON.stringify(expected)}\n</output>`);
    }
    expect(transition).toMatchObject({ reward: 1, terminal: true });
    expect(readdirSync(own).length).toBeGreaterThan(0);
  } finally {
    await task.close?.();
  }
  expect(readdirSync(own)).toEqual([]);
}, 60_000);

test('only what changes something is proposed, and equal seeds are equal', async () => {
  const state = { turns: [], calls: [] } as unknown as ToolState;
  const files = filesOf(1);
  const calls = changesIn(files)(state);
  expect(calls.length).toBe(3 * files.length);
  for (const { path, held } of files) {
    const letters = calls.filter(({ input }) => input['file'] === path);
    expect(letters.map(({ input }) => input['expression'])).not.toContain(held);
  }
  const task = await taskNamed('worktrees');
  const idsOf = async (limit: number) =>
    (await task.instances({ seed: 's', limit })).map(({ id }) => id);
  expect(await idsOf(5)).toEqual((await idsOf(9)).slice(0, 5));
  expect(new Set(await idsOf(9)).size).toBe(9);
});

test.each([
  ['calls tools', { tools: true }],
  ['writes JSON', {}],
])(
  'a model that %s mends it, and what is none of the expressions is never written',
  async (_, capabilities) => {
    const files = filesOf(5);
    const wanted = files.filter(({ held, right }) => held !== right);
    const task = await taskNamed('worktrees');
    const [instance] = await task.instances({ seed: 5, limit: 1 });
    const mark = join(own, 'mark');
    const model = scriptedModel({
      capabilities,
      answer({ messages }) {
        const done = messages.filter(({ role }) => role === 'assistant').length;
        const file = wanted[done - 1];
        const input =
          done === 0
            ? { file: wanted[0]?.path ?? '', expression: `fs.writeFileSync('${mark}')` }
            : { file: file?.path ?? '', expression: file?.right ?? '' };
        if (!('tools' in capabilities)) return JSON.stringify({ tool: 'put', input });
        return {
          text: '',
          finishReason: 'tool',
          toolCalls: [{ id: `c${done}`, name: 'put', input }],
        };
      },
    });
    if (instance === undefined) throw new Error('There is no instance.');
    try {
      const { best, spend } = await search(instance.environment, {
        ...(await benchMethod('greedy').plan(instance, { model, judgeModel: model })),
        policy: fromModel({ model, samples: 1 }),
        evaluator: () => 0.5,
        stopWhen: solved(),
        budget: { calls: 40 },
      });
      expect(best.reward).toBe(1);
      const [refused, ...made] = (best.state as ToolState).calls;
      expect(refused?.fate).toBe('failed');
      expect(made.map(({ input }) => input)).toEqual(
        wanted.map(({ path: file, right: expression }) => ({ file, expression })),
      );
      expect(existsSync(mark)).toBe(false);
      expect(spend.calls).toBeLessThan(40);
    } finally {
      await task.close?.();
    }
  },
  60_000,
);

test('without a model chance proposes, and the share of passing tests is the value', async () => {
  const task = await taskNamed('worktrees');
  const [instance] = await task.instances({ seed: 2, limit: 1 });
  if (instance === undefined) throw new Error('There is no instance.');
  try {
    const plan = await benchMethod('best-first').plan(instance, {
      model: undefined,
      judgeModel: undefined,
    });
    const { tree } = await search(instance.environment, { ...plan, budget: { calls: 12 } });
    const values = [...tree.nodes()].flatMap(({ rawValue = -1 }) => rawValue);
    expect(values.some((value) => value > 0 && value < 1)).toBe(true);
  } finally {
    await task.close?.();
  }
}, 60_000);

test('without git there is one sentence', async () => {
  const task = await taskNamed('worktrees');
  vi.stubEnv('PATH', own);
  try {
    await expect(task.instances({ seed: 0 })).rejects.toThrow(
      'The task `worktrees` needs the program `git` on the PATH: install it.',
    );
  } finally {
    vi.unstubAllEnvs();
    vi.stubEnv('TMPDIR', own);
  }
});
