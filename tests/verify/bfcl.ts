/**
 * The 200 multi-turn base tasks of BFCL, `bfcl-eval` on PyPI, as Python worlds behind the remote protocol: best-first
 * search against random walks over the same proposals, `npm run verify:bfcl -- --tasks 200 --seed 0`.
 *
 * At each node a script proposes the next recorded call at a random place among wrong ones that change the state, four
 * to six of them on the recorded way; where a wrong one has led, there may be fewer that do. A task is done when the state is the recorded one and all recorded answers were given, as BFCL asks. The evaluator
 * is graded: it counts answers that are missing or of no recording, and the share of the state that is not as recorded,
 * and adds noise. A witness in another process judges with BFCL's own checks what was found, does states of the trees
 * alone, and sees whether the worlds begin as they did before.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { pairedDifference } from '../../src/bench/metrics.ts';
import type { BenchInstance } from '../../src/bench/task.ts';
import { taskNamed } from '../../src/bench/tasks/tasks.ts';
import { remoteEnvironment, type WorldState } from '../../src/environments/index.ts';
import {
  beam,
  bestFirst,
  type JsonValue,
  type SearchAlgorithm,
  type SearchNode,
  search,
  seededRandom,
  solved,
  subtree,
} from '../../src/index.ts';
import { plainContext } from '../../src/testing/index.ts';

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '200' },
    seed: { type: 'string', default: '0' },
  },
});
const { seed } = values;
/** How many nodes may be expanded, how far a path may stray, and by how many calls the evaluator is wrong at most. */
const [budget, detour, noise] = [60, 3, 0.5];

/** All that instances hold, by path. */
type Leaves = Readonly<Record<string, JsonValue>>;

interface Task {
  readonly id: string;
  /** The recorded calls, each a JSON text. */
  readonly gold: readonly string[];
  /** What the recorded calls answered. */
  readonly answers: readonly string[];
  readonly start: Leaves;
  /** What BFCL compares of the recorded end. */
  readonly final: Leaves;
}

type State = WorldState<string, JsonValue>;
type Node = SearchNode<State, string>;

const folder = join(import.meta.dirname, 'bfcl');
const root = join(import.meta.dirname, '../..');

/** A Python that has the package; installed once a checkout. */
function installed(): string {
  const place = join(root, '.tmp/verify-bfcl');
  const [python, done] = [join(place, 'bin/python'), join(place, 'done')];
  if (existsSync(done)) return python;
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  const quiet = { stdio: 'pipe', timeout: 300_000 } as const;
  execFileSync('python3', ['-m', 'venv', place], quiet);
  const given = ['--quiet', '--no-deps', '--retries', '1', '-r', join(folder, 'requirements.txt')];
  execFileSync(python, ['-m', 'pip', 'install', ...given], quiet);
  writeFileSync(done, '');
  return python;
}

/** Asks the witness, one question at a time. */
function witnessAt(child: ChildProcess) {
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('The witness has no pipes.');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return async <Answer>(question: string, told: object = {}): Promise<Answer> => {
    stdin.write(`${JSON.stringify({ do: question, ...told })}\n`);
    const { done, value } = await lines.next();
    if (done === true) throw new Error(`The witness ended when it was asked: ${question}`);
    return JSON.parse(value) as Answer;
  };
}

function callsOf({ steps }: State): readonly string[] {
  return steps.map(({ action }) => action);
}

function leavesOf({ start, steps }: State): Leaves {
  const { observation } = steps.at(-1) ?? start;
  return (observation as { readonly leaves: Leaves }).leaves;
}

/** In how many places a state is not as it was recorded. */
function differing(leaves: Leaves, { final }: Task): number {
  const paths = Object.keys(leaves).filter((path) => !path.split('/')[1]?.startsWith('_'));
  const all = new Set([...paths, ...Object.keys(final)]);
  return [...all].filter((path) => leaves[path] !== final[path]).length;
}

/** How many of the recorded answers were given. */
function givenIn({ steps }: State, { answers }: Task): number {
  const given = steps.map(({ observation }) => (observation as { answer: string }).answer);
  const countIn = (all: readonly string[], answer: string) =>
    all.filter((each) => each === answer).length;
  return [...new Set(answers)].reduce(
    (sum, answer) => sum + Math.min(countIn(given, answer), countIn(answers, answer)),
    0,
  );
}

/** The first recorded call that was not made in its turn. */
function nextOf({ gold }: Task, calls: readonly string[]): string | undefined {
  return gold[calls.reduce((place, call) => place + Number(call === gold[place]), 0)];
}

