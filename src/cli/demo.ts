import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TinyModel, tiny } from '../backends/tiny/index.ts';
import { counted } from '../base/counted.ts';
import { seededRandom } from '../base/random.ts';
import { type Compared, compare } from '../bench/bench.ts';
import type { BenchBudget, BenchReport } from '../bench/report.ts';
import { reportTable } from '../bench/report-table.ts';
import { game24Entry, unseenGames } from '../bench/tasks/game24.ts';
import { gameOf24 } from '../environments/index.ts';
import { tasks } from '../runs/tasks.ts';
import { renderTree } from '../tree/render.ts';
import { demoMethods, hosted, hostedModel, solveGame } from './demo-methods.ts';
import { type Interruption, interrupted, listenForInterruption } from './interruption.ts';
import { print } from './output.ts';
import { shownOn, withStatus } from './progress.ts';
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

/**
 * Runs `espalier demo`: draws one search, then compares methods on the same puzzles. Resolves to the exit code.
 */
export async function runDemoCommand(request: DemoRequest): Promise<number> {
  const interruption = listenForInterruption();
  const began = performance.now();
  // The model draws by its own seed: another seed shows other samples too.
  const seed = seededRandom(request.seed).split('model');
  await using model = tiny({ seed: seed.integer(2 ** 31) });
  const setting = { ...request, model, interruption, budgets: budgetsOf(request) };
  if (request.json !== true) print(`${await picture(setting)}\n`);
  const { report } = await measure(setting);
  if (request.json === true) {
    print(JSON.stringify(report, undefined, 2));
  } else {
    const seconds = (performance.now() - began) / 1000;
    print(`${introduction(report.task.instances, request)}\n`);
    print(`${reportTable(report)}\n`);
    print(conclusion(report, seconds));
  }
  return interruption.requested ? interrupted : 0;
}

/** The number of puzzles worked on at once: the model serves their requests in one pass. A time limit is for one. */
const together = 8;

interface Setting extends DemoRequest {
  readonly model: TinyModel;
  readonly interruption: Interruption;
  readonly budgets: readonly BenchBudget[];
}

/** What each method may spend on a puzzle. */
function budgetsOf({ tokens, calls, ms }: DemoRequest): readonly BenchBudget[] {
  const limits = Object.entries({ tokens, calls, ms }).flatMap(([unit, limit]) =>
    limit === undefined ? [] : [{ unit: unit as BenchBudget['unit'], limit }],
  );
  return limits.length === 0 ? [{ unit: 'tokens', limit: 1_000 }] : limits;
}

/** One search, as it looks from inside. */
async function picture({ model, budgets, seed, interruption }: Setting): Promise<string> {
  const numbers = [2, 4, 6, 7];
  const result = await solveGame({
    ...{ model, method: demoMethods.mcts, numbers, seed },
    budget: Object.fromEntries(budgets.map(({ unit, limit }) => [unit, limit])),
    stopped: () => interruption.requested,
  });
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

function introduction(size: number, { seed }: DemoRequest): string {
  return [
    `${size} of the ${unseenGames(seed).length} solvable puzzles that the model has never seen, drawn with the seed ${seed}, the same for`,
    'every method. The same model proposes steps and judges states; a method stops at its first solution.',
  ].join('\n');
}

/** A small benchmark: that of `espalier bench`, kept nowhere. */
async function measure({
  model,
  interruption,
  budgets,
  puzzles,
  seed,
}: Setting): Promise<Compared> {
  const out = mkdtempSync(join(tmpdir(), 'espalier-demo-'));
  return withStatus((status) =>
    compare({
      ...{ task: game24Entry.create(), model, methods: ['mcts', 'astar'], budgets, out, seed },
      limit: puzzles,
      temperature: demoMethods.bestOfN.temperature,
      concurrency: budgets.some(({ unit }) => unit === 'ms') ? 1 : together,
      prices: { [model.modelId]: hosted },
      onProgress: shownOn(status),
      stopWhen: () => interruption.requested,
    }),
  ).finally(() => rmSync(out, { recursive: true, force: true }));
}

/** The answer of the table to the question behind it: does a search pay? */
function conclusion({ verdict }: BenchReport, seconds: number): string {
  return [
    `${verdict.text}`,
    '',
    `Dollars are at the price of ${hostedModel}. Other models and problems may differ; measure your own:`,
    'espalier bench --task game24 --model ollama:qwen3 --methods mcts,beam --budgets tokens=1k,2k,4k',
    `${seconds.toFixed(0)} s.`,
  ].join('\n');
}
