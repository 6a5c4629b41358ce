/**
 * `npm run bench:concurrency`: what sixteen simulations in flight cost in quality, on the same 1,000
 * puzzles as a sequential search and with as many simulations, for both ways of counting them; and how
 * long simulations take at 4, 16 and 64 in flight over policies with latencies. `--time` shows the time alone.
 * `--puzzles 400` compares 1, 4, 16 and 64 in flight where a model proposes and judges. What is worse than promised
 * fails.
 */
import { parseArgs } from 'node:util';
import {
  beam,
  bestOfN,
  descend,
  gumbel,
  type InFlight,
  mcts,
  type Policy,
  puct,
  type Random,
  type SearchAlgorithm,
  type SearchNode,
  search,
  seededRandom,
  solved,
  stepwise,
  unobserved,
  valueWidening,
  virtualLoss,
} from 'espalier';
import { tiny } from 'espalier/backends/tiny';
import { gameOf24, solvablePuzzles } from 'espalier/environments';
import { fromModel, journaled, uniform } from 'espalier/policies';
import { manualClock } from 'espalier/testing';
import { heuristic, judge } from 'espalier/values';
import { wilsonInterval } from '../../src/base/stats/wilson-interval.ts';
import { pairedDifference } from '../../src/bench/metrics.ts';
import { unseenGames } from '../../src/bench/tasks/game24.ts';
import { nextState, valueOfState } from './bare-uct.ts';

const budgets = [60, 400];
const inFlight = 16;

const random = seededRandom('concurrency');
const sample = solvablePuzzles()
  .map((puzzle) => ({ puzzle, order: random.next() }))
  .toSorted((a, b) => a.order - b.order)
  .slice(0, 1_000)
  .map(({ puzzle }) => ({ numbers: puzzle.numbers }));

async function solve(
  algorithm: SearchAlgorithm,
  { simulations, concurrency }: { readonly simulations: number; readonly concurrency: number },
): Promise<readonly boolean[]> {
  const outcomes: boolean[] = [];
  for (const instance of sample) {
    const environment = gameOf24.environment(instance);
    const result = await search(environment, {
      // As effects, proposals take turns: what is asked for later is known later.
      policy: journaled(uniform(environment.actions), { name: 'uniform', key: environment.key }),
      evaluator: heuristic(gameOf24.estimate),
      algorithm,
      budget: { simulations },
      stopWhen: solved(),
      concurrency,
      order: 'issued',
    });
    outcomes.push(result.solved);
  }
  return outcomes;
}

function counting(way: InFlight): SearchAlgorithm {
  return mcts({ selection: descend(puct({ inFlight: way })) });
}

async function quality(simulations: number): Promise<void> {
  const sequential = await solve(counting(unobserved), { simulations, concurrency: 1 });
  print(`solved of ${sample.length} Game of 24 puzzles with ${simulations} simulations each\n`);
  print(`  one at a time               ${shareOf(sequential)}\n`);
  for (const way of [unobserved, virtualLoss()]) {
    const parallel = await solve(counting(way), { simulations, concurrency: inFlight });
    const { difference, low, high } = pairedDifference(parallel, sequential);
    const [points, from, to] = [difference, low, high].map((value) => (100 * value).toFixed(1));
    print(`  ${inFlight} in flight, ${(way.spec?.name ?? '').padEnd(13)} ${shareOf(parallel)}`);
    print(`   ${points} points, paired 95 % [${from}, ${to}]\n`);
  }
}

function shareOf(outcomes: readonly boolean[]): string {
  const successes = outcomes.filter(Boolean).length;
  const { low, high } = wilsonInterval(successes, outcomes.length);
  const [share, from, to] = [successes / outcomes.length, low, high].map((value) =>
    (100 * value).toFixed(1),
  );
  return `${share} % [${from}, ${to}]`;
}

/** How many points fewer than a sequential search one with so many in flight may solve. */
const mostPoints = 5;