/** Takes one proposed call after the other at random, and begins anew where a way ends. A step is a simulation. */
function randomWalk(maxDepth: number): SearchAlgorithm<State, string> {
  return {
    name: 'random-walk',
    concurrency: { serial: 'A walk takes one step after the other.' },
    laws: [],
    async run(tree, context) {
      let node: Node = tree.root;
      await context.simulate(async (simulation) => {
        if (node.children.length === 0) await context.expand(node);
        const next = node.children[simulation.random.integer(node.children.length)];
        if (next === undefined) return 'exhausted';
        await context.realise([next]);
        node = tree.original(simulation.visit(next));
        if (node.status !== 'open' || node.depth >= maxDepth) node = tree.root;
        return 'continue';
      });
    },
  };
}

let python: string;
try {
  python = installed();
} catch (error) {
  const reason = (error instanceof Error ? error.message : String(error)).trim().split('\n').at(-1);
  process.stdout.write(`skipped: Python with bfcl-eval cannot be had here (${reason}).\n`);
  process.exit(0);
}
const program = join(root, 'python/espalier_environment.py');
const server = spawn(python, [program, 'bfcl_tasks:World', '--http', '0'], { cwd: folder });
const [greeting] = (await once(server.stderr, 'data')) as [Buffer];
const url = greeting.toString().trim();
server.stderr.pipe(process.stderr);
const other = spawn(python, ['bfcl_tasks.py'], {
  cwd: folder,
  stdio: ['pipe', 'pipe', 'inherit'],
});
const ask = witnessAt(other);
// The server does not end by itself when this process does.
process.once('exit', () => server.kill());
/** The fewest wrong calls at a node of the recorded way, and at any: where a wrong one has led, there may be fewer. */
const fewest = { onTheWay: Number.POSITIVE_INFINITY, anywhere: Number.POSITIVE_INFINITY };
let looked = 0;
const faults: string[] = [];

/** Searches for the end of a task, and has it judged. */
async function attempt(task: Task, algorithm: SearchAlgorithm) {
  const { id } = task;
  await using environment = remoteEnvironment<string>({ name: 'bfcl', url, task: id });
  const chanceAt = (use: string, state: State) =>
    seededRandom(`${seed} ${id} ${use} ${callsOf(state).join()}`);
  const { tree, best, spend, failures } = await search(environment, {
    async policy({ state }) {
      const random = chanceAt('propose', state);
      const [calls, count] = [callsOf(state), 4 + random.integer(3)];
      const right = nextOf(task, calls);
      const told = { task: id, calls, right: right ?? null, count, seed };
      const wrong = await ask<readonly string[]>('wrong', told);
      fewest.anywhere = Math.min(fewest.anywhere, wrong.length);
      if (calls.every((call, place) => call === task.gold[place])) {
        fewest.onTheWay = Math.min(fewest.onTheWay, wrong.length);
      }
      const place = random.integer(wrong.length + 1);
      const all = right === undefined ? wrong : wrong.toSpliced(place, 0, right);
      return all.map((action) => ({ action }));
    },
    evaluator({ state }) {
      const [given, all] = [givenIn(state, task), task.gold.length];
      // Answers that are missing, answers that nobody recorded, and the state, which counts as half of all answers.
      const apart = differing(leavesOf(state), task) / (differing(task.start, task) + 8);
      const off = all - given + (state.steps.length - given) + (apart * all) / 2;
      const shift = noise * (2 * chanceAt('evaluate', state).next() - 1);
      return Math.min(1, Math.max(0, 1 - (off + shift) / (2 * (all + detour))));
    },
    algorithm,
    budget: { simulations: budget },
    stopWhen: solved(),
    seed,
  });
  const note = (fault: string) => faults.push(`${id}, ${algorithm.name}: ${fault}`);
  if (failures.count > 0) note(`${failures.count} failures, ${failures.first[0]?.message}`);
  const states = [...subtree(tree.root)].flatMap((node) =>
    node.kind === 'proposed' ? [] : [node.state],
  );
  const isSolved = best.reward === 1;
  const random = seededRandom(`${seed} ${id} looked at`);
  const some = Array.from({ length: 5 }, () => states[random.integer(states.length)]);
  for (const state of [best.state, ...some]) {
    if (state === undefined) continue;
    const told = { task: id, calls: callsOf(state) };
    const { leaves, ...is } = await ask<{ leaves: Leaves; state: boolean; answers: boolean }>(
      'judge',
      told,
    );
    looked += 1;
    if (!isDeepStrictEqual(leaves, leavesOf(state))) note(`not as when done alone: ${told.calls}`);
    if (state === best.state && isSolved !== (is.state && is.answers)) note('judged otherwise');
  }
  const stands = (state: State) => state.steps.length > 0 && differing(leavesOf(state), task) === 0;
  return { isSolved, spend, hasStood: [best.state as State, ...states].some(stands) };
}

