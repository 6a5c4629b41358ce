import { type ComparisonRow, compare, type Method } from '../bench/compare.ts';
import { pairedDifference } from '../bench/metrics.ts';
import { gameOf24, solvablePuzzles } from '../environments/puzzles/index.ts';
import { journaled } from '../policies/journaled.ts';
import { uniform } from '../policies/uniform.ts';
import { seededRandom } from '../runtime/random.ts';
import { astar } from '../search/algorithms/astar.ts';
import { bestOfN } from '../search/algorithms/best-of-n.ts';
import type { SearchAlgorithm, SearchResult } from '../search/contracts.ts';
import { search } from '../search/search.ts';
import { solved } from '../search/stop-conditions.ts';
import { renderTree } from '../tree/render.ts';
import { heuristic } from '../values/heuristic.ts';
import { mctsOfPuzzles } from './algorithms.ts';
import { type Interruption, listenForInterruption } from './interruption.ts';
import { print, StatusLine } from './output.ts';
import { table } from './table.ts';
import { tasks } from './tasks.ts';
import { legend } from './tree.ts';

/** What `espalier demo` was asked for. */
export interface DemoRequest {
  readonly json?: boolean;
  readonly puzzles: number;
  readonly calls: number;
  readonly seed: number | string;
}

type Numbers = readonly number[];

const methods = {
  walk: { name: 'one random walk', algorithm: bestOfN({ n: 1 }) },
  bestOfN: { name: 'best of N random walks', algorithm: bestOfN() },
  mcts: { name: 'MCTS', algorithm: mctsOfPuzzles() },
  astar: { name: 'A* on 1 − value', algorithm: astar() },
} as const;

/** Runs `espalier demo`: draws one search, then compares four methods on the same puzzles. */
export async function runDemoCommand(request: DemoRequest): Promise<void> {
  const interruption = listenForInterruption();
  if (request.json !== true) print(`${await picture(request, interruption)}\n`);
  const all = solvablePuzzles();
  const problems = sample(
    all.map(({ numbers }) => numbers),
    request,
  );
  if (request.json !== true) print(`${introduction(problems.length, all.length, request)}\n`);
  const { rows, solved: outcomes } = await measure(problems, request, interruption);
  if (request.json === true) print(JSON.stringify({ rows }, undefined, 2));
  else print(`${table([heading, ...rows.map(cells)])}\n\n${conclusion(outcomes)}`);
}

/** Different puzzles, each as likely as any other. */
function sample(all: readonly Numbers[], { puzzles, seed }: DemoRequest): readonly Numbers[] {
  const random = seededRandom(seed);
  const rest = [...all];
  const size = Math.min(puzzles, rest.length);
  return Array.from({ length: size }, () => rest.splice(random.integer(rest.length), 1)).flat(1);
}

/** One search, as it looks from inside. */
async function picture(request: DemoRequest, interruption: Interruption): Promise<string> {
  const numbers = [4, 9, 10, 13];
  const result = await solve(numbers, {
    algorithm: methods.mcts.algorithm,
    ...request,
    interruption,
  });
  const { format } = gameOf24.environment({ numbers }).notation;
  const path = result.actions.map(format);
  const end = result.solved
    ? `${tasks.game24.answer(result.best.state, path)} = 24, found in ${result.spend.calls} calls.`
    : `Not solved in ${result.spend.calls} calls.`;
  return [
    `Game of 24: make 24 from ${numbers.join(', ')}. The tree of one search, by MCTS:`,
    '',
    renderTree(result.tree, { depth: 2, breadth: 3, format }),
    '',
    legend,
    '',
    end,
  ].join('\n');
}

function introduction(size: number, all: number, { calls }: DemoRequest): string {
  return [
    `${size} of the ${all} solvable puzzles, drawn at random, the same for every method, with at most`,
    `${calls} calls of the policy each. Policy: the legal moves, all alike. Value: an inexact estimate,`,
    'written by hand. No language model, no network.',
  ].join('\n');
}

async function measure(
  problems: readonly Numbers[],
  request: DemoRequest,
  interruption: Interruption,
) {
  const status = new StatusLine();
  try {
    return await compare({
      problems,
      methods: Object.values(methods).map(
        ({ name, algorithm }): Method<Numbers> => ({
          name,
          async run(numbers, index) {
            const seed = `${request.seed}/${index}`;
            const result = await solve(numbers, {
              algorithm,
              calls: request.calls,
              seed,
              interruption,
            });
            return { solved: result.solved, calls: result.spend.calls, ms: result.spend.ms };
          },
        }),
      ),
      onProgress: (done) => status.show(() => `${done} of ${problems.length} puzzles`),
      stopped: () => interruption.requested,
    });
  } finally {
    status.clear();
  }
}

interface Attempt {
  readonly algorithm: SearchAlgorithm;
  readonly calls: number;
  readonly seed: number | string;
  readonly interruption: Interruption;
}

type State = ReturnType<ReturnType<typeof gameOf24.environment>['reset']>;
type Action = ReturnType<ReturnType<typeof gameOf24.environment>['actions']>[number];

function solve(
  numbers: Numbers,
  { algorithm, calls, seed, interruption }: Attempt,
): Promise<SearchResult<State, Action>> {
  const environment = gameOf24.environment({ numbers });
  return search({
    environment,
    // Journaled, each question to the policy counts as a call, like one to a language model.
    policy: journaled(uniform(environment.actions), { name: 'legal-moves', key: environment.key }),
    evaluator: heuristic(gameOf24.estimate),
    algorithm,
    budget: { calls },
    stopWhen: [solved(), () => interruption.requested],
    seed,
  });
}

const heading = ['method', 'solved', 'share', '95 % interval', 'calls', 'ms'];

function cells({ method, solved: count, of, low, high, calls, ms }: ComparisonRow): string[] {
  const share = of === 0 ? '–' : percent(count / of);
  const interval = `${percent(low)} to ${percent(high)}`;
  return [method, `${count}/${of}`, share, interval, calls.toFixed(1), ms.toFixed(1)];
}

/** What the table says about the question behind it: does a search pay? */
function conclusion(outcomes: readonly (readonly boolean[])[]): string {
  const [, bestOf = [], tree = []] = outcomes;
  const { difference, low, high } = pairedDifference(tree, bestOf);
  return [
    'Calls and ms are means per puzzle; a method stops at its first solution. The estimate costs no call:',
    'MCTS (puct, c 1.25) and A* ask it about every move that they list, a walk only about its end.',
    `MCTS less best of N on the same puzzles: ${points(difference)} points, 95 % interval ${points(low)} to ${points(high)}.`,
  ].join('\n');
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function points(difference: number): string {
  const text = (100 * difference).toFixed(1);
  return difference < 0 ? text.replace('-', '−') : `+${text}`;
}
