import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { defined } from '../backends/transport/json.ts';
import { counted } from '../base/counted.ts';
import { EspalierError } from '../base/errors.ts';
import { expectation } from '../base/expect.ts';
import { makeFolder } from '../base/make-folder.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import { type Compared, type CompareOptions, compare } from '../bench/bench.ts';
import { type Estimate, estimateOf } from '../bench/estimate.ts';
import { budgetText, dollars, pointsWithin } from '../bench/figures.ts';
import { inspectLogs } from '../bench/inspect-log.ts';
import { reportMarkdown } from '../bench/markdown.ts';
import { baselinesFor } from '../bench/methods.ts';
import { reportPage } from '../bench/page/page.ts';
import type { BenchBudget } from '../bench/report.ts';
import { reportTable } from '../bench/report-table.ts';
import { budgetsOf, type Check, parseCheck, readSuite } from '../bench/suite.ts';
import { differencesFrom } from '../bench/summary.ts';
import type { BenchTask } from '../bench/task.ts';
import { recordedTask } from '../bench/tasks/recorded.ts';
import { taskNamed } from '../bench/tasks/tasks.ts';
import { priceOf } from '../calls/pricing.ts';
import type { GenerateProgress } from '../runs/generate.ts';
import type { BenchArguments } from './bench-options.ts';
import { interrupted, listenForInterruption } from './interruption.ts';
import { type ChosenModel, chooseModel, modelOption } from './model.ts';
import { print, StatusLine } from './output.ts';
import { pricesFor } from './prices.ts';
import { describeProgress } from './progress.ts';

/** What is asked for, from a suite and from the command line, which has the last word. */
interface BenchRequest extends Omit<BenchArguments, 'task'> {
  readonly task: string;
  readonly methods: readonly string[];
  readonly budgets: readonly BenchBudget[];
  readonly out: string;
  readonly failIfWorse: readonly Check[];
}

/** Runs `espalier bench`. Resolves to the exit code. */
export async function runBenchCommand(
  suite: string | undefined,
  given: BenchArguments,
): Promise<number> {
  const request = requestFrom(suite, given);
  const task =
    request.replay === undefined ? await taskNamed(request.task) : recordedTask(request.replay);
  try {
    await using chosen = await modelFor(request, task);
    if (request.dryRun === true) return await sayEstimate(request, { task, chosen });
    return await measure(request, { task, chosen });
  } finally {
    await task.close?.();
  }
}

function requestFrom(path: string | undefined, given: BenchArguments): BenchRequest {
  const suite = path === undefined ? undefined : readSuite(path);
  const { failIfWorse = [], budgets, model, ...rest } = suite ?? {};
  const fromSuite = {
    ...rest,
    ...(budgets !== undefined && { budgets: budgetsOf(budgets) }),
    ...(model !== undefined && { model: modelOption(model) }),
  };
  const merged = { ...defined(fromSuite), ...defined(given) };
  const task = merged.replay ?? merged.task;
  if (task === undefined) {
    throw new EspalierError(
      'usage',
      'Expected `--task`, `--replay` or a suite to say what is measured. `espalier bench --help` has examples.',
    );
  }
  return {
    methods: ['mcts'],
    budgets: [1_000, 2_000, 4_000].map((limit) => ({ unit: 'tokens', limit })),
    out: join('bench', basename(task).replace(/\W+/g, '-')),
    ...merged,
    times: given.times,
    task,
    failIfWorse: given.failIfWorse ?? failIfWorse.map(parseCheck),
  };
}

/** The model of the request; the packaged one for puzzles that it was taught, none where tasks bring what guides. */
async function modelFor(request: BenchRequest, task: BenchTask): Promise<ChosenModel> {
  const none = { model: undefined, line: 'Model: none.', [Symbol.asyncDispose]: async () => {} };
  if (request.replay !== undefined) return { ...none, line: 'Model: what was recorded.' };
  const [first] = await task.instances({ limit: 1, seed: request.seed ?? 0 });
  const isTaught = task.splits?.includes('unseen') === true;
  return chooseModel(request, { isTaught, unaided: first?.guides });
}

interface Measured {
  readonly task: BenchTask;
  readonly chosen: ChosenModel;
}

async function sayEstimate(
  request: BenchRequest,
  { task, chosen: { model, line } }: Measured,
): Promise<number> {
  const { split, limit, seed = 0, seeds = 1, budgets } = request;
  const instances = await task.instances({ seed, ...defined({ split, limit }) });
  const methods = new Set([...baselinesFor(instances), ...request.methods]).size;
  const price = model && priceOf(model, pricesFor(request, model), false);
  const estimate = estimateOf({ instances: instances.length, seeds, methods, budgets }, price);
  if (request.json === true) {
    print(JSON.stringify(estimate, undefined, 2));
    return 0;
  }
  const amounts = (used: Estimate['atMost']) =>
    Object.entries(used)
      .map(([unit, limit]) => budgetText({ unit: unit as BenchBudget['unit'], limit }))
      .join(', ');
  const { usd } = estimate;
  const priced = ([read, written]: readonly [number, number]) =>
    `, ${dollars(read)} if all were read and ${dollars(written)} if all were written`;
  print(
    [
      line,
      '',
      `${counted(instances.length, 'problem')}, ${counted(methods, 'method')}, ${counted(budgets.length, 'budget')}, ${counted(seeds, 'seed')}: ${estimate.searches} searches.`,
      `Charged are at most ${amounts(estimate.atMost)}${usd === undefined ? '' : priced(usd.atMost)}.`,
      `Bought are about ${amounts(estimate.shared)} or less${usd === undefined ? '' : priced(usd.shared)}: what smaller budgets ask, the largest one asks too.`,
      ...(model !== undefined && price === undefined
        ? ['The price of the model is not known: give it as `--price-in` and `--price-out`.']
        : []),
    ].join('\n'),
  );
  return 0;
}

