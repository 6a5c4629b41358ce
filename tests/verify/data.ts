/** `npm run verify:data [-- <folder>]`: the proofs that need the data beside the repository. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { astar, search, seededRandom } from 'espalier';
import { type BlocksworldState, blocksworld, solvablePuzzles } from 'espalier/environments';
import { uniform } from 'espalier/policies';
import { plainContext } from 'espalier/testing';
import { taskNamed } from '../../src/bench/tasks/tasks.ts';

const data = process.argv[2] ?? join(import.meta.dirname, '../../../shared/data');

interface Problem {
  readonly id: string;
  readonly pddl: string;
  readonly optimal_length: number;
}

/** The length of A*'s plan, after an independent check that it is one. */
async function planLength(instance: BlocksworldState): Promise<number> {
  const environment = blocksworld.environment(instance);
  const { actions, optimal, solved } = await search(environment, {
    policy: uniform(environment.actions),
    algorithm: astar({ heuristic: blocksworld.heuristic, admissible: true }),
    budget: { simulations: 200_000 },
  });
  assert.ok(solved && optimal);
  assert.ok(blocksworld.check(instance, actions).correct);
  return actions.length;
}

/** The length of a shortest plan, by breadth-first search without any of ours. */
function shortestPlan(instance: BlocksworldState): number {
  const environment = blocksworld.environment(instance);
  let level = [environment.reset().state];
  const seen = new Set(level.map((state) => environment.key(state)));
  for (let depth = 0; level.length > 0; depth++) {
    const next: BlocksworldState[] = [];
    for (const state of level) {
      for (const action of environment.actions(state)) {
        const transition = environment.step(state, action);
        if (transition.reward === 1) return depth + 1;
        const key = environment.key(transition.state);
        if (!seen.has(key)) next.push(transition.state);
        seen.add(key);
      }
    }
    level = next;
  }
  throw new Error('The problem has no plan.');
}

async function published(): Promise<void> {
  const problems = [2, 4, 6].flatMap((steps) =>
    readFileSync(join(data, `blocksworld-${steps}-steps.jsonl`), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Problem),
  );
  const started = performance.now();
  for (const { id, pddl, optimal_length: optimal } of problems) {
    assert.equal(await planLength(blocksworld.parse(pddl)), optimal, id);
  }
  report('blocksworld, published', problems.length, started);
}

async function longer(): Promise<void> {
  const random = seededRandom('longer');
  let count = 0;
  let ms = 0;
  for (let attempt = 0; count < 60; attempt++) {
    const instance = blocksworld.generate(random.split(attempt), { blocks: 4 + (attempt % 3) });
    const shortest = shortestPlan(instance);
    if (shortest < 8 || shortest > 12) continue;
    const started = performance.now();
    assert.equal(await planLength(instance), shortest);
    ms += performance.now() - started;
    count++;
  }
  report('blocksworld, 8 to 12 steps', count, performance.now() - ms);
}

function game24(): void {
  const started = performance.now();
  const listed = readFileSync(join(data, 'game24.csv'), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => sortedNumbers((line.split(',')[1] ?? '').trim().split(' ').map(Number)));
  const ours = solvablePuzzles().map(({ numbers }) => sortedNumbers(numbers));
  assert.deepEqual(new Set(ours), new Set(listed));
  report('game of 24, the published list', listed.length, started);
}

/** The same files as tasks of benchmarks: questions take their published answers, and problems their published plans. */
async function tasks(): Promise<void> {
  const started = performance.now();
  const instancesOf = async (name: string, split?: string) =>
    (await taskNamed(join(data, name))).instances({
      seed: 0,
      ...(split !== undefined && { split }),
    });
  assert.equal((await instancesOf('game24.csv')).length, 1_362);
  assert.equal((await instancesOf('game24.csv', 'unseen')).length, 441);
  const papers = await instancesOf('game24.csv', 'ranks-901-1000');
  const [, row = ''] = /^901,([\d ]+),/m.exec(readFileSync(join(data, 'game24.csv'), 'utf8')) ?? [];
  assert.deepEqual([papers.length, papers[0]?.id], [100, row]);

  const questions = await instancesOf('gsm8k-test-200.jsonl');
  const lines = readFileSync(join(data, 'gsm8k-test-200.jsonl'), 'utf8').trim().split('\n');
  for (const [place, line] of lines.entries()) {
    const answer = String(JSON.parse(line).answer).replace(/^[\s\S]*#### /, '');
    const correct = async (text: string) => {
      const state = { question: '', steps: [], answer: text };
      return (await questions[place]?.oracle?.label(state, plainContext()))?.correct;
    };
    assert.equal(await correct(answer), true, line);
    assert.equal(await correct(`${answer}1`), false, line);
  }

  let plans = 0;
  for (const steps of [2, 4, 6]) {
    const name = `blocksworld-${steps}-steps.jsonl`;
    const instances = await instancesOf(name);
    const problems = readFileSync(join(data, name), 'utf8').trim().split('\n');
    for (const { id, plan } of problems.map((line) => JSON.parse(line))) {
      const instance = instances.find((one) => one.id === id);
      assert.ok(instance, id);
      let transition = await instance.environment.reset(plainContext());
      for (const action of plan.trim().split('\n')) {
        transition = await instance.environment.step(transition.state, action, plainContext());
      }
      assert.equal(transition.reward, 1, id);
      plans++;
    }
  }
  report('tasks of benchmarks, published', 1_362 + lines.length + plans, started);
}

function sortedNumbers(numbers: readonly number[]): string {
  return numbers.toSorted((a, b) => a - b).join(' ');
}

function report(what: string, count: number, started: number): void {
  const seconds = (performance.now() - started) / 1_000;
  process.stdout.write(
    `${what}: ${count} of ${count} as they should be, ${seconds.toFixed(1)} s\n`,
  );
}

await published();
await longer();
game24();
await tasks();
