/**
 * `npm run verify:verdicts [-- <instances>]`: how often the intervals of a benchmark cover the truth, and how often its verdict
 * is wrong, on tasks of which the truth is known. Exits with 1 where a bound is missed.
 */
import { mean } from '../../src/base/stats/mean.ts';
import { signFlipP } from '../../src/base/stats/sign-flips.ts';
import { wilsonInterval } from '../../src/base/stats/wilson-interval.ts';
import type { BenchCell } from '../../src/bench/cell.ts';
import { pairedDifference } from '../../src/bench/metrics.ts';
import { clusteredShare, groupsOf } from '../../src/bench/statistics.ts';
import { reportOf } from '../../src/bench/summary.ts';
import { type Random, seededRandom } from '../../src/index.ts';
import {
  bootstrapInterval,
  type Clusters,
  clusteredPairsOf,
  pairsOf,
  type Simulated,
} from '../support/simulated-results.ts';
import {
  searchesOf,
  twinSearchesOf,
  type VerdictTask,
  verdictBaseline,
  verdictTasks,
} from '../support/verdict-tasks.ts';

const instances = Number(process.argv[2] ?? 1700);
const simulations = 2000;
const benchmarks = 200;
const missed: string[] = [];
const header = {
  task: { name: 'chains', title: 'Chains', spec: null, source: null, licence: null, split: null },
  model: null,
  judgeModel: null,
  temperature: null,
  seeds: 1,
  seed: 0,
  baseline: verdictBaseline,
  baselines: [verdictBaseline],
  versions: { espalier: '0', node: '0' },
  bought: { calls: 0, tokens: 0, usd: 0 },
};

const began = performance.now();
say('Coverage of the 95 % intervals, in % of 2,000 simulated benchmarks; to be 93 to 97.\n');
coverShares();
coverUnclustered();
coverClustered();
bootstraps();
say(`  ${secondsSince(began)} s`);
say(`\nVerdicts of ${benchmarks} benchmarks, drawn from real searches of ${instances} problems.\n`);
for (const task of verdictTasks) await judge(task);
await judgeTwins();
for (const line of missed) say(`MISSED: ${line}`);
say(`\n${secondsSince(began)} s, ${missed.length} bounds missed`);
process.exitCode = missed.length === 0 ? 0 : 1;

/** Without clusters the chance of each count is known, and nothing need be drawn. */
function coverShares(): void {
  for (const n of [100, 300, 1000]) {
    for (const share of [0.1, 0.3, 0.5, 0.7, 0.9]) {
      let covered = 0;
      let logChance = n * Math.log(1 - share);
      for (let successes = 0; successes <= n; successes++) {
        if (holds(wilsonInterval(successes, n), share)) covered += 100 * Math.exp(logChance);
        logChance += Math.log(((n - successes) / (successes + 1)) * (share / (1 - share)));
      }
      const name = `n = ${n}, share ${share}, by sums`;
      say(`  ${name}: accuracy ${covered.toFixed(1)}`);
      bound(covered >= 93 && covered <= 97, `${name}: ${covered}`);
    }
  }
}

function coverUnclustered(): void {
  for (const [a, b] of [
    [0.1, 0.1],
    [0.3, 0.1],
    [0.3, 0.3],
    [0.5, 0.5],
    [0.7, 0.5],
    [0.7, 0.7],
    [0.9, 0.7],
    [0.9, 0.9],
  ] as const) {
    for (const overlap of [0, 0.3, 0.6, 0.9]) {
      const shares = { a, b, overlap };
      const name = `n = 100, shares ${a} and ${b}, overlap ${overlap}`;
      cover(name, shares, (random) => pairsOf(100, shares, random));
    }
  }
}

