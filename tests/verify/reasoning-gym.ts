/**
 * `npm run verify:gym`: all generators of `reasoning-gym` as tasks, in a virtual environment of its own. Each
 * gives an instance, and scores its own answer 1 and a wrong one less; a witness asks the package itself for the answers.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { taskNamed } from '../../src/bench/tasks/tasks.ts';
import { seededRandom } from '../../src/index.ts';
import { plainContext } from '../../src/testing/index.ts';

const place = join(import.meta.dirname, '../../.tmp/verify-reasoning-gym');
const python = join(place, 'bin/python3');
if (!existsSync(join(place, 'done'))) {
  mkdirSync(place, { recursive: true });
  execFileSync('python3', ['-m', 'venv', place], { stdio: 'inherit' });
  execFileSync(python, ['-m', 'pip', 'install', '--quiet', 'reasoning-gym==0.1.25'], {
    stdio: 'inherit',
  });
  mkdirSync(join(place, 'done'));
}
const { env } = process;
// As the task does: some generators go through sets.
env['PYTHONHASHSEED'] = '0';
env['PATH'] = `${join(place, 'bin')}:${env['PATH']}`;

const seed = seededRandom(0)
  .split('reasoning-gym')
  .integer(2 ** 31);
const witness = `
import json, reasoning_gym
from reasoning_gym.factory import DATASETS
told = {}
for name in sorted(DATASETS):
    try:
        told[name] = [entry["answer"] for entry in reasoning_gym.create_dataset(name, seed=${seed}, size=1)]
    except BaseException as error:
        told[name] = None
print("\\n" + json.dumps(told))`;
// Some generators print while they are made: the last line is the answer.
const printed = execFileSync(python, ['-c', witness], { encoding: 'utf8', maxBuffer: 2 ** 28 });
const answers = JSON.parse(printed.trim().split('\n').at(-1) ?? '') as Readonly<
  Record<string, readonly (string | null)[] | null>
>;

const found = { instances: 0, own: 0, wrong: 0 };
const odd: string[] = [];
for (const [name, told] of Object.entries(answers)) {
  const task = await taskNamed(`reasoning-gym:${name}`);
  try {
    const [instance] = await task.instances({ seed: 0, limit: 1 });
    const score = async (answer: string) => {
      const state = { question: '', steps: [], answer };
      return (await instance?.oracle?.label(state, plainContext()))?.score;
    };
    found.instances++;
    const [own] = told ?? [];
    const [right, wrong] = [
      own == null ? undefined : await score(own),
      await score('definitely wrong'),
    ];
    if (right === 1) found.own++;
    if (wrong !== undefined && wrong < 1) found.wrong++;
    if (right !== 1 || wrong === undefined || wrong >= 1)
      odd.push(`${name}: own ${right}, wrong ${wrong}`);
  } catch (error) {
    odd.push(`${name}: ${String(error)}`);
  } finally {
    await task.close?.();
  }
}
/** Answers that would write a file, were they evaluated. */
const mark = join(place, 'evaluated');
rmSync(mark, { force: true });
const hostile = [
  `open("${mark}", "w")`,
  `[open("${mark}", "w")]`,
  `__import__("os").system("touch ${mark}")`,
];
for (const name of Object.keys(answers)) {
  const task = await taskNamed(`reasoning-gym:${name}`);
  const [instance] = await Promise.resolve(task.instances({ seed: 0, limit: 1 })).catch(() => []);
  for (const answer of hostile) {
    await instance?.oracle?.label({ question: '', steps: [], answer }, plainContext());
    if (existsSync(mark)) odd.push(`${name} EVALUATED ${answer}`);
    rmSync(mark, { force: true });
  }
  await task.close?.();
}

process.stdout.write(
  `${Object.keys(answers).length} generators: ${found.instances} give an instance, ${found.own} score their own answer 1, ${found.wrong} a wrong one less.\n${odd.join('\n')}\n`,
);
// Without an answer of their own: they check answers by rules. One is made of others, and one scores any text.
if (odd.some((line) => line.includes('EVALUATED'))) process.exitCode = 1;
if (found.instances < 105 || found.own < 100 || found.wrong < 104) process.exitCode = 1;
