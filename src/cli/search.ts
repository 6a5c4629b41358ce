import type { PuzzleEnvironment } from '../environments/puzzles/index.ts';
import { openRun, type RunFolder } from '../runs/index.ts';
import type { SearchResult } from '../search/contracts.ts';
import type { SearchEvent } from '../search/events.ts';
import { streamSearch } from '../search/search.ts';
import type { JsonValue } from '../spec/json.ts';
import type { Budget } from '../spec/spend.ts';
import { treeToJson } from '../tree/serialize.ts';
import { algorithmFor } from './algorithms.ts';
import { listenForInterruption } from './interruption.ts';
import { type ChosenModel, chooseModel, guidesOf } from './model.ts';
import { print, StatusLine } from './output.ts';
import { type Problem, readProblem } from './problem.ts';
import { budgetOf, type SearchRequest } from './search-options.ts';
import { describeSearch, reportOf, solvedAlready } from './search-report.ts';
import { espalierVersion } from './version.ts';

/** Runs `espalier search`. Resolves to the exit code. */
export async function runSearchCommand(request: SearchRequest): Promise<number> {
  const problem = readProblem(request.task, request.input);
  const done = solvedAlready(problem);
  if (done !== undefined) {
    print(request.json === true ? toJson(done) : 'Solved already: no step is needed.');
    return 0;
  }
  await using chosen = chooseModel(request.model, problem.task);
  // Before a run folder is made: a model that cannot be read is a mistake in the request.
  await chosen.model?.load();
  const folder = request.save === undefined ? undefined : openRun(request.save);
  try {
    const environment = problem.task.puzzle.environment(problem.instance);
    const result = await grow(request, { problem, environment, folder, chosen });
    const report = reportOf(problem, { environment, result, model: modelOf(chosen) });
    folder?.saveTree({ problem: problem.text, attempt: 0, step: 0, tree: treeToJson(result.tree) });
    folder?.writeReport({ ...report });
    const end = { result, budget: budgetFor(request, chosen), line: chosen.line };
    print(request.json === true ? toJson(report) : describeSearch(problem, report, end));
    return report.stopReason === 'failed' ? 1 : 0;
  } finally {
    folder?.close();
  }
}

interface Ground {
  readonly problem: Problem;
  readonly environment: PuzzleEnvironment<unknown, unknown>;
  readonly folder: RunFolder | undefined;
  readonly chosen: ChosenModel;
}

/** Searches to the end, or until somebody interrupts it. */
async function grow(
  request: SearchRequest,
  { problem, environment, folder, chosen }: Ground,
): Promise<SearchResult<unknown, unknown>> {
  const { task } = problem;
  const hasModel = chosen.model !== undefined;
  const { algorithm, stopWhen } = algorithmFor(request.algorithm, { task, hasModel });
  const { concurrency, order, seed } = request;
  const status = new StatusLine();
  const interruption = listenForInterruption();
  try {
    const events = streamSearch({
      environment,
      ...guidesOf(chosen.model, task, environment),
      algorithm,
      budget: budgetFor(request, chosen),
      stopWhen: [...stopWhen, () => interruption.requested],
      concurrency,
      order,
      seed,
      ...(folder !== undefined && { journal: folder.journal }),
    });
    for await (const event of events) {
      // Only now is it sure that the journal belongs to this run.
      if (event.type === 'search-start')
        folder?.writeRun(describeRun(request, { problem, chosen }));
      if (event.type === 'simulation-end') status.show(() => progressOf(event));
      if (event.type === 'search-end') return event.result;
    }
    throw new Error('The search ended without a result.');
  } finally {
    status.clear();
  }
}

function budgetFor(request: SearchRequest, { model }: ChosenModel): Budget {
  return budgetOf(request, { hasModel: model !== undefined });
}

/** The model by its name in journals; `null` where there is none. */
function modelOf({ model }: ChosenModel): string | null {
  return model === undefined ? null : `${model.provider}:${model.modelId}`;
}

/** What was asked, for `run.json`. */
function describeRun(
  request: SearchRequest,
  { problem: { text }, chosen }: Pick<Ground, 'chosen' | 'problem'>,
): JsonValue {
  const { task, algorithm, concurrency, order, seed } = request;
  return {
    command: 'search',
    task,
    input: text,
    algorithm,
    model: modelOf(chosen),
    budget: { ...budgetFor(request, chosen) },
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
    `${spend.simulations} simulations`,
    `${spend.calls} calls`,
    `${(spend.ms / 1000).toFixed(1)} s`,
    ...(best.depth > 0 ? [`best so far ${value.toFixed(3)} after ${best.depth} steps`] : []),
  ].join(' · ');
}

function toJson(report: object): string {
  return JSON.stringify(report, undefined, 2);
}
