import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import type { BenchCell } from './cell.ts';
import { isSame } from './columns.ts';
import type { BenchBudget, BenchPoint, BenchReport } from './report.ts';

/** A log of Inspect AI, with the name of its file. */
export interface InspectLog {
  /** A name that no other log of the report has, by which Inspect AI knows it for a log: the time, words, `taskId`. */
  readonly file: string;
  /** The log, as JSON. */
  readonly log: EvalLog;
}

/** Version 2 of the log of an evaluation, of which what a benchmark knows. */
export interface EvalLog {
  readonly version: 2;
  readonly status: 'success';
  readonly eval: object;
  readonly results: object;
  readonly stats: { readonly model_usage: Readonly<Record<string, InspectUsage>> };
  readonly samples: readonly object[];
}

/** Tokens as Inspect AI counts them: those from a cache are not among those read. */
interface InspectUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly input_tokens_cache_read: number;
  readonly total_cost: number | null;
}

/**
 * The searches of a benchmark as logs of Inspect AI, one for each method at each budget: an instance is a sample, a search
 * of it an epoch. Such a log says what was answered, and not
 * what an instance asks, since no report holds that.
 *
 * @param created - When the benchmark was made.
 * @see UK AI Security Institute, Inspect AI, `inspect_ai.log.EvalLog`, version 2, 2025.
 */
export function inspectLogs(
  report: BenchReport,
  cells: readonly BenchCell[],
  created: Date,
): readonly InspectLog[] {
  return [...report.points, ...report.guided].map((point) => {
    const own = cells.filter(
      ({ method, budget }) => method === point.method && isSame(budget, point.budget),
    );
    const arm = { report, point, cells: own, created };
    return { file: fileName(arm), log: logOf(arm) };
  });
}

/** One method at one budget. */
interface Arm {
  readonly report: BenchReport;
  readonly point: BenchPoint;
  readonly cells: readonly BenchCell[];
  readonly created: Date;
}

/** The one score of each sample. */
const scorer = 'espalier';

function logOf(arm: Arm): EvalLog {
  const { report, point, cells, created } = arm;
  const { task, model, seeds, seed, versions, guided } = report;
  const { method, budget } = point;
  const isGuided = guided.includes(point);
  const ids = [...new Set(cells.map(({ instance }) => instance))];
  const modelName = inspectModel(model);
  return {
    version: 2,
    status: 'success',
    eval: {
      created: created.toISOString(),
      task: task.name,
      task_id: taskId(arm),
      task_args: { split: task.split, seed, budget },
      solver: method,
      dataset: { name: task.title, location: task.source, samples: ids.length, sample_ids: ids },
      model: modelName,
      config: { epochs: seeds, ...limitOf(budget) },
      packages: { espalier: versions.espalier },
      metadata: { isGuided, licence: task.licence },
    },
    results: {
      total_samples: cells.length,
      completed_samples: cells.length,
      scores: point.n === 0 ? [] : [scoresOf(point, { isGuided })],
    },
    stats: { model_usage: { [modelName]: sumOf(cells) } },
    samples: cells.map((cell) => sampleOf(cell, modelName)),
  };
}

function scoresOf(point: BenchPoint, { isGuided }: { readonly isGuided: boolean }) {
  const { n, unscored, accuracy, low, high } = point;
  const name = isGuided ? 'pass_at_k' : 'accuracy';
  return {
    name: scorer,
    scorer,
    scored_samples: n,
    unscored_samples: unscored,
    metrics: { [name]: { name, value: accuracy, metadata: { low, high } } },
  };
}

function sampleOf(cell: BenchCell, model: string): object {
  const { instance, cluster, attempt, status, reason, answer, right, stopReason, isGuided } = cell;
  const { ms, calls, tokens, tree } = cell;
  const explanation = reason === undefined ? {} : { explanation: reason };
  return {
    id: instance,
    epoch: attempt + 1,
    input: instance,
    target: '',
    ...(answer !== undefined && { output: outputOf(answer, model) }),
    scores: status === 'unscored' ? {} : { [scorer]: { value: right ? 'C' : 'I', ...explanation } },
    metadata: {
      cluster,
      status,
      ...(reason !== undefined && { reason }),
      stopReason,
      isGuided,
      calls,
      tokens,
      tree,
    },
    model_usage: { [model]: usageOf(cell) },
    ...(ms !== null && { total_time: ms / 1_000 }),
  };
}

function outputOf(content: string, model: string): object {
  const message = { role: 'assistant', content, source: 'generate', model };
  return { model, choices: [{ message, stop_reason: 'stop' }], completion: content };
}

function usageOf({ inputTokens, cachedTokens, outputTokens, usd }: BenchCell): InspectUsage {
  return {
    input_tokens: inputTokens - cachedTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens_cache_read: cachedTokens,
    total_cost: usd,
  };
}

function sumOf(cells: readonly BenchCell[]): InspectUsage {
  const sum = (of: (cell: BenchCell) => number) =>
    cells.reduce((total, cell) => total + of(cell), 0);
  const isPriced = cells.every(({ usd }) => usd !== null);
  return {
    input_tokens: sum(({ inputTokens, cachedTokens }) => inputTokens - cachedTokens),
    output_tokens: sum(({ outputTokens }) => outputTokens),
    total_tokens: sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens),
    input_tokens_cache_read: sum(({ cachedTokens }) => cachedTokens),
    total_cost: isPriced ? sum(({ usd }) => usd ?? 0) : null,
  };
}

/** The budget of a search where Inspect AI has such a limit of a sample. */
function limitOf({ unit, limit }: BenchBudget): object {
  switch (unit) {
    case 'tokens':
      return { token_limit: limit };
    case 'usd':
      return { cost_limit: limit };
    case 'ms':
      // Whole seconds, there.
      return { time_limit: Math.ceil(limit / 1_000) };
    case 'calls':
      return {};
  }
}

/** `ollama:qwen3` is called `ollama/qwen3` there. */
function inspectModel(model: string | null): string {
  return model === null ? 'none/none' : model.replace(':', '/');
}

/** Names the method at its budget, in letters and digits. */
function taskId({ report, point }: Arm): string {
  const parts = [report.task.name, point.method, point.budget, report.guided.includes(point)];
  return contentAddress(canonicalJson('task', parts)).replaceAll(/[-_]/g, '').slice(0, 22);
}

/** A name of a file of which others have named parts. */
function fileName(arm: Arm): string {
  const { method, budget } = arm.point;
  const words = `${arm.report.task.name} ${method} ${budget.limit} ${budget.unit}`.toLowerCase();
  const name = words
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .join('-')
    .slice(0, 80);
  const time = arm.created.toISOString().slice(0, 19).replaceAll(':', '-');
  return `${time}_${name}_${taskId(arm)}.json`;
}
