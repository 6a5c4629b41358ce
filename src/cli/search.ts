import { counted } from '../base/counted.ts';
import { EspalierError } from '../base/errors.ts';
import { modelName } from '../base/model-name.ts';
import { espalierVersion } from '../base/version.ts';
import type { PriceTable } from '../calls/prices.ts';
import type { JsonValue } from '../contracts/json.ts';
import { openRun, type RunFolder, readRun } from '../runs/index.ts';
import { type Problem, readPuzzle } from '../runs/problem.ts';
import { questionProblem } from '../runs/question.ts';
import type { SearchResult } from '../search/contracts.ts';
import type { SearchEvent } from '../search/events.ts';
import { streamSearch } from '../search/search.ts';
import { treeToJson } from '../tree/serialize.ts';
import { type Interruption, interrupted, listenForInterruption } from './interruption.ts';
import { planFor } from './methods.ts';
import { type ChosenModel, chooseModel, drawnBy, environmentFor } from './model.ts';
import { print, printError, StatusLine } from './output.ts';
import { pricesFor } from './prices.ts';
import { budgetOf, type SearchRequest } from './search-options.ts';
import { describeSearch, reportOf, solvedAlready } from './search-report.ts';
import { unusedOf } from './unused.ts';

/** Runs `espalier search`. Resolves to the exit code. */
export async function runSearchCommand(request: SearchRequest): Promise<number> {
  if (request.retryFailed === true && request.save === undefined) {
    throw new EspalierError(
      'usage',
      'Expected `--save` beside `--retry-failed`: the calls that failed are those of a saved run.',
    );
  }
  const problem = problemOf(request);
  const done = solvedAlready(problem);
  if (done !== undefined) {
    print(request.json === true ? toJson(done) : 'Solved already: no step is needed.');
    return 0;
  }
  await using chosen = await chooseModel(request, problem);
  const prices = pricesFor(request, chosen.model);
  const folder = request.save === undefined ? undefined : openRun(request.save);
  try {
    if (folder !== undefined) expectOwnFolder(folder);
    const interruption = listenForInterruption();
    const result = await grow(request, { problem, folder, chosen, interruption, prices });
    const budget = budgetOf(request, chosen.model);
    const asksModel = chosen.model !== undefined;
    const unused = unusedOf(result, { budget, request, asksModel });
    const report = reportOf(problem, { result, model: modelOf(chosen), unused });
    folder?.saveTree({ problem: problem.text, attempt: 0, step: 0, tree: treeToJson(result.tree) });
    folder?.writeReport({ ...report });
    const end = { result, budget, line: chosen.line };
    print(request.json === true ? toJson(report) : describeSearch(problem, report, end));
    if (interruption.requested && report.stopReason === 'stopped') return interrupted;
    return report.stopReason === 'failed' ? 1 : 0;
  } finally {
    folder?.close();
  }
}

/** A run over many problems must not be written over. */
function expectOwnFolder({ path }: RunFolder): void {
  const command = readRun(path).run?.['command'];
  if (command === undefined || command === 'search') return;
  throw new EspalierError(
    'usage',
    `Expected \`--save\` to name a folder of its own, got \`${path}\`, which holds a run of \`${String(command)}\`.`,
  );
}

/** The puzzle or the question that was asked. */
function problemOf({ question, task, input }: SearchRequest): Problem {
  if (question !== undefined && task === undefined && input === undefined) {
    return questionProblem(question);
  }
  if (question === undefined && task !== undefined && input !== undefined) {
    return readPuzzle(task, input);
  }
  throw new EspalierError(
    'usage',
    'Expected either a question in quotes, or `--task` and `--input` for a puzzle.',
  );
}

interface Ground {
  readonly problem: Problem;
  readonly folder: RunFolder | undefined;
  readonly chosen: ChosenModel;
  readonly interruption: Interruption;
  readonly prices: PriceTable;
}

/** Searches to the end, or until somebody interrupts it. */
async function grow(
  request: SearchRequest,
  { problem, folder, chosen, interruption, prices }: Ground,
): Promise<SearchResult<unknown, unknown>> {
  const { concurrency, order, seed, retryFailed = false } = request;
  const { plan, asked } = planFor(request, drawnBy(chosen, seed), problem);
  const status = new StatusLine();
  try {
    const events = streamSearch(environmentFor(chosen.model, problem), {
      ...plan,
      budget: budgetOf(request, chosen.model),
      stopWhen: [...(plan.stopWhen ?? []), () => interruption.requested],
      concurrency,
      order,
      seed,
      retryFailed,
      prices,
      ...(folder !== undefined && { journal: folder.journal }),
    });
    for await (const event of events) {
      // Only now is it sure that the journal belongs to this run.
      if (event.type === 'search-start')
        folder?.writeRun({ ...describeRun(request, { problem, chosen }), ...asked });
      if (event.type === 'warning') {
        status.clear();
        printError(event.warning.message);
      }
      if (event.type === 'simulation-end') status.show(() => progressOf(event));
      if (event.type === 'search-end') return event.result;
    }
    throw new Error('The search ended without a result.');
  } finally {
    status.clear();
  }
}

/** The model by its name in journals; `null` where there is none. */
function modelOf({ model }: ChosenModel): string | null {
  return model === undefined ? null : modelName(model);
}

/** What was asked, for `run.json`. */
function describeRun(
  request: SearchRequest,
  { problem: { kind, text }, chosen }: Pick<Ground, 'chosen' | 'problem'>,
): Readonly<Record<string, JsonValue>> {
  const { concurrency, order, seed } = request;
  return {
    command: 'search',
    task: kind,
    input: text,
    model: modelOf(chosen),
    budget: { ...budgetOf(request, chosen.model) },
    concurrency,
    order,
    seed,
    versions: { espalier: espalierVersion(), node: process.versions.node },
  };
}

function progressOf({
  best,
  spend,
}: Extract<SearchEvent, { readonly type: 'simulation-end' }>): string {
  const value = best.terminal ? (best.reward ?? best.value) : best.value;
  return [
    counted(spend.simulations, 'simulation'),
    counted(spend.calls, 'call'),
    `${(spend.ms / 1000).toFixed(1)} s`,
    ...(best.depth > 0
      ? [`best so far ${value.toFixed(3)} after ${counted(best.depth, 'step')}`]
      : []),
  ].join(' · ');
}

function toJson(report: object): string {
  return JSON.stringify(report, undefined, 2);
}
