import { type Interval, wilsonInterval } from '../base/stats/wilson-interval.ts';

/** What one method made of one problem. */
export interface Outcome {
  readonly solved: boolean;
  readonly calls: number;
  readonly tokens: number;
  readonly ms: number;
}

/** A way to solve problems. */
export interface Method<Problem> {
  readonly name: string;
  /** Works on the problem at a place of the sample; the place may seed random numbers. */
  readonly run: (problem: Problem, index: number) => Promise<Outcome>;
}

/** One method over all problems. */
export interface ComparisonRow extends Interval {
  readonly method: string;
  /** How many problems it solved. */
  readonly solved: number;
  /** How many problems there were. `low` and `high` are the 95 % interval of the share. */
  readonly of: number;
  /** Mean calls a problem. */
  readonly calls: number;
  /** Mean tokens a problem. */
  readonly tokens: number;
  /** Mean milliseconds a problem. */
  readonly ms: number;
}

/** Methods side by side on the same problems. */
export interface Comparison {
  readonly rows: readonly ComparisonRow[];
  /** Whether each problem was solved, by method, in the order of the problems: for paired statistics. */
  readonly solved: readonly (readonly boolean[])[];
}

/**
 * Runs every method on every problem, one problem after the other, so that at any time all methods have
 * seen the same ones.
 */
export async function compare<Problem>(options: {
  readonly problems: readonly Problem[];
  readonly methods: readonly Method<Problem>[];
  /** Hears how many problems are done. @defaultValue nobody */
  readonly onProgress?: (done: number) => void;
  /** Ends the comparison early; a problem under way does not count. @defaultValue never */
  readonly stopped?: () => boolean;
}): Promise<Comparison> {
  const { problems, methods, onProgress = () => {}, stopped = () => false } = options;
  const finished: Outcome[][] = [];
  for (const [index, problem] of problems.entries()) {
    const outcomes: Outcome[] = [];
    for (const method of methods) outcomes.push(await method.run(problem, index));
    if (stopped()) break;
    finished.push(outcomes);
    onProgress(finished.length);
  }
  const columns = methods.map((_, place) => finished.flatMap((outcomes) => outcomes[place] ?? []));
  return {
    rows: columns.map((column, place) => toRow(methods[place]?.name ?? '', column)),
    solved: columns.map((column) => column.map(({ solved }) => solved)),
  };
}

function toRow(method: string, outcomes: readonly Outcome[]): ComparisonRow {
  const solved = outcomes.filter((outcome) => outcome.solved).length;
  return {
    method,
    solved,
    of: outcomes.length,
    ...wilsonInterval(solved, outcomes.length),
    calls: mean(outcomes.map(({ calls }) => calls)),
    tokens: mean(outcomes.map(({ tokens }) => tokens)),
    ms: mean(outcomes.map(({ ms }) => ms)),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
