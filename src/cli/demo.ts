import { type TinyModel, tiny } from '../backends/tiny/index.ts';
import { counted } from '../base/counted.ts';
import { seededRandom } from '../base/random.ts';
import { table } from '../base/table.ts';
import { type ComparisonRow, compare, type Method } from '../bench/compare.ts';
import { pairedDifference } from '../bench/metrics.ts';
import { unseenGames } from '../bench/tasks/game24.ts';
import type { Budget } from '../contracts/spend.ts';
import { gameOf24 } from '../environments/index.ts';
import { tasks } from '../runs/tasks.ts';
import { renderTree } from '../tree/render.ts';
import {
  type DemoMethod,
  demoMethods,
  type GameResult,
  hostedModel,
  solveGame,
} from './demo-methods.ts';
import { type Interruption, interrupted, listenForInterruption } from './interruption.ts';
import { print, StatusLine } from './output.ts';
import { legend } from './tree.ts';

/** What `espalier demo` was asked for. */
export interface DemoRequest {
  readonly json?: boolean;
  readonly puzzles: number;
  readonly tokens?: number;
  readonly calls?: number;
  readonly ms?: number;
  readonly seed: number | string;
}

type Numbers = readonly number[];

/**
 * Runs `espalier demo`: draws one search, then compares four methods on the same puzzles. Resolves to the exit code.
 */
export async function runDemoCommand(request: DemoRequest): Promise<number> {
  const interruption = listenForInterruption();
  const began = performance.now();
  await using models = new Models(request.seed);
  const setting = { ...request, models, interruption, budget: budgetOf(request) };
  if (request.json !== true) print(`${await picture(setting)}\n`);
  const unseen = unseenGames(request.seed);
  const problems = unseen.slice(0, request.puzzles);
  if (request.json !== true) print(`${introduction(problems.length, unseen.length, setting)}\n`);
  const comparison = await measure(problems, setting);
  const seconds = (performance.now() - began) / 1000;
  const differences = differencesOf(comparison.solved);
  if (request.json === true) {
    print(JSON.stringify({ rows: comparison.rows, differences }, undefined, 2));
  } else {
    print(table([heading, ...comparison.rows.map(cells)]));
    print(`\n${conclusion(differences, setting, seconds)}`);
  }
  return interruption.requested ? interrupted : 0;
}

/** So many puzzles are worked on at once: the model reads what they ask for in one pass. A limit on time is for one. */
const together = 8;

/** A model for each method: none may read what another has left in the cache. */
class Models implements AsyncDisposable {
  readonly #seed: number;
  readonly #models = new Map<DemoMethod, TinyModel>();

  constructor(seed: number | string) {
    // The model draws by its own seed: another seed shows other samples too.
    this.#seed = seededRandom(seed)
      .split('model')
      .integer(2 ** 31);
  }

  of(method: DemoMethod): TinyModel {
    const model = this.#models.get(method) ?? tiny({ seed: this.#seed });
    this.#models.set(method, model);
    return model;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const model of this.#models.values()) await model.close();
  }
}

interface Setting extends DemoRequest {
  readonly models: Models;
  readonly interruption: Interruption;
  readonly budget: Budget;
}

/** What each method may spend on a puzzle. */
function budgetOf({ tokens, calls, ms }: DemoRequest): Budget {
  const limits = Object.entries({ tokens, calls, ms }).filter(([, limit]) => limit !== undefined);
  return limits.length === 0 ? { tokens: 1_000 } : Object.fromEntries(limits);
}

/** One search, as it looks from inside. */
async function picture(setting: Setting): Promise<string> {
  const numbers = [2, 4, 6, 7];
  const method = demoMethods.mcts;
  const model = setting.models.of(method);
  const result = await attempt(setting, method, { numbers, seed: setting.seed });
  const { format } = gameOf24.environment({ numbers }).notation;
  const path = result.actions.map(format);
  const end = result.solved
    ? `${tasks.game24.answer(result.best.state, path)} = 24, found in ${counted(result.spend.calls, 'call')}.`
    : `Not solved in ${counted(result.spend.calls, 'call')}.`;
  return [
    `Model: ${model.modelId}, the toy that comes with the package, in this process. No key, no network.`,
    '',
    `Game of 24: make 24 from ${numbers.join(', ')}. The tree of one search, by MCTS:`,
    '',
    renderTree(result.tree, { depth: 2, breadth: 3, format }),
    '',
    legend,
    '',
    end,
  ].join('\n');
}

