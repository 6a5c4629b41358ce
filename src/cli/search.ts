import type { PuzzleEnvironment } from '../environments/puzzles/index.ts';
import { journaled } from '../policies/journaled.ts';
import { uniform } from '../policies/uniform.ts';
import { openRun, type RunFolder } from '../runs/index.ts';
import type { SearchResult } from '../search/contracts.ts';
import type { SearchEvent } from '../search/events.ts';
import { streamSearch } from '../search/search.ts';
import type { JsonValue } from '../spec/json.ts';
import { treeToJson } from '../tree/serialize.ts';
import { heuristic } from '../values/heuristic.ts';
import { algorithmFor } from './algorithms.ts';
import { listenForInterruption } from './interruption.ts';
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
  const folder = request.save === undefined ? undefined : openRun(request.save);
  try {
    const environment = problem.task.puzzle.environment(problem.instance);
    const result = await grow(request, { problem, environment, folder });
    const report = reportOf(problem, environment, result);
    folder?.saveTree({ problem: problem.text, attempt: 0, step: 0, tree: treeToJson(result.tree) });
    folder?.writeReport({ ...report });
    const budget = budgetOf(request);
    print(
      request.json === true ? toJson(report) : describeSearch(problem, report, { result, budget }),
    );
    return report.stopReason === 'failed' ? 1 : 0;
  } finally {
    folder?.close();
  }
}

interface Ground {
  readonly problem: Problem;
  readonly environment: PuzzleEnvironment<unknown, unknown>;
  readonly folder: RunFolder | undefined;
}

/** Searches to the end, or until somebody interrupts it. */
async function grow(
  request: SearchRequest,
  { problem, environment, folder }: Ground,
): Promise<SearchResult<unknown, unknown>> {
  const { puzzle } = problem.task;
  const { algorithm, stopWhen } = algorithmFor(request.algorithm, problem.task);
  const { concurrency, order, seed } = request;
  const status = new StatusLine();
  const interruption = listenForInterruption();
  try {
    const events = streamSearch({
      environment,
      policy: journaled(uniform(environment.actions), {
        name: 'legal-moves',
        key: environment.key,
      }),
      evaluator: heuristic(puzzle.estimate),
      algorithm,
      budget: budgetOf(request),
      stopWhen: [...stopWhen, () => interruption.requested],
      concurrency,
      order,
      seed,
      ...(folder !== undefined && { journal: folder.journal }),
    });
    for await (const event of events) {
      // Only now is it sure that the journal belongs to this run.
      if (event.type === 'search-start') folder?.writeRun(describeRun(request, problem));
      if (event.type === 'simulation-end') status.show(() => progressOf(event));
      if (event.type === 'search-end') return event.result;
    }
    throw new Error('The search ended without a result.');
  } finally {
    status.clear();
  }
}

/** What was asked, for `run.json`. */
function describeRun(request: SearchRequest, { text }: Problem): JsonValue {
  const { task, algorithm, concurrency, order, seed } = request;
  return {
    command: 'search',
    task,
    input: text,
    algorithm,
    budget: { ...budgetOf(request) },
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