function coverClustered(): void {
  const designs: readonly (readonly [string, Clusters])[] = [
    ['5 seeds of 100', { count: 100, size: [5, 5] }],
    ['40 clusters of 1 to 9', { count: 40, size: [1, 9] }],
  ];
  for (const [design, clusters] of designs) {
    for (const within of [0.1, 0.5, 0.9]) {
      for (const [a, b, overlap] of [
        [0.1, 0.1, 0.5],
        [0.3, 0.1, 0],
        [0.5, 0.5, 0.5],
        [0.7, 0.5, 0],
        [0.9, 0.9, 0.5],
      ] as const) {
        const shares = { a, b, within, overlap };
        const name = `${design}, shares ${a} and ${b}, correlation ${within}`;
        cover(name, shares, (random) => clusteredPairsOf(clusters, shares, random));
      }
    }
  }
}

/** Both intervals and, where there is no difference, how often the test says that there is one. */
function cover(
  name: string,
  truth: { readonly a: number; readonly b: number },
  draw: (random: Random) => Simulated,
): void {
  const random = seededRandom(name);
  const covered = { accuracy: 0, difference: 0, rejected: 0, differing: 0 };
  let isClustered = false;
  for (let simulation = 0; simulation < simulations; simulation++) {
    const { a, b, clusters } = draw(random);
    const share = clusteredShare(a, clusters);
    const difference = pairedDifference(a, b, clusters);
    isClustered ||= new Set(clusters).size < clusters.length;
    const groups = groupsOf(
      a.map((right, place) => Number(right) - Number(b[place])),
      clusters,
    );
    covered.accuracy += Number(holds(share, truth.a));
    covered.difference += Number(holds(difference, truth.a - truth.b));
    covered.rejected += Number(signFlipP(groups) < 0.05);
    covered.differing += differing(groups.map(mean));
  }
  const percent = (count: number) => (100 * count) / simulations;
  const [accuracy, difference] = [percent(covered.accuracy), percent(covered.difference)];
  // Where three problems differ, no interval of any kind covers the truth in just 95 %: there are too few outcomes.
  const few = covered.differing / simulations < 5;
  const alarms =
    truth.a === truth.b ? `, false alarms ${percent(covered.rejected).toFixed(1)}` : '';
  say(
    `  ${name}: ${isClustered ? `accuracy ${accuracy.toFixed(1)}, ` : ''}difference ${difference.toFixed(1)}${few ? ' (fewer than 5 problems differ)' : ''}${alarms}`,
  );
  if (isClustered) bound(accuracy >= 93 && accuracy <= 97, `${name}: accuracy ${accuracy}`);
  bound(difference >= 93 && (few || difference <= 97), `${name}: difference ${difference}`);
  if (truth.a === truth.b) bound(percent(covered.rejected) <= 7, `${name}: false alarms`);
}

/** How many clusters differ, those that differ little counted in part: (Σ|d|)² / Σd². */
function differing(differences: readonly number[]): number {
  const sizes = differences.map(Math.abs);
  const squares = sizes.reduce((sum, size) => sum + size ** 2, 0);
  return squares === 0 ? 0 : sizes.reduce((sum, size) => sum + size, 0) ** 2 / squares;
}

function holds({ low, high }: { readonly low: number; readonly high: number }, truth: number) {
  return low - 1e-9 <= truth && truth <= high + 1e-9;
}

/** What percentiles of a bootstrap over clusters cover, for the choice of the interval. No bound. */
function bootstraps(): void {
  for (const a of [0.1, 0.5, 0.9]) {
    const random = seededRandom(`bootstrap ${a}`);
    const shares = { a, b: a, within: 0.5, overlap: 0 };
    let covered = 0;
    for (let simulation = 0; simulation < 1000; simulation++) {
      const drawn = clusteredPairsOf({ count: 40, size: [1, 9] }, shares, random);
      const means = groupsOf(drawn.a.map(Number), drawn.clusters).map(mean);
      covered += Number(holds(bootstrapInterval(means, random), a));
    }
    say(`  beside: a bootstrap of 40 clusters of 1 to 9, share ${a}: ${(covered / 10).toFixed(1)}`);
  }
}