function introduction(size: number, all: number, { budget, seed }: Setting): string {
  return [
    `${size} of the ${all} solvable puzzles that the model has never seen, drawn with the seed ${seed}, the same for`,
    `every method, with at most ${limits(budget)} each. The same model proposes steps and judges`,
    'states. Each method has a copy of it that no other one uses.',
  ].join('\n');
}

function limits(budget: Budget): string {
  return Object.entries(budget)
    .map(([unit, limit]) => `${thousands(Number(limit))} ${unit}`)
    .join(' and ');
}

function attempt(
  { models, budget, interruption }: Setting,
  method: DemoMethod,
  problem: { readonly numbers: Numbers; readonly seed: number | string },
): Promise<GameResult> {
  const stopped = () => interruption.requested;
  return solveGame({ model: models.of(method), method, ...problem, budget, stopped });
}

async function measure(problems: readonly Numbers[], setting: Setting) {
  const status = new StatusLine();
  try {
    return await compare({
      problems,
      atOnce: setting.ms === undefined ? together : 1,
      methods: Object.values(demoMethods).map((method) => methodOf(setting, method)),
      onProgress: (done) => status.show(() => `${done} of ${counted(problems.length, 'puzzle')}`),
      stopped: () => setting.interruption.requested,
    });
  } finally {
    status.clear();
  }
}

function methodOf(setting: Setting, method: DemoMethod): Method<Numbers> {
  return {
    name: method.name,
    async run(numbers, index) {
      const seed = `${setting.seed}/${index}`;
      const { solved, spend } = await attempt(setting, method, { numbers, seed });
      return { solved, ...spend };
    },
  };
}

const heading = [
  'method',
  'solved',
  'share',
  '95 % interval',
  'tokens',
  'calls',
  '$ of 1,000',
  'ms',
];

function cells(row: ComparisonRow): string[] {
  const { method, solved: count, of, low, high, calls, tokens, usd, ms } = row;
  const share = of === 0 ? '–' : percent(count / of);
  const interval = `${percent(low)} to ${percent(high)}`;
  const amounts = [tokens.toFixed(0), calls.toFixed(1), (1_000 * usd).toFixed(2), ms.toFixed(0)];
  return [method, `${count}/${of}`, share, interval, ...amounts];
}

/** How much more one method solved than another, on the same puzzles. */
function differencesOf(solved: readonly (readonly boolean[])[]) {
  const methods = Object.values(demoMethods);
  return methods.slice(1).map(({ name }, place) => {
    // Best of N against greedy; the two searches against best of N.
    const other = place === 0 ? 0 : 1;
    const pair = pairedDifference(solved[place + 1] ?? [], solved[other] ?? []);
    return { method: name, than: methods[other]?.name ?? '', ...pair };
  });
}

/** What the table says about the question behind it: does a search pay? */
function conclusion(
  differences: ReturnType<typeof differencesOf>,
  { budget }: Setting,
  seconds: number,
): string {
  const search = differences.find(({ method }) => method === demoMethods.mcts.name);
  const { low = 0, high = 0, than = '' } = search ?? {};
  const verdict =
    low > 0 ? 'more than' : high < 0 ? 'fewer than' : 'neither clearly more nor fewer than';
  return [
    'Tokens, calls and ms are means per puzzle; a method stops at its first solution. The dollars are for 1,000 puzzles at',
    `the price of ${hostedModel}. On the same puzzles:`,
    ...differences.map(
      ({ method, than: other, difference, low: from, high: to }) =>
        `${method} less ${other}: ${points(difference)} points, 95 % interval ${points(from)} to ${points(to)}.`,
    ),
    `So with this model and ${limits(budget)} a puzzle, MCTS solves ${verdict} ${than}. Other models and problems may differ:`,
    'measure your own with `espalier generate`.',
    `${seconds.toFixed(0)} s.`,
  ].join('\n');
}

function thousands(count: number): string {
  return count.toLocaleString('en');
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function points(difference: number): string {
  const text = (100 * difference).toFixed(1);
  return difference < 0 ? text.replace('-', '−') : `+${text}`;
}
