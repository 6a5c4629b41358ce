import { basename, join, resolve } from 'node:path';
import { EspalierError } from '../base/errors.ts';
import { modelName } from '../base/model-name.ts';
import { isModule } from '../base/user-module.ts';
import { espalierVersion } from '../base/version.ts';
import { wrapModel } from '../calls/middleware/compose.ts';
import { withLimit } from '../calls/middleware/with-limit.ts';
import type { PriceTable } from '../calls/prices.ts';
import { priceOf } from '../calls/pricing.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import type { Budget } from '../contracts/spend.ts';
import { algorithmEntry } from '../runs/algorithms.ts';
import {
  type BatchOptions,
  type GenerateOptions,
  type GenerateReport,
  generate,
  openRun,
  type RunFolder,
  readRun,
} from '../runs/index.ts';
import { mixRuns } from '../runs/mix-runs.ts';
import { type AskedProblem, outcomeOf, problemOf, readProblems } from '../runs/problems-file.ts';
import { askedOf, expectNotation } from '../runs/run-records.ts';
import { expectSame } from '../runs/same-run.ts';
import {
  type DatasetReport,
  describeDataset,
  expectDataset,
  isLeftOut,
  makeDataset,
} from './dataset.ts';
import { sayPlanned } from './generate-dry-run.ts';
import type { GenerateArguments } from './generate-options.ts';
import { describeRunEnd, reportOf } from './generate-report.ts';
import { type Interruption, interrupted, listenForInterruption } from './interruption.ts';
import { pairsOf, planFor, tellReplaced } from './methods.ts';
import { chooseModel, drawnBy, environmentFor, type Models } from './model.ts';
import { print } from './output.ts';
import { environmentsOf } from './own-environments.ts';
import {
  environmentAndTask,
  loadParts,
  type OwnModules,
  type OwnParts,
  partsFor,
} from './own-parts.ts';
import { pricesFor, recordedPrice } from './prices.ts';
import { shownOn, withStatus } from './progress.ts';
import { budgetOf } from './search-options.ts';

/** Runs `espalier generate`. Resolves to the exit code. */
export async function runGenerateCommand(request: GenerateArguments): Promise<number> {
  const { problems: file, task, limit: most } = request;
  await using own = await loadParts(request);
  const isOwn = own.has('environment');
  if (isOwn && task !== undefined) throw environmentAndTask();
  const problems = readProblems(file, isOwn ? 'own' : task).slice(0, most);
  expectNotation(request.notation, problems);
  await using chosen = await chooseModel(request, {
    ...(isOwn ? { isTaught: false } : needsOf(problems)),
    own,
  });
  const { model } = chosen;
  expectBatches(request, chosen);
  const concurrency = concurrencyOf(request);
  const asked = await describeRun(request, { models: chosen, problems, own });
  expectDataset(request, pairsOf(asked));
  const prices = pricesFor(request, model);
  const path = request.run ?? join('runs', basename(resolve(request.out)));
  if (request.dryRun === true) {
    sayPlanned(request, {
      ...{ line: chosen.line, problems: problems.length, run: path },
      method: String(asked['method'] ?? asked['algorithm']),
      budget: budgetFor(request, model),
      price: model && priceOf(model, prices, false),
    });
    return 0;
  }
  // One limit for all searches: their samples wait for one another.
  const limit = withLimit({ concurrency });
  const interruption = listenForInterruption();
  const guarded = interruption.guard(chosen);
  const limited: Models = {
    model: guarded.model && wrapModel(guarded.model, limit),
    ...(guarded.judgeModel && { judgeModel: wrapModel(guarded.judgeModel, limit) }),
  };
  using run = openRun(path);
  begin(run, { problems, asked });
  const report = await grow(request, {
    ...{ run, problems, models: limited, prices, own },
    interruption,
  });
  const usd = report.unpriced.length > 0 ? null : report.spend.usd;
  const told = reportOf(report, usd);
  run.writeReport({ ...told, ...recordedPrice(model, prices) });
  const dataset = await datasetOf(request, { run, report, own });
  print(
    request.json === true
      ? JSON.stringify({ ...told, run: path, dataset }, undefined, 2)
      : [
          chosen.line,
          '',
          describeRunEnd(report, usd, { path, problems: problems.length }),
          '',
          describeDataset(dataset, request),
        ].join('\n'),
  );
  return exitCodeOf(report, dataset);
}