async function judge(task: VerdictTask): Promise<void> {
  const start = performance.now();
  const population = await searchesOf(task, instances);
  const seconds = secondsSince(start);
  const gap = Math.max(...gapsOf(population));
  say(
    `${task.name}: the greatest true gain is ${points(gap)} points (${population.flat().length} searches, ${seconds} s)`,
  );
  bound(task.pays ? gap >= 0.2 : gap <= 0, `${task.name}: the true gain is ${points(gap)}`);
  for (const n of [100, 1000]) {
    const answers = verdictsOf(population, n, () => false);
    tell(task.name, n, { answers, gap });
    const decided = answers.yes + answers.no;
    if (n === 100 && task.pays) {
      bound(decided >= 0.8 * benchmarks, `${task.name}: decided ${decided} of ${benchmarks}`);
    }
    if (n === 1000 && !task.pays) {
      bound(answers.no >= 0.6 * benchmarks, `${task.name}: "no" in ${answers.no}`);
    }
  }
}

/**
 * Three names of one method without a sample in common, their results swapped by a coin: the truth is 0 exactly. How often
 * that is shown has no bound: without common samples two methods that are equal differ on many problems.
 */
async function judgeTwins(): Promise<void> {
  const [task] = verdictTasks.slice(1);
  if (task === undefined) return;
  const population = await twinSearchesOf(task, instances);
  say('best of N under three names, nothing in common: the true gain is 0');
  for (const n of [100, 1000]) {
    tell('twins', n, {
      answers: verdictsOf(population, n, (random) => random.next() < 0.5),
      gap: 0,
    });
  }
}

function tell(
  name: string,
  n: number,
  { answers, gap }: { readonly answers: Answers; readonly gap: number },
): void {
  // A gain between nothing and 3 points is both: more than nothing, and too little to pay.
  const wrong = (gap <= 0 ? answers.yes : 0) + (gap >= 0.03 ? answers.no : 0);
  say(
    `  n = ${n}: yes ${answers.yes}, no ${answers.no}, undecided ${answers.undecided}; wrong ${wrong}`,
  );
  bound(wrong <= 18, `${name} at n = ${n}: wrong ${wrong}`);
}

type Answers = Record<'no' | 'undecided' | 'yes', number>;

/** Verdicts of benchmarks whose problems are drawn from the population, with putting back. */
function verdictsOf(
  population: readonly (readonly BenchCell[])[],
  n: number,
  swaps: (random: Random) => boolean,
): Answers {
  const answers: Answers = { yes: 0, no: 0, undecided: 0 };
  for (let benchmark = 0; benchmark < benchmarks; benchmark++) {
    const random = seededRandom('benchmark').split(benchmark, n);
    const cells = Array.from({ length: n }, (_, place) => {
      const drawn = population[random.integer(population.length)] ?? [];
      return (swaps(random) ? swapped(drawn) : drawn).map((cell) => ({
        ...cell,
        instance: String(place),
        cluster: String(place),
      }));
    }).flat();
    answers[reportOf(cells, header).verdict.answer]++;
  }
  return answers;
}

/** The names of the methods moved on by one: with a coin for each problem no name is better than another. */
function swapped(cells: readonly BenchCell[]): readonly BenchCell[] {
  const names = [...new Set(cells.map(({ method }) => method))].reverse();
  const others = names.toReversed();
  return cells.map((cell) => ({ ...cell, method: names[others.indexOf(cell.method)] ?? '' }));
}

/** The true gain of each search at each budget. */
function gapsOf(population: readonly (readonly BenchCell[])[]): readonly number[] {
  const [first = []] = population;
  return first.flatMap(({ method, budget }, place) => {
    if (method === verdictBaseline) return [];
    const other = first.findIndex(
      (cell) => cell.method === verdictBaseline && cell.budget.limit === budget.limit,
    );
    const gains = population.map(
      (cells) => Number(cells[place]?.right) - Number(cells[other]?.right),
    );
    return [mean(gains)];
  });
}

function secondsSince(start: number): string {
  return ((performance.now() - start) / 1000).toFixed(0);
}

function points(gain: number): string {
  return (100 * gain).toFixed(1);
}

function bound(kept: boolean, what: string): void {
  if (!kept) missed.push(what);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
