import { type Interval, wilsonInterval } from '../../src/base/stats/wilson-interval.ts';

/** What one method made of one problem. */
export interface Outcome {
  readonly solved: boolean;
  readonly calls: number;
  readonly tokens: number;
  readonly usd: number;
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
  /** Mean dollars a problem. */
  readonly usd: number;
  /** Milliseconds a problem: how long all of them took, over how many they were. */
  readonly ms: number;
}

/** Methods side by side on the same problems. */
export interface Comparison {
  readonly rows: readonly ComparisonRow[];
  /** Whether each problem was solved, by method, in the order of the problems: for paired statistics. */
  readonly solved: readonly (readonly boolean[])[];
}

/**
 * Runs every method on every problem, some problems at a time, so that at any time all methods have seen the same
 * ones, and none runs beside another.
 */
export async function compare<Problem>(options: {
  readonly problems: readonly Problem[];
  readonly methods: readonly Method<Problem>[];
  /** How many problems a method works on at once. @defaultValue 1 */
  readonly atOnce?: number;
  /** Hears how many problems are done. @defaultValue nobody */
  readonly onProgress?: (done: number) => void;
  /** Ends the comparison early; a problem under way does not count. @defaultValue never */
  readonly stopped?: () => boolean;
}): Promise<Comparison> {
  const { problems, methods, atOnce = 1 } = options;
  const { onProgress = () => {}, stopped = () => false } = options;
  const columns: Timed[][] = methods.map(() => []);
  for (let first = 0; first < problems.length; first += atOnce) {
    const group = problems.slice(first, first + atOnce);
    const outcomes: Timed[][] = [];
    for (const method of methods) {
      const began = performance.now();
      const made = await Promise.all(
        group.map((problem, place) => method.run(problem, first + place)),
      );
      const ms = (performance.now() - began) / group.length;
      outcomes.push(made.map((outcome) => ({ ...outcome, ms })));
    }
    if (stopped()) break;
    for (const [place, made] of outcomes.entries()) columns[place]?.push(...made);
    onProgress(first + group.length);
  }
  return {
    rows: columns.map((column, place) => toRow(methods[place]?.name ?? '', column)),
    solved: columns.map((column) => column.map(({ solved }) => solved)),
  };
}

type Timed = Outcome & Pick<ComparisonRow, 'ms'>;

function toRow(method: string, outcomes: readonly Timed[]): ComparisonRow {
  const solved = outcomes.filter((outcome) => outcome.solved).length;
  return {
    method,
    solved,
    of: outcomes.length,
    ...wilsonInterval(solved, outcomes.length),
    calls: mean(outcomes.map(({ calls }) => calls)),
    tokens: mean(outcomes.map(({ tokens }) => tokens)),
    usd: mean(outcomes.map(({ usd }) => usd)),
    ms: mean(outcomes.map(({ ms }) => ms)),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