/** A recorded call as an action of the task of the benchmark. */
function toolCall(text: string) {
  const { name: tool, arguments: input } = JSON.parse(text);
  return { tool, input };
}

type Attempt = Awaited<ReturnType<typeof attempt>>;

function told(name: string, attempts: readonly Attempt[]): string {
  const sorted = attempts.map(({ spend }) => spend.simulations).toSorted((a, b) => a - b);
  const mean = sorted.reduce((sum, each) => sum + each, 0) / sorted.length;
  const count = (is: (attempt: Attempt) => boolean) => attempts.filter(is).length;
  const calls = attempts.reduce((sum, { spend }) => sum + spend.calls, 0) / attempts.length;
  return `${name}: solved ${count(({ isSolved }) => isSolved)}, stood in the recorded state, all answers given or not, ${count(({ hasStood }) => hasStood)}; expansions: mean ${mean.toFixed(1)}, median ${sorted[sorted.length >> 1]}; calls of the world: mean ${calls.toFixed(1)}\n`;
}

const all = await ask<readonly Task[]>('tasks');
const tasks = all.filter((_, place) => place % Math.floor(all.length / Number(values.tasks)) === 0);
const started = performance.now();
const rows: Attempt[][] = [];
for (const task of tasks) {
  const maxDepth = task.gold.length + detour;
  const ways = [bestFirst({ maxDepth }), randomWalk(maxDepth), beam({ width: 1, maxDepth })];
  const row: Attempt[] = [];
  for (const way of ways) row.push(await attempt(task, way));
  rows.push(row);
  const shown = row.map(({ isSolved, spend }, way) => {
    const { simulations, calls } = spend;
    return `${ways[way]?.name} ${isSolved ? 'solved' : 'not'} ${simulations} (${calls} calls)`;
  });
  process.stdout.write(`${task.id}: ${shown.join(', ')}\n`);
  // What the server begins with now is what the witness has loaded by itself.
  await using environment = remoteEnvironment<string>({ name: 'bfcl', url, task: task.id });
  const { state } = await environment.reset(plainContext());
  if (!isDeepStrictEqual(leavesOf(state), task.start)) {
    faults.push(`${task.id}: the world is not as it was before the searches`);
  }
}
server.kill();
other.kill();

// The task of the benchmark, whose oracle is asked aside: right where all is done and ended, and not before.
const { env } = process;
env['PATH'] = `${dirname(python)}:${env['PATH']}`;
const bench = await taskNamed('bfcl');
const instances = await bench.instances({ seed });
const context = plainContext({ clock: systemClock });
for (const { id, gold } of tasks) {
  const { environment, oracle } = instances.find((each) => each.id === id) as BenchInstance;
  let { state } = await environment.reset(context);
  for (const [done, action] of [...gold.map(toolCall), undefined].entries()) {
    const answer = { tool: 'answer', input: 'Done.' };
    const ended = await environment.step(state, answer, context);
    const isRight = (await oracle?.label(ended.state, context))?.correct;
    if (isRight !== (action === undefined)) faults.push(`${id}: ${isRight} after ${done} calls`);
    if (action !== undefined) ({ state } = await environment.step(state, action, context));
  }
}
await bench.close?.();

const names = ['best-first', 'random walk', 'greedy, the best child each time'];
const solvedBy = names.map((_, way) => rows.map((row) => row[way]?.isSolved === true));
const [searched = [], walked = []] = solvedBy;
for (const [way, name] of names.entries()) {
  process.stdout.write(
    told(
      name,
      rows.map((row) => row[way] as Attempt),
    ),
  );
}
const { difference, low, high } = pairedDifference(searched, walked);
if (fewest.onTheWay < 4) faults.push(`only ${fewest.onTheWay} wrong calls on a recorded way`);
if (low <= 0) faults.push('the search solves no more than the random walk');
process.stdout.write(
  `${tasks.length} tasks, seed ${seed}, at most ${budget} expansions, at least ${fewest.onTheWay} wrong calls on recorded ways, ${fewest.anywhere} elsewhere
best-first - random walk: ${difference.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]
${looked} states done alone by the witness, ${Math.round((performance.now() - started) / 1000)} s
${faults.length} faults${faults.map((fault) => `\n${fault}`).join('')}\n`,
);
process.exitCode = faults.length > 0 ? 1 : 0;
