import { readFileSync, statSync } from 'node:fs';
import { BudgetPool, type Journal, openJournal } from '../../src/calls/index.ts';
import { type SearchResult, treeToJson } from '../../src/index.ts';
import { searchOf } from '../support/search-of.ts';
import { problemOf, type Scenario, TurningClock } from './fuzz-scenario.ts';
import type { AnyLine, Paid } from './paid-by.ts';

type Result = SearchResult<string, string>;

/** A line was written to the journal of a search, which was so long then. */
export interface Write {
  readonly search: number;
  readonly size: number;
}

/** An effect was carried out when the journal of its search was so long. */
export interface Performed extends Write {
  readonly what: string;
}

/** What a process did, until it ended or was killed. */
export interface Life {
  readonly writes: Write[];
  readonly performed: Performed[];
  readonly served: Paid;
}

/** What a program came to: of each search the results, its own and those of what resumed it. */
export interface Outcome {
  readonly results: readonly (readonly Result[])[];
  readonly pool: BudgetPool | undefined;
}

export const hung: unique symbol = Symbol('hung');
const patience = 6_000;

/** Runs a program on files as one process does; `hung` where it does not end. */
export async function runOnFiles(
  scenario: Scenario,
  paths: readonly string[],
  latency: () => number,
): Promise<{ readonly outcome: Outcome | typeof hung; readonly life: Life }> {
  const life: Life = { writes: [], performed: [], served: { calls: 0, tokens: 0, usd: 0 } };
  const files = paths.map((path) => openJournal(path));
  const journals = files.map((file, at): Journal => {
    const { lines, mode } = file;
    const append: Journal['append'] = (line) => {
      file.append(line);
      life.writes.push({ search: at, size: statSync(paths[at] as string).size });
    };
    return { lines, mode, append };
  });
  try {
    return { outcome: await runOn(scenario, journals, { latency, life }), life };
  } finally {
    for (const file of files) file.close();
  }
}

/** Runs a program on journals; `hung` where it does not end. */
export async function runOn(
  scenario: Scenario,
  journals: readonly Journal[],
  { latency, life }: { readonly latency: () => number; readonly life?: Life },
): Promise<Outcome | typeof hung> {
  const { budget, order, concurrency } = scenario;
  const pool = scenario.pool && new BudgetPool(scenario.pool);
  const clock = new TurningClock();
  const controller = new AbortController();
  const { signal } = controller;
  const served = life?.served ?? { calls: 0, tokens: 0, usd: 0 };
  const searches = journals.map(async (journal, at) => {
    const onEffect = (what: string) => {
      const size = life?.writes.findLast((write) => write.search === at)?.size ?? 0;
      life?.performed.push({ search: at, size, what });
    };
    const problem = problemOf(scenario, { latency, clock, served, onEffect }, 'ABC'[at] as string);
    const options = { budget, order, concurrency, clock, seed: 3, journal, signal };
    const results: Result[] = [await searchOf({ ...problem, ...options, ...(pool && { pool }) })];
    for (const change of scenario.chain) {
      results.push(await (results.at(-1) as Result).resume(change));
    }
    return results;
  });
  const running = Promise.all(searches);
  running.catch(() => {});
  const outcome = await inTime(running);
  if (outcome !== hung) return { results: outcome, pool };
  controller.abort();
  await Promise.allSettled(searches);
  return hung;
}

async function inTime<Value>(running: Promise<Value>): Promise<Value | typeof hung> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof hung>((resolve) => {
    timer = setTimeout(() => resolve(hung), patience);
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What has to be the same whenever a search is repeated. */
export function summaryOf({ tree, spend, stopReason, exceeded, actions }: Result): string {
  const { ms: _ms, usd, ...spent } = spend;
  const dollars = usd.toFixed(9);
  return JSON.stringify([stopReason, exceeded, spent, dollars, actions, treeToJson(tree)]);
}

/** The whole lines of a journal. */
export function linesOn(path: string): AnyLine[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as AnyLine];
      } catch {
        return [];
      }
    });
}
