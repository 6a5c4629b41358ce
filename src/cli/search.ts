import { existsSync } from 'node:fs';
import { parse } from 'node:path';
import { defined } from '../backends/transport/json.ts';
import { EspalierError } from '../base/errors.ts';
import { modelName } from '../base/model-name.ts';
import { espalierVersion } from '../base/version.ts';
import { addSpend, type CallSpend, nothing } from '../calls/call-spend.ts';
import { type Journal, noJournal } from '../calls/journal.ts';
import type { PriceTable } from '../calls/prices.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import type { Budget } from '../contracts/spend.ts';
import { openRun, type RunFolder, readRun } from '../runs/index.ts';
import { readInput } from '../runs/input-file.ts';
import { type Problem, readPuzzle } from '../runs/problem.ts';
import { type AskedProblem, problemOf } from '../runs/problems-file.ts';
import { questionProblem } from '../runs/question.ts';
import { expectSame } from '../runs/same-run.ts';
import type { SearchResult } from '../search/contracts.ts';
import type { SearchEvent } from '../search/events.ts';
import { streamSearch } from '../search/search.ts';
import { treeToJson } from '../tree/serialize.ts';
import { type Interruption, interrupted, listenForInterruption } from './interruption.ts';
import { planFor, tellReplaced } from './methods.ts';
import { type ChosenModel, chooseModel, drawnBy, environmentFor, type Models } from './model.ts';
import { print, printError, type StatusLine } from './output.ts';
import {
  environmentAndTask,
  loadParts,
  type OwnModules,
  type OwnParts,
  partsFor,
} from './own-parts.ts';
import { pricesFor, recordedPrice } from './prices.ts';
import { searchShownOn, withStatus } from './progress.ts';
import { budgetOf, type SearchRequest } from './search-options.ts';
import { describeSearch, reportOf, solvedAlready } from './search-report.ts';
import { unusedOf } from './unused.ts';

/** Runs `espalier search`. Resolves to the exit code. */
export async function runSearchCommand(request: SearchRequest): Promise<number> {
  expectSaved(request);
  await using own = await loadParts(request);
  const asked = askedIn(request);
  const known = own.has('environment') ? undefined : knownProblem(request);
  const done = known && solvedAlready(known);
  if (done !== undefined) {
    print(request.json === true ? toJson(done) : 'Solved already: no step is needed.');
    return 0;
  }
  await using chosen = await chooseModel(request, { ...(known ?? { isTaught: false }), own });
  const interruption = listenForInterruption();
  const models = interruption.guard(drawnBy(chosen, request.seed));
  const parts = await partsFor(asked, models, own);
  const problem = known ?? problemOf(asked, parts.environment);
  const prices = pricesFor(request, chosen.model);
  const folder = request.save === undefined ? undefined : openRun(request.save);
  try {
    const ground = { problem, folder, chosen, models, interruption, prices };
    const result = await grow(request, { ...ground, asked, parts, own });
    const budget = budgetOf(request, chosen.model);
    const asksModel = chosen.model !== undefined;
    const unused = unusedOf(result, { budget, request, asksModel });
    const told = { result, model: modelOf(chosen), unused, lost: lostIn(folder?.journal) };
    const report = reportOf(problem, told);
    const end = { result, budget, line: chosen.line };
    // First what was found: the disk may be full.
    print(request.json === true ? toJson(report) : describeSearch(problem, report, end));
    folder?.saveTree({ problem: problem.text, attempt: 0, step: 0, tree: treeToJson(result.tree) });
    folder?.writeReport({ ...report, ...recordedPrice(chosen.model, prices) });
    if (interruption.requested && report.stopReason === 'stopped') return interrupted;
    return report.stopReason === 'failed' ? 1 : 0;
  } finally {
    folder?.close();
  }
}

function expectSaved({ retryFailed = false, save }: SearchRequest): void {
  if (!retryFailed || save !== undefined) return;
  throw new EspalierError(
    'usage',
    'Expected `--save` beside `--retry-failed`: the calls that failed are those of a saved run.',
  );
}

/** A run over many problems must not be written over, nor go on with other modules. */
function expectOwnFolder(
  { path }: RunFolder,
  { identity }: OwnModules,
  asked: Readonly<Record<string, JsonValue>>,
): void {
  const { run = {} } = readRun(path);
  const command = run['command'];
  if (command === undefined) return;
  if (command === 'search') {
    const kinds = ['environment', 'algorithm', 'policy', 'value'];
    const own = kinds.filter((kind) => kind in identity || typeof run[kind] === 'object');
    expectSame(
      path,
      { old: run, now: { ...asked, ...identity } },
      { fields: own, advice: 'Take another `--save`.' },
    );
    return;
  }
  throw new EspalierError(
    'usage',
    `Expected \`--save\` to name a folder of its own, got \`${path}\`, which holds a run of \`${String(command)}\`.`,
  );
}

