import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../backends/transport/json.ts';
import { counted } from '../base/counted.ts';
import { makeFolder } from '../base/make-folder.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import { type Compared, compare } from '../bench/bench.ts';
import { type CompareOptions, expectCompareOptions, measuredBy } from '../bench/compare-options.ts';
import { inspectLogs } from '../bench/inspect-log.ts';
import { reportMarkdown } from '../bench/markdown.ts';
import { expectModels } from '../bench/obstacle.ts';
import { reportPage } from '../bench/page/page.ts';
import { reportTable } from '../bench/report-table.ts';
import { type DocumentOptions, shellQuoted } from '../bench/sections.ts';
import type { BenchInstance, BenchTask } from '../bench/task.ts';
import { recordedTask } from '../bench/tasks/recorded.ts';
import { expectSplit } from '../bench/tasks/request.ts';
import { taskNamed } from '../bench/tasks/tasks.ts';
import type { PriceTable } from '../calls/prices.ts';
import { priceOf } from '../calls/pricing.ts';
import { usualFailuresInARow } from '../runs/generate-options.ts';
import { expectChecks, failedChecks, type Measures } from './bench-checks.ts';
import { expectOwnReports, tryBench } from './bench-dry-run.ts';
import { sayEstimate } from './bench-estimate.ts';
import type { BenchArguments } from './bench-options.ts';
import { type OwnOptions, ownOptions } from './bench-own.ts';
import { type BenchRequest, requestFrom } from './bench-request.ts';
import { interrupted, listenForInterruption } from './interruption.ts';
import { type ChosenModel, chooseModel } from './model.ts';
import { print, printError } from './output.ts';
import { pricesFor } from './prices.ts';
import { shownOn, withStatus } from './progress.ts';

/**
 * Runs `espalier bench`. Resolves to the exit code.
 *
 * @param typed - The arguments of the whole command line, which reports show.
 */
export async function runBenchCommand(
  suite: string | undefined,
  given: BenchArguments,
  typed: readonly string[],
): Promise<number> {
  const request = requestFrom(suite, given);
  const task =
    request.replay === undefined ? await taskNamed(request.task) : recordedTask(request.replay);
  try {
    const { seed = 0, seeds = 1, split, limit, budgets, failIfWorse } = request;
    expectSplit(task, split);
    const instances = await task.instances({ seed, ...defined({ split, limit }) });
    const own = await ownOptions(request, task);
    await using chosen = await modelFor(request, { task, instances });
    const model = chosen.model ?? instances[0]?.model;
    const options = optionsOf(request, { own, chosen, prices: pricesFor(request, model) });
    expectCompareOptions(options);
    const measured = measuredBy(options, instances).methods;
    const methods = measured.map(({ name }) => name);
    expectChecks(failIfWorse, { methods, budgets });
    if (request.dryRun === true) {
      const { line } = chosen;
      const notes = await tryBench(request, { options, methods: measured, instances });
      const price = model && priceOf(model, options.prices ?? {}, false);
      const size = { instances: instances.length, methods: methods.length, seeds, budgets };
      const { json = false } = request;
      sayEstimate(size, { json, line, price, hasModel: model !== undefined, out: request.out });
      for (const note of notes) printError(note);
      return 0;
    }
    const measures = { methods, budgets, searches: instances.length * seeds };
    await expectModels(options, instances);
    return await measure(request, { options, chosen, measures, typed });
  } finally {
    await task.close?.();
  }
}

/** The model of the request; the packaged one for puzzles that it was taught, none where tasks bring what guides. */
async function modelFor(
  request: BenchRequest,
  { task, instances }: { readonly task: BenchTask; readonly instances: readonly BenchInstance[] },
): Promise<ChosenModel> {
  const none = { model: undefined, line: 'Model: none.', [Symbol.asyncDispose]: async () => {} };
  if (request.replay !== undefined) {
    const { priceIn, maxTokens: given } = request;
    const [{ model, maxTokens } = {}] = instances;
    const price = priceIn === undefined ? model?.price : undefined;
    const said = [
      ...(price === undefined
        ? []
        : [`priced as then at $${price.input} and $${price.output} a million tokens`]),
      ...(given === undefined ? [`with steps of at most ${maxTokens} tokens as then`] : []),
    ];
    return {
      ...none,
      line: `Model: what was recorded${said.map((each) => `, ${each}`).join('')}.`,
    };
  }
  const isTaught = task.splits?.includes('unseen') === true;
  return chooseModel(request, {
    ...{ isTaught, unaided: instances[0]?.guides },
    own: { has: (kind) => kind === 'policy' && request.policy !== undefined },
  });
}

interface Measured {
  readonly options: CompareOptions;
  readonly chosen: ChosenModel;
  readonly measures: Measures;
  readonly typed: readonly string[];
}

