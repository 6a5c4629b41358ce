/**
 * `npm run bench:concurrency`: what sixteen simulations in flight cost in quality, on the same 1,000
 * puzzles as a sequential search and with as many simulations, for both ways of counting them; and how
 * long 400 of them take over a policy with a latency of 50 ms.
 */
import {
  descend,
  type InFlight,
  mcts,
  type Policy,
  puct,
  type SearchAlgorithm,
  search,
  seededRandom,
  solved,
  unobserved,
  virtualLoss,
} from 'espalier';
import { gameOf24, solvablePuzzles } from 'espalier/environments';
import { journaled, uniform } from 'espalier/policies';
import { manualClock } from 'espalier/testing';
import { heuristic } from 'espalier/values';
import { wilsonInterval } from '../../src/base/stats/wilson-interval.ts';
import { pairedDifference } from '../../src/bench/metrics.ts';
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

async function wallClock(): Promise<void> {
  const latency = 50;
  const total = 400;
  const clock = manualClock({ auto: true });
  const policy: Policy<number, number> = {
    propose: ({ state }, { context }) =>
      context.effect({ name: 'propose', repeatable: true }, state ?? 0, async (call) => {
        await call.clock.sleep(latency, call.signal);
        return [0, 1, 2, 3].map((action) => ({ action, prior: 0.25 }));
      }),
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
      algorithm: mcts(),
      budget: { simulations: total },
      concurrency: inFlight,
      clock,
    },
  );
  const ideal = (total * latency) / inFlight;
  print(
    `\n${total} simulations at ${inFlight} in flight over ${latency} ms: ${spend.ms} ms, ${(spend.ms / ideal).toFixed(3)} × ${ideal} ms (at most 1.15 ×)\n`,
  );
}

function print(text: string): void {
  process.stdout.write(text);
}

for (const simulations of budgets) await quality(simulations);
await wallClock();