/** What was asked, in the words of files of problems. */
function askedIn({ question, task, input, environment = '' }: SearchRequest): AskedProblem {
  if (environment === '') return { id: question ?? input ?? '', question, task, input };
  if (task !== undefined) throw environmentAndTask();
  const text = input !== undefined && existsSync(input) ? readInput(input) : input;
  return { id: text ?? parse(environment).name, ...(text !== undefined && { input: text }) };
}

/** The puzzle or the question that was asked. */
function knownProblem({ question, task, input }: SearchRequest): Problem {
  if (question !== undefined && task === undefined && input === undefined) {
    return questionProblem(question);
  }
  if (task !== undefined && input !== undefined) {
    return readPuzzle(task, input);
  }
  throw new EspalierError(
    'usage',
    'Expected a question in quotes, `--task` and its input for a puzzle, or `--environment`.',
  );
}

interface Ground {
  readonly problem: Problem;
  readonly folder: RunFolder | undefined;
  readonly chosen: ChosenModel;
  readonly models: Models;
  readonly interruption: Interruption;
  readonly prices: PriceTable;
  readonly asked: AskedProblem;
  readonly parts: OwnParts;
  readonly own: OwnModules;
}

/** Searches to the end, or until it is interrupted. */
async function grow(
  request: SearchRequest,
  { problem, folder, chosen, models, interruption, prices, asked: of, parts, own }: Ground,
): Promise<SearchResult<unknown, unknown>> {
  const { concurrency, order, seed, retryFailed = false } = request;
  const { plan, asked } = planFor(request, models, { problem, parts });
  if (folder !== undefined) expectOwnFolder(folder, own, asked);
  const budget = budgetOf(request, chosen.model);
  tellReplaced(plan, parts);
  const found = await withStatus((status) => {
    const events = streamSearch(environmentFor(chosen.model, problem), {
      ...plan,
      budget,
      stopWhen: [...(plan.stopWhen ?? []), () => interruption.requested],
      concurrency,
      order,
      seed,
      retryFailed,
      prices,
      ...(folder !== undefined && { journal: folder.journal }),
    });
    // Only when it has begun is it sure that the journal belongs to this run.
    const begun = () =>
      folder?.writeRun({
        ...describeRun(request, { problem, chosen, asked: of }),
        ...asked,
        ...own.identity,
      });
    return followed(events, { begun, budget, status });
  });
  // It refused the calls that came after it.
  if (!interruption.requested || found.stopReason !== 'failed') return found;
  return { ...found, stopReason: 'stopped', failure: undefined };
}

/** Tells of a search as it goes, to its end. */
async function followed(
  events: AsyncIterable<SearchEvent>,
  {
    begun,
    budget,
    status,
  }: { readonly begun: () => void; readonly budget: Budget; readonly status: StatusLine },
): Promise<SearchResult<unknown, unknown>> {
  const show = searchShownOn(status, budget);
  for await (const event of events) {
    show(event);
    if (event.type === 'search-start') begun();
    if (event.type === 'warning') {
      status.clear();
      printError(event.warning.message);
    }
    if (event.type === 'search-end') return event.result;
  }
  throw new Error('The search ended without a result.');
}

/** What killed processes have lost: the calls that each next one found without an end. */
function lostIn(journal: Journal = noJournal): CallSpend {
  let lost = nothing;
  for (const line of journal.lines) if (line.type === 'resume') lost = addSpend(lost, line.lost);
  return lost;
}

/** The model by its name in journals; `null` where there is none. */
function modelOf({ model }: ChosenModel): string | null {
  return model === undefined ? null : modelName(model);
}

/** What was asked, for `run.json`. */
function describeRun(
  request: SearchRequest,
  { problem: { kind, text }, chosen, asked }: Pick<Ground, 'asked' | 'chosen' | 'problem'>,
): Readonly<Record<string, JsonValue>> {
  const { concurrency, order, seed } = request;
  return {
    command: 'search',
    ...(request.environment === undefined
      ? { task: kind, input: text }
      : defined({ input: asked.input })),
    model: modelOf(chosen),
    ...(chosen.model !== undefined && { capabilities: shownBy(chosen.model) }),
    budget: { ...budgetOf(request, chosen.model) },
    concurrency,
    order,
    seed,
    versions: { espalier: espalierVersion(), node: process.versions.node },
  };
}

/** What decides how a question is shown. */
function shownBy({ capabilities: { continuation = false, schema = false } }: LanguageModel) {
  return { continuation, schema };
}

function toJson(report: object): string {
  return JSON.stringify(report, undefined, 2);
}