/** The same for the model's own proposals and values, on puzzles held out from its training. */
async function judged(count: number): Promise<void> {
  const puzzles = unseenGames('judged').slice(0, count);
  const model = tiny();
  const solve = (numbers: readonly number[], seed: number, concurrency: number) =>
    search(gameOf24.environment({ numbers }), {
      policy: fromModel({ model, temperature: 0.7, maxTokens: 48 }),
      evaluator: judge({ model }),
      algorithm: mcts({
        ...{ selection: descend(puct({ cInit: 0.1 })), widening: valueWidening() },
        ...{ width: 2, evaluate: 'all' },
      }),
      ...{ budget: { simulations: 60 }, stopWhen: solved(), seed, concurrency },
    });
  print(`solved of ${puzzles.length} held-out puzzles in 60 simulations, by the model alone\n`);
  let sequential: readonly boolean[] = [];
  for (const concurrency of [1, 4, 16, 64]) {
    const outcomes: boolean[] = [];
    let calls = 0;
    for (let first = 0; first < puzzles.length; first += 8) {
      const batch = puzzles.slice(first, first + 8);
      const results = await Promise.all(
        batch.map((numbers, place) => solve(numbers, first + place, concurrency)),
      );
      outcomes.push(...results.map((result) => result.solved));
      for (const { spend } of results) calls += spend.calls;
    }
    if (concurrency === 1) sequential = outcomes;
    const { difference, low, high } = pairedDifference(outcomes, sequential);
    const [points = 0, from = 0, to = 0] = [difference, low, high].map((value) => 100 * value);
    if (points < -mostPoints) process.exitCode = 1;
    print(`  ${`${concurrency}`.padStart(2)} in flight  ${shareOf(outcomes)}   `);
    print(`${points.toFixed(1)} points, paired 95 % [${from.toFixed(1)}, ${to.toFixed(1)}]   `);
    print(`${(calls / puzzles.length).toFixed(1)} calls\n`);
  }
  await model.close();
}

/** How long a call takes, in milliseconds. */
type Latency = (random: Random) => number;

const latencies: Readonly<Record<string, Latency>> = {
  fixed: () => 50,
  jitter: (random) => 50 * Math.exp(0.5 * gaussian(random)),
  'heavy tail': (random) => 25 / (1 - random.next()) ** (1 / 1.5),
};

