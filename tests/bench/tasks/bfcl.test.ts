import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { compare } from '../../../src/bench/index.ts';
import type { BenchTask } from '../../../src/bench/task.ts';
import { taskNamed } from '../../../src/bench/tasks/tasks.ts';
import type { ToolState } from '../../../src/environments/index.ts';
import { plainContext, scriptedModel } from '../../../src/testing/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-bfcl-'));
const hasPython = spawnSync('python3', ['-c', '']).status === 0;
const hasPackage = spawnSync('python3', ['-c', 'import bfcl_eval']).status === 0;
const context = plainContext({ clock: systemClock });
const open: BenchTask[] = [];
afterEach(async () => {
  for (const task of open.splice(0)) await task.close?.();
  vi.unstubAllEnvs();
});
afterAll(() => rmSync(folder, { recursive: true }));

async function opened(): Promise<BenchTask> {
  const task = await taskNamed('bfcl');
  open.push(task);
  return task;
}

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Two tasks in the form of the package, with a class that counts, and checks that compare. */
function standIn(): void {
  const config = {
    CLASS_FILE_PATH_MAPPING: { Counter: 'bfcl_eval.counter' },
    MULTI_TURN_FUNC_DOC_FILE_MAPPING: { Counter: 'counter.json' },
    STATELESS_CLASSES: [],
  };
  const lines = Object.entries(config).map(
    ([name, value]) => `${name} = ${JSON.stringify(value)}\n`,
  );
  put('bfcl_eval/__init__.py', '');
  put('bfcl_eval/constants/executable_backend_config.py', lines.join(''));
  put(
    'bfcl_eval/counter.py',
    `class Counter:
    def _load_scenario(self, scenario, long_context=False):
        self.count = scenario["count"]
    def add(self, by):
        self.count += by
        return {"count": self.count}
    def remove(self, by=1):
        self.count -= by
        return {"count": self.count}
    def _wipe(self):
        self.count = 0
`,
  );
  put(
    'bfcl_eval/eval_checker/multi_turn_eval/multi_turn_checker.py',
    `def state_checker(found, wanted):
    return {"valid": all(vars(found[name]) == vars(wanted[name]) for name in wanted)}
def response_checker(found, wanted, turn):
    return {"valid": all(each in found for each in wanted)}
`,
  );
  const requests = ['Add 2.5.', 'Add 3 more.'].map((content) => [{ role: 'user', content }]);
  const tasks = ['a', 'b'].map((id) => ({
    ...{ id, question: requests, initial_config: { Counter: { count: id === 'a' ? 1 : 2 } } },
    ...{ involved_classes: ['Counter'], excluded_function: ['remove'] },
  }));
  const answers = tasks.map(({ id }) => ({ id, ground_truth: [['add(2.5)'], ['add(by=3.0)']] }));
  const jsonLines = (rows: readonly object[]) =>
    rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  put('bfcl_eval/data/BFCL_v4_multi_turn_base.json', jsonLines(tasks));
  put('bfcl_eval/data/possible_answer/BFCL_v4_multi_turn_base.json', jsonLines(answers));
  const parameters = { type: 'dict', properties: { by: { type: 'float' } }, required: ['by'] };
  const docs = ['add', 'remove'].map((name) => ({ name, description: `To ${name}.`, parameters }));
  put('bfcl_eval/data/multi_turn_func_doc/counter.json', jsonLines(docs));
  const real = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
  });
  put('python3', '');
  rmSync(join(folder, 'python3'));
  writeFileSync(
    join(folder, 'python3'),
    `#!/bin/sh\nPYTHONPATH=${folder} exec ${real.stdout.trim()} -B "$@"\n`,
    { mode: 0o755 },
  );
  vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`);
}

test('without Python there is one sentence that says what to install', async () => {
  const task = await opened();
  vi.stubEnv('PATH', join(folder, 'nothing'));
  await expect(task.instances({ seed: 0 })).rejects.toThrow(
    /^The task `bfcl` needs a `python3` .* run `python3 -m pip install --no-deps bfcl-eval==[\d.]+ mpmath==[\d.]+`\.$/,
  );
});

test('the versions of that sentence are those that are verified', () => {
  const pinned = readFileSync(
    join(import.meta.dirname, '../../verify/bfcl/requirements.txt'),
    'utf8',
  );
  const source = readFileSync(
    join(import.meta.dirname, '../../../src/bench/tasks/bfcl.ts'),
    'utf8',
  );
  for (const line of pinned.trim().split('\n')) expect(source).toContain(line);
});

/** With a stand-in for the package. */
const onStandIn = test.skipIf(!hasPython);

onStandIn(
  'shows all requests and functions, and never what was recorded',
  async () => {
    standIn();
    const instances = await (await opened()).instances({ seed: 0 });
    expect(instances.map(({ id }) => id).toSorted()).toEqual(['a', 'b']);
    for (const { environment, guides } of instances) {
      expect(guides).toBeUndefined();
      expect(environment.answer).toBeUndefined();
      const { state } = await environment.reset(context);
      const told = environment.notation?.prompt(state).map(({ content }) => content);
      expect(told?.join('\n')).toContain('1. Add 2.5.\n2. Add 3 more.');
      expect(environment.notation?.tools).toMatchObject([
        {
          ...{ name: 'add', description: 'To add.' },
          input: { type: 'object', properties: { by: { type: 'number' } }, required: ['by'] },
        },
        { name: 'answer' },
      ]);
      const calls = ['add', 'answer'].map((tool) => ({
        tool,
        input: tool === 'add' ? { by: 3 } : 'x',
      }));
      let at = state;
      for (const call of calls) {
        const transition = await environment.step(at, call, context);
        expect(transition.reward).toBeUndefined();
        expect(JSON.stringify(transition)).not.toMatch(/2\.5\}|valid|recorded/);
        at = transition.state;
      }
    }
  },
  60_000,
);

onStandIn(
  'is right where the state and the answers are as recorded, in whatever branch',
  async () => {
    standIn();
    const instances = await (await opened()).instances({ seed: 0 });
    const { environment, oracle } = instances.find(({ id }) => id === 'a') ?? instances[0] ?? {};
    if (environment === undefined) throw new Error('There is no instance.');
    const { state: start } = await environment.reset(context);
    const after = async (from: ToolState, tool: string, input: unknown) =>
      (await environment.step(from, { tool, input }, context)).state as ToolState;
    const isRight = async (state: ToolState) => (await oracle?.label(state, context))?.correct;
    const one = await after(start, 'add', { by: 2.5 });
    const other = await after(start, 'add', { by: 5.5 });
    const both = await after(one, 'add', { by: 3 });
    expect(both.turns.at(-1)?.content).toContain('6.5');
    expect(await isRight(both)).toBe(false);
    expect(await isRight(await after(both, 'answer', 'Done.'))).toBe(true);
    // The state is as recorded, and an answer is missing.
    expect(await isRight(await after(other, 'answer', 'Done.'))).toBe(false);
    const more = await after(both, 'add', { by: 1 });
    expect(await isRight(await after(more, 'answer', 'Done.'))).toBe(false);
  },
  60_000,
);

onStandIn.each([
  ['_wipe', {}, 'There is no such tool'],
  ['remove', { by: 1 }, 'There is no such tool'],
  ['__class__', {}, 'There is no such tool'],
  ['add', { by: 'open("x")' }, 'unsupported operand'],
  ['add', { self: 1 }, 'multiple values'],
  ['add', {}, 'missing 1 required'],
])(
  'a call of %s with %j is told to be none, and changes nothing',
  async (tool, input, told) => {
    standIn();
    const [{ environment } = {}] = await (await opened()).instances({ seed: 0, limit: 1 });
    const { state } = (await environment?.reset(context)) ?? {};
    const next = await environment?.step(state, { tool, input }, context);
    const { turns = [] } = (next?.state ?? {}) as Partial<ToolState>;
    expect(turns.at(-1)?.content).toContain(told);
  },
  60_000,
);

onStandIn(
  'the recorded calls of a model are right, with tools and as JSON, and others are not',
  async () => {
    standIn();
    const sharesOf = async (capabilities: object, amounts: readonly number[]) => {
      const model = scriptedModel({
        capabilities,
        answer({ messages }) {
          if (messages.at(-1)?.content.includes('impossible') === true) return 'sure';
          const by = amounts[messages.filter(({ role }) => role === 'assistant').length];
          const [name, input] =
            by === undefined ? ['answer', { answer: 'Done.' }] : ['add', { by }];
          if (!('tools' in capabilities)) return JSON.stringify({ tool: name, input });
          const toolCalls = [{ id: `call-${by}`, name, input }];
          return { text: '', finishReason: 'tool', toolCalls };
        },
      });
      const out = mkdtempSync(join(folder, 'out-'));
      const budgets = [{ unit: 'calls', limit: 20 }] as const;
      const { report } = await compare({ task: await opened(), model, methods: [], budgets, out });
      return report.points.map(({ method, accuracy }) => [method, accuracy]);
    };
    const all = (accuracy: number) => ['greedy', 'best-of-n'].map((name) => [name, accuracy]);
    expect(await sharesOf({ tools: true }, [2.5, 3])).toEqual(all(1));
    expect(await sharesOf({}, [2.5, 3])).toEqual(all(1));
    expect(await sharesOf({ tools: true }, [2.5])).toEqual(all(0));
  },
  120_000,
);

test.skipIf(!hasPackage)(
  'the package has 200 tasks (skipped where `python3` has no bfcl-eval)',
  async () => {
    expect((await (await opened()).instances({ seed: 0 })).length).toBe(200);
  },
  60_000,
);