function exitCodeOf({ stopReason, done }: GenerateReport, dataset: DatasetReport): number {
  if (stopReason === 'stopped') return interrupted;
  return stopReason === 'failing' || done === 0 || isLeftOut(dataset) ? 1 : 0;
}

/** Searches that wait for batches take little. */
function concurrencyOf({ concurrency, batch }: GenerateArguments): number {
  return concurrency ?? (batch === true ? 500 : 4);
}

/** What waits together takes as long as one of it. */
function withinSearch({ algorithm = 'mcts', method }: GenerateArguments) {
  const isListed = method === undefined && !isModule(algorithm);
  const isIndependent = isListed && algorithmEntry(algorithm).isIndependent === true;
  return { simulations: isIndependent ? 64 : 1, calls: 256 };
}

function batchOf({ batch = false, batchDeadline }: GenerateArguments): boolean | BatchOptions {
  return batch && batchDeadline !== undefined ? { deadlineMs: batchDeadline * 60_000 } : batch;
}

/** @throws EspalierError `usage` where nothing could go in batches, or no search could wait for them. */
function expectBatches(
  { batch, batchDeadline, ms }: GenerateArguments,
  { model, judgeModel = model }: Models,
): void {
  if (batch !== true) {
    if (batchDeadline === undefined) return;
    throw new EspalierError('usage', 'Expected `--batch-deadline` beside `--batch`.');
  }
  const without = [model, judgeModel].find((each) => each?.capabilities.batch !== true);
  if (model === undefined || without !== undefined) {
    const name = without === undefined ? 'none' : modelName(without);
    throw new EspalierError(
      'usage',
      `Expected \`--model\` to be one whose provider takes batches (openai:MODEL or anthropic:MODEL) beside \`--batch\`, got ${name}.`,
    );
  }
  if (ms === undefined) return;
  const message = 'Expected no `--ms` beside `--batch`: what waits for a batch waits for hours.';
  throw new EspalierError('usage', message);
}

/** What any of the problems needs, all do. */
function needsOf(problems: readonly AskedProblem[]): Parameters<typeof chooseModel>[1] {
  const all = problems.map((each) => problemOf(each));
  const [{ unaided } = {}] = all;
  const canDoWithout = unaided !== undefined && all.every((each) => each.unaided !== undefined);
  return { isTaught: all.every(({ isTaught }) => isTaught), ...(canDoWithout && { unaided }) };
}

type Fields = Readonly<Record<string, JsonValue>>;

/** What was asked, for `run.json`. What may change from session to session is no part of it. */
async function describeRun(
  request: GenerateArguments,
  {
    models: { model },
    problems,
    own,
  }: {
    readonly models: Models;
    readonly problems: readonly AskedProblem[];
    readonly own: OwnModules;
  },
): Promise<Fields> {
  const { asked, parts } = await firstMade(problems, { model }, own);
  const { seed, answers, untilSolved = false } = request;
  const { continuation = false, schema = false } = model?.capabilities ?? {};
  const problem = problemOf(asked, parts.environment);
  const planned = planFor(request, { model }, { problem, parts });
  tellReplaced(planned.plan, parts);
  return {
    command: 'generate',
    ...planned.asked,
    ...own.identity,
    model: model === undefined ? null : modelName(model),
    capabilities: { continuation, schema },
    budget: { ...budgetFor(request, model) },
    seed,
    answers,
    untilSolved,
    ...(request.batch === true && { batch: true }),
    versions: { espalier: espalierVersion(), node: process.versions.node },
  };
}

/** The first problem that the modules make parts for. One that they refuse fails on its own, as long as they make any. */
async function firstMade(
  problems: readonly AskedProblem[],
  models: Models,
  own: OwnModules,
): Promise<{ readonly asked: AskedProblem; readonly parts: OwnParts }> {
  const refusals: unknown[] = [];
  for (const asked of problems) {
    try {
      return { asked, parts: await partsFor(asked, models, own) };
    } catch (error) {
      refusals.push(error);
    }
  }
  throw refusals[0];
}