function gaussian(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

const simulationsPerSlot = 40;
const mostTimes = new Map([
  [4, 1.15],
  [16, 1.15],
  [64, 1.5],
]);

const timed: Readonly<Record<string, (slots: number) => SearchAlgorithm>> = {
  'mcts()': () => mcts(),
  "mcts({ evaluate: 'all' })": () => mcts({ evaluate: 'all' }),
  'gumbel()': () => gumbel(),
  'beam()': (slots) => beam({ width: 20 * slots, samples: 2 }),
  'bestOfN()': () => bestOfN({ maxDepth: 8 }),
  'stepwise(mcts())': (slots) => stepwise(mcts(), { simulations: 20 * slots, maxSteps: 2 }),
};

/** How many draws of latencies there are, of which the median counts: one that is long may come last. */
const draws = 5;

/** Halvings and steps end all their simulations before they go on, and a halving has few nodes to expand at once. */
const unpromised = ['gumbel()', 'stepwise(mcts())'];

/** Calls of a policy, and the least time that they can take in so many slots. */
class Calls {
  readonly #random: Random;
  readonly #latency: Latency;
  /** By node, how long the calls on the way to it take one after the other. */
  readonly #chains = new Map<number, number>();
  readonly #levels = new Map<number, { sum: number; longest: number }>();

  constructor(latency: Latency, seed: string) {
    this.#latency = latency;
    this.#random = seededRandom(seed);
  }

  at({ id, depth, parent }: SearchNode): number {
    const ms = this.#latency(this.#random);
    const before = parent === undefined ? 0 : (this.#chains.get(parent.id) ?? 0);
    this.#chains.set(id, Math.max(this.#chains.get(id) ?? 0, before + ms));
    const { sum, longest } = this.#levels.get(depth) ?? { sum: 0, longest: 0 };
    this.#levels.set(depth, { sum: sum + ms, longest: Math.max(longest, ms) });
    return ms;
  }

  /** Whether all calls of a level end before the next level begins makes a difference. */
  least(slots: number, isByLevel: boolean): number {
    const levels = [...this.#levels.values()];
    const add = (sum: number, ms: number) => sum + ms;
    if (isByLevel) {
      return levels.map(({ sum, longest }) => Math.max(sum / slots, longest)).reduce(add);
    }
    const total = levels.map(({ sum }) => sum).reduce(add);
    return Math.max(total / slots, ...this.#chains.values());
  }
}

/** How many times the least time a search takes. */
async function timesLeast(
  name: string,
  latency: string,
  { slots, draw }: { readonly slots: number; readonly draw: number },
): Promise<number> {
  const clock = manualClock({ auto: true });
  const calls = new Calls(latencies[latency] as Latency, `${latency} ${slots} ${draw}`);
  const policy: Policy<number, number> = {
    async propose(node, { context, count, offset }) {
      const effect = { name: 'propose', repeatable: true };
      await context.effect(effect, [node.id, offset], async (call) => {
        await call.clock.sleep(calls.at(node), call.signal);
        return null;
      });
      const actions = Array.from({ length: Math.min(count, 8) }, (_, place) => offset + place);
      return actions.map((action) => ({ action, prior: 1 / 8 }));
    },
  };
  const { spend } = await search(
    {
      name: 'synthetic',
      reset: () => ({ state: 1 }),
      step: (state: number, action: number) => ({ state: nextState(state, action) }),
    },
    {
      policy,
      evaluator: heuristic(valueOfState),
      algorithm: (timed[name] as (slots: number) => SearchAlgorithm)(slots),
      budget: { simulations: simulationsPerSlot * slots },
      concurrency: slots,
      clock,
    },
  );
  return spend.ms / calls.least(slots, name === 'beam()');
}

async function medianTimes(name: string, latency: string, slots: number): Promise<number> {
  const times: number[] = [];
  for (let draw = 0; draw < draws; draw++) {
    times.push(await timesLeast(name, latency, { slots, draw }));
  }
  return times.toSorted((a, b) => a - b)[(draws - 1) / 2] ?? 0;
}

/** A time in the table. One that is longer than promised fails the command. */
function timeCell(name: string, times: number, most: number): string {
  const isOver = times > most;
  if (isOver && !unpromised.includes(name)) process.exitCode = 1;
  return `${times.toFixed(2)}${isOver ? '!' : ' '}`.padStart(7);
}

/**
 * Time on a manual clock as a multiple of the least possible: all latencies divided by the slots, or the longest chain of
 * calls where that takes longer; of a beam, level by level. What is above 1 is mostly the beginning, where the root is the
 * only node to expand, and then its children are.
 */
async function wallClock(): Promise<void> {
  const slots = [...mostTimes.keys()];
  print(
    `\ntime of ${simulationsPerSlot} simulations a slot, as a multiple of the least possible, `,
  );
  print(`with ${slots.join(', ')} slots (at most ${[...mostTimes.values()].join(', ')})\n`);
  for (const name of Object.keys(timed)) {
    for (const latency of Object.keys(latencies)) {
      const row: string[] = [];
      for (const [count, most] of mostTimes) {
        row.push(timeCell(name, await medianTimes(name, latency, count), most));
      }
      const promise = unpromised.includes(name) ? '  (not promised)' : '';
      print(`  ${name.padEnd(26)}${latency.padEnd(11)}${row.join('')}${promise}\n`);
    }
  }
}

function print(text: string): void {
  process.stdout.write(text);
}

const { values } = parseArgs({
  options: { puzzles: { type: 'string' }, time: { type: 'boolean' } },
});
if (values.puzzles !== undefined) await judged(Number(values.puzzles));
else {
  if (values.time !== true) for (const simulations of budgets) await quality(simulations);
  await wallClock();
}