async function measure(request: BenchRequest, { task, chosen }: Measured): Promise<number> {
  const { model, judgeModel } = chosen;
  const { out, cache: recording, split, limit, seed, seeds, baseline, ...rest } = request;
  const { methods, budgets, concurrency, temperature } = rest;
  expectChecks(request);
  const status = new StatusLine();
  const interruption = listenForInterruption();
  const started = performance.now();
  let first: GenerateProgress | undefined;
  const prices = pricesFor(request, model);
  const options: CompareOptions = {
    ...{ task, methods, budgets, out, prices },
    ...defined({ model, judgeModel, recording, split, limit, seed, seeds, baseline }),
    ...defined({ concurrency, temperature }),
    paced: request.times && request.replay === undefined,
    ...(request.budgetUsd !== undefined && { budget: { usd: request.budgetUsd } }),
    stopWhen: () => interruption.requested,
    onProgress: (progress: GenerateProgress) => {
      first ??= progress;
      const since = { first, ms: performance.now() - started };
      status.show(() => describeProgress(progress, since));
    },
  };
  const found = await compare(options).finally(() => status.clear());
  await writeReports(out, found, request.inspect);
  const failed = checked(request.failIfWorse, found);
  print(
    request.json === true
      ? JSON.stringify(found.report, undefined, 2)
      : described(found, { out, line: chosen.line }),
  );
  for (const line of failed) print(line);
  if (found.stopReason === 'stopped') return interrupted;
  return failed.length > 0 || found.stopReason === 'failing' || found.cells.length === 0 ? 1 : 0;
}

async function writeReports(
  out: string,
  { report, cells }: Compared,
  inspect: string | undefined,
): Promise<void> {
  const files = { 'report.md': reportMarkdown(report), 'report.html': await reportPage(report) };
  for (const [name, text] of Object.entries(files)) writeText(join(out, name), text);
  if (inspect === undefined) return;
  withStorageErrors(`\`${inspect}\``, () => makeFolder(inspect));
  for (const { file, log } of inspectLogs(report, cells, new Date())) {
    writeText(join(inspect, file), JSON.stringify(log));
  }
}

function writeText(path: string, text: string): void {
  withStorageErrors(`\`${path}\``, () => writeFileSync(path, text));
}

function described(
  { report, stopReason, unfinished }: Compared,
  { out, line }: { readonly out: string; readonly line: string },
): string {
  const ends = {
    budget: 'the budget of the benchmark is spent',
    failing: 'one search after the other failed',
    finished: '',
    stopped: 'ended by Ctrl-C',
  };
  return [
    line,
    '',
    reportTable(report),
    '',
    report.verdict.text,
    ...report.warnings.map((warning) => `Note: ${warning}`),
    '',
    `In ${out}: report.md, report.html, report.json.`,
    ...(unfinished > 0
      ? [`${unfinished} searches still to be made (${ends[stopReason]}): the same command goes on.`]
      : []),
  ].join('\n');
}

/** @throws EspalierError `usage` for a check of what is not measured, before anything is spent. */
function expectChecks({ failIfWorse, methods, budgets }: BenchRequest): void {
  const names = new Set(['greedy', 'self-consistency', 'best-of-n', ...methods]);
  for (const { method, than, limit } of failIfWorse) {
    const isKnown = names.has(method) && names.has(than);
    if (isKnown && budgets.some((budget) => budget.limit === limit)) continue;
    const known = `methods (${[...names].join(', ')}) and budgets (${budgets.map((budget) => budget.limit).join(', ')}) of the benchmark`;
    throw expectation('--fail-if-worse', `two ${known}`, `${method}:${than}@${limit}`);
  }
}

/** What is worse than it may be: the upper end of its interval is below nothing. */
function checked(checks: readonly Check[], { report, cells }: Compared): readonly string[] {
  return checks.flatMap(({ method, than, limit }) => {
    const found = differencesFrom(cells, than).find(
      (difference) => difference.method === method && difference.budget.limit === limit,
    );
    if (found === undefined) {
      const known = report.points.map((point) => `${point.method}@${point.budget.limit}`);
      throw expectation(
        '--fail-if-worse',
        `methods and budgets of the benchmark (${known.join(', ')})`,
        `${method}:${than}@${limit}`,
      );
    }
    if (found.high >= 0) return [];
    return [
      `Failed: ${method} is worse than ${than} at ${budgetText(found.budget)}: ${pointsWithin(found.difference, found)} points.`,
    ];
  });
}