/** @throws EspalierError `usage` where the folder holds a run of something else. */
function begin(
  run: RunFolder,
  { problems, asked }: { readonly problems: readonly AskedProblem[]; readonly asked: Fields },
): void {
  const saved = readRun(run.path);
  if (saved.run !== undefined) expectSame(run.path, { old: saved.run, now: asked });
  else run.writeRun(asked);
  // Problems of earlier sessions stay: their trees belong to the run.
  const known = new Set(problems.map(({ id }) => id));
  const earlier = askedOf(run.path, saved).filter(({ id }) => !known.has(id));
  run.writeProblems([...problems, ...earlier].map((problem) => ({ ...problem }) as Fields));
}

/** Searches until everything is done, the budget is spent, or it is interrupted. */
async function grow(
  request: GenerateArguments,
  {
    run,
    problems,
    models,
    prices,
    own,
    interruption,
  }: {
    readonly run: RunFolder;
    readonly problems: readonly AskedProblem[];
    readonly models: Models;
    readonly prices: PriceTable;
    readonly own: OwnModules;
    readonly interruption: Interruption;
  },
): Promise<GenerateReport> {
  const { budgetUsd: usd, budgetCalls: calls, budgetTokens: tokens } = request;
  const environments = new Map<string, OwnParts['environment']>();
  const keyOf = ({ id }: AskedProblem, attempt: number) => JSON.stringify([id, attempt]);
  return withStatus((status) =>
    generate<AskedProblem, unknown, unknown>({
      run,
      problems,
      plan: async (asked, attempt) => {
        const searchModels = drawnBy(models, seedOf(request, attempt));
        const parts = await partsFor(asked, searchModels, own);
        environments.set(keyOf(asked, attempt), parts.environment);
        return { ...planOf(asked, attempt, { request, models: searchModels, parts }), prices };
      },
      async around(grow, asked, attempt) {
        try {
          await grow();
        } finally {
          const key = keyOf(asked, attempt);
          await own.release(environments.get(key));
          environments.delete(key);
        }
      },
      attempts: request.attempts,
      budget: {
        ...(usd !== undefined && { usd }),
        ...(calls !== undefined && { calls }),
        ...(tokens !== undefined && { tokens }),
      },
      concurrency: concurrencyOf(request),
      batch: batchOf(request),
      retryFailed: request.retryFailed === true,
      stopWhen: () => interruption.requested,
      onProgress: shownOn(status),
    }),
  );
}

function seedOf({ seed }: GenerateArguments, attempt: number): number | string {
  return attempt === 0 ? seed : `${seed}#${attempt}`;
}

function planOf(
  asked: AskedProblem,
  attempt: number,
  {
    request,
    models,
    parts,
  }: {
    readonly request: GenerateArguments;
    readonly models: Models;
    readonly parts: OwnParts;
  },
): Awaited<ReturnType<GenerateOptions<AskedProblem, unknown, unknown>['plan']>> {
  const { answers, untilSolved } = request;
  const seed = seedOf(request, attempt);
  const problem = problemOf(asked, parts.environment);
  const outcome = answers ? outcomeOf(asked) : undefined;
  const { method, ...plan } = planFor(request, models, { problem, parts }).plan;
  // What comes behind the first right end makes pairs too.
  const isOver = untilSolved === true ? {} : { stopWhen: [] };
  return {
    environment: environmentFor(models.model, problem),
    ...(outcome !== undefined && { outcome }),
    budget: budgetFor(request, models.model),
    seed,
    order: 'issued',
    ...(request.batch === true && { concurrency: withinSearch(request) }),
    ...plan,
    ...(method === undefined ? isOver : { method: { ...method, ...isOver } }),
  };
}

function budgetFor(
  { budgetUsd: _all, ...each }: GenerateArguments,
  model: LanguageModel | undefined,
): Budget {
  return budgetOf(each, model);
}

async function datasetOf(
  request: GenerateArguments,
  {
    run,
    report: { spend },
    own,
  }: { readonly run: RunFolder; readonly report: GenerateReport; readonly own: OwnModules },
): Promise<DatasetReport> {
  const saved = readRun(run.path);
  const environments = await environmentsOf(run.path, saved, own);
  const { names, records } = mixRuns([{ path: run.path, saved, environments }], request);
  return makeDataset(request, {
    problems: records,
    total: names.length,
    names: () => names,
    defaultRule: pairsOf(saved.run),
    source: basename(request.problems),
    spend,
  });
}