async function measure(
  request: BenchRequest,
  { options, chosen, measures, typed }: Measured,
): Promise<number> {
  const { json = false, failIfWorse, inspect } = request;
  expectOwnReports(request);
  // Before anything is bought: a folder that cannot be made is a mistake in the request.
  if (inspect !== undefined) withStorageErrors(`\`${inspect}\``, () => makeFolder(inspect));
  const found = await searched(options);
  const stopped = stopText(found);
  const command = commandOf(typed);
  await writeReports(request, found, { command, ...(stopped !== undefined && { stopped }) });
  const failed = failedChecks(failIfWorse, found, measures);
  if (json) print(JSON.stringify(found.report, undefined, 2));
  else print(described(found, { out: request.out, line: chosen.line, stopped }));
  const say = json ? printError : print;
  if (json && stopped !== undefined) say(stopped);
  for (const line of failed) say(line);
  if (found.stopReason === 'stopped') return interrupted;
  const isEarly = found.stopReason === 'failing' || found.stopReason === 'budget';
  const isVain = found.cells.every(({ status }) => status !== 'scored');
  return failed.length > 0 || isEarly || isVain ? 1 : 0;
}

function optionsOf(
  request: BenchRequest,
  {
    own,
    chosen: { model, judgeModel },
    prices,
  }: {
    readonly own: OwnOptions;
    readonly chosen: ChosenModel;
    readonly prices: PriceTable;
  },
): CompareOptions {
  const { out, cache: recording, split, limit, seed, seeds, baseline, ...rest } = request;
  const { budgets, concurrency, temperature, maxTokens } = rest;
  return {
    ...{ ...own, budgets, out, prices },
    ...defined({ model, judgeModel, recording, split, limit, seed, seeds, baseline }),
    ...defined({ concurrency, temperature, maxTokens }),
    paced: request.times && request.replay === undefined,
    ...(request.budgetUsd !== undefined && { budget: { usd: request.budgetUsd } }),
  };
}

async function searched(options: CompareOptions): Promise<Compared> {
  const interruption = listenForInterruption();
  const stopWhen = (): boolean => interruption.requested;
  return withStatus(async (status) => {
    const show = shownOn(status);
    let isTold = false;
    const tell = (reused: number, left: number) => {
      if (!isTold && reused > 0)
        printError(`${counted(reused, 'search')} reused, ${left} to make.`);
      isTold = true;
    };
    const onProgress: CompareOptions['onProgress'] = (progress) => {
      tell(progress.done, progress.total - progress.done);
      show(progress);
    };
    const found = await compare({
      ...options,
      ...defined(interruption.guard(options)),
      stopWhen,
      onProgress,
    });
    tell(found.cells.length, found.unfinished);
    return found;
  });
}

/** What was typed, but for what changes only the output. Keys of models are never among arguments. */
function commandOf(typed: readonly string[]): string {
  return ['espalier', ...typed.filter((each) => each !== '--json')].map(shellQuoted).join(' ');
}

async function writeReports(
  { out, inspect }: BenchRequest,
  { report, cells }: Compared,
  options: DocumentOptions,
): Promise<void> {
  writeText(join(out, 'report.md'), reportMarkdown(report, options));
  writeText(join(out, 'report.html'), await reportPage(report, options));
  if (inspect === undefined) return;
  for (const { file, log } of inspectLogs(report, cells, new Date())) {
    writeText(join(inspect, file), JSON.stringify(log));
  }
}

function writeText(path: string, text: string): void {
  withStorageErrors(`\`${path}\``, () => writeFileSync(path, text));
}

/** Why there are searches left, and how to go on. */
function stopText({ stopReason, unfinished }: Compared): string | undefined {
  if (unfinished === 0) return undefined;
  const left = `${counted(unfinished, 'search')} ${unfinished === 1 ? 'is' : 'are'} left.`;
  switch (stopReason) {
    case 'budget':
      return `STOPPED: the budget of the benchmark is spent; ${left} Raise \`--budget-usd\` and run the same command to continue.`;
    case 'failing':
      return `STOPPED after ${usualFailuresInARow} failures in a row; ${left} Fix the cause and run the same command to continue.`;
    case 'stopped':
      return `STOPPED by Ctrl-C; ${left} Run the same command to continue.`;
    case 'finished':
      return `STOPPED: ${left} Run the same command to continue.`;
  }
}

function described(
  { report }: Compared,
  {
    out,
    line,
    stopped,
  }: { readonly out: string; readonly line: string; readonly stopped: string | undefined },
): string {
  return [
    ...(stopped === undefined ? [] : [stopped, '']),
    line,
    '',
    reportTable(report),
    'Columns are explained in report.md.',
    '',
    report.verdict.text,
    ...report.warnings.map((warning) => `Note: ${warning}`),
    '',
    `In ${out}: report.md, report.html, report.json.`,
  ].join('\n');
}
