/**
 * Searches that are killed, over and over, at any line of their journals: alone and under a pool, with searches nested
 * in them, resumed one after the other, with effects and with deadlines. What they paid, what they say they paid and
 * what their journals say was paid are compared; the sums are this file's own. It knows the public API and the lines of
 * a journal, and nothing else, so that it judges any version of the package alike.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJournal, replayed } from '../../src/calls/index.ts';
import { type Budget, type Random, seededRandom } from '../../src/index.ts';
import {
  hung,
  type Life,
  linesOn,
  type Outcome,
  type Performed,
  runOn,
  runOnFiles,
  summaryOf,
} from './fuzz-program.ts';
import { type Scenario, scenarioOf } from './fuzz-scenario.ts';
import { type AnyLine, overdraftOf, type Paid, paidBy } from './paid-by.ts';

/** What went wrong, counted. */
export interface Findings {
  /** Programs that were begun, or gone on with, on their journals. */
  runs: number;
  /** Of those, programs that went on after a kill. */
  resumes: number;
  /** Whose ledger says more than the budget holds, overdrafts excepted. */
  overLedger: number;
  /** Whose journals say more than the budgets, or the pool, hold. */
  overJournal: number;
  /** That were served more than their journals say was paid. */
  overServed: number;
  /** Whose `spend` is not what the journal says was paid. */
  otherSums: number;
  /** That did not end. */
  hangs: number;
  /** Whose journal replays to another tree, another spend or another end. */
  otherReplays: number;
  /** That do or write something, run again after they had come to their end. */
  otherReruns: number;
  /** That carried out an effect twice that is not to be repeated. */
  repeatedEffects: number;
  /** That ended with an error. */
  errors: number;
  /** The first faults, for a person to look at. */
  readonly examples: string[];
}

type Fault = Exclude<keyof Findings, 'examples'>;

const units = ['calls', 'tokens', 'usd'] as const;

/** What stands on the disk, and what was done outside by then. */
interface Past {
  readonly texts: readonly Buffer[];
  readonly performed: readonly Performed[];
}

class Fuzz {
  readonly findings: Findings;
  readonly #folder = mkdtempSync(join(tmpdir(), 'espalier-fuzz-'));

  constructor(findings: Findings) {
    this.findings = findings;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Runs a scenario, then kills it at `cuts` of its lines, each time up to `chain` times in a row. */
  async scenario(seed: number, { cuts, chain }: { cuts: number; chain: number }): Promise<void> {
    const scenario = scenarioOf(seed);
    const random = seededRandom('kills').split(seed);
    const nothing = { texts: this.#paths(scenario).map(() => Buffer.of()), performed: [] };
    const first = await this.#run(scenario, nothing, random.split('first'));
    if (first === undefined) return;
    for (let cut = 0; cut < cuts; cut++) {
      const at = Math.floor(((cut + 0.5) * first.life.writes.length) / cuts);
      // One kill in four leaves half a line.
      const torn = cut % 4 === 3 ? 1 + random.integer(30) : 0;
      const past = killed(nothing, first, { at, torn });
      await this.#chain(scenario, past, { random: random.split('cut', cut), chain });
    }
  }

  async #chain(
    scenario: Scenario,
    start: Past,
    { random, chain }: { random: Random; chain: number },
  ): Promise<void> {
    let past = start;
    const kills = 1 + random.integer(chain);
    for (let kill = 0; kill < kills; kill++) {
      this.findings.resumes += 1;
      const ran = await this.#run(scenario, past, random.split('run', kill));
      if (ran === undefined) return;
      const { writes } = ran.life;
      if (kill === kills - 1 || writes.length < 2) {
        await this.#again(scenario, ran);
        return;
      }
      past = killed(past, ran, { at: random.integer(writes.length - 1), torn: 0 });
    }
  }

  #paths({ searches }: Scenario): readonly string[] {
    return Array.from({ length: searches }, (_, at) => join(this.#folder, `${at}.jsonl`));
  }

  #fault(kind: Fault, scenario: Scenario, what: string): void {
    this.findings[kind] += 1;
    if (this.findings.examples.length < 12) {
      this.findings.examples.push(
        `${scenario.name} (${kind}): ${what} ${JSON.stringify({ ...scenario, name: undefined })}`,
      );
    }
  }

  async #run(scenario: Scenario, past: Past, random: Random): Promise<Ran | undefined> {
    this.findings.runs += 1;
    const paths = this.#paths(scenario);
    for (const [at, path] of paths.entries()) writeFileSync(path, past.texts[at] as Buffer);
    const earlier = paths.map(linesOn);
    try {
      const latency = () => random.integer(scenario.latency + 1);
      const { outcome, life } = await runOnFiles(scenario, paths, latency);
      if (outcome === hung) {
        this.#fault('hangs', scenario, `after ${earlier.map(({ length }) => length).join()} lines`);
        return undefined;
      }
      const ran = { outcome, life, texts: paths.map((path) => readFileSync(path)) };
      this.#judge(scenario, { ...ran, earlier, lines: paths.map(linesOn) });
      this.#judgeEffects(scenario, [...past.performed, ...life.performed]);
      await this.#replay(scenario, outcome);
      return ran;
    } catch (error) {
      this.#fault('errors', scenario, error instanceof Error ? (error.stack ?? '') : String(error));
      return undefined;
    }
  }

  #judge(scenario: Scenario, ran: Judged): void {
    const { results, pool } = ran.outcome;
    const paid = ran.lines.map(paidBy);
    const over = ran.lines.map(overdraftOf);
    for (const [at, searches] of results.entries()) {
      const own = { paid: paid[at] as Paid, over: over[at] as Paid };
      for (const unit of units) this.#judgeOne(scenario, searches, { unit, ...own });
    }
    for (const unit of units) {
      const all = sum(paid, unit);
      const before = sum(ran.earlier.map(paidBy), unit);
      const served = ran.life.served[unit];
      if (before + served > all + 1e-9) {
        const what = `${unit}: paid ${all}, ${before} of them before, served ${served}`;
        this.#fault('overServed', scenario, what);
      }
      if (pool === undefined) continue;
      const what = `${unit}: pool says ${pool.spend[unit]}, journals ${all}`;
      const limit = (scenario.pool?.[unit] ?? Number.POSITIVE_INFINITY) + sum(over, unit);
      if (all > limit + 1e-9) this.#fault('overJournal', scenario, `${what}, limit ${limit}`);
      if (Math.abs(pool.spend[unit] - all) > 1e-9) this.#fault('otherSums', scenario, what);
    }
  }

  #judgeOne(
    scenario: Scenario,
    results: Outcome['results'][number],
    { unit, paid, over }: { unit: (typeof units)[number]; paid: Paid; over: Paid },
  ): void {
    const spends = results.map(({ spend }) => spend[unit]);
    const what = `${unit}: ledgers ${spends.join()}, journal ${paid[unit]}`;
    const said = spends.reduce((all, spend) => all + spend, 0);
    if (Math.abs(said - paid[unit]) > 1e-9) this.#fault('otherSums', scenario, what);
    // With a pool to look after it, a search makes up for what was lost.
    if (scenario.pool !== undefined) return;
    const limits = budgetsOf(scenario).map((budget) => budget[unit] ?? Number.POSITIVE_INFINITY);
    for (const [at, spend] of spends.entries()) {
      const limit = (limits[at] as number) + over[unit] + 1e-9;
      if (spend > limit) this.#fault('overLedger', scenario, `${what}, limit ${limit}`);
    }
    const limit = limits.reduce((all, some) => all + some, 0) + over[unit] + 1e-9;
    if (paid[unit] > limit) this.#fault('overJournal', scenario, `${what}, limits ${limit}`);
  }

  #judgeEffects(scenario: Scenario, performed: readonly Performed[]): void {
    if (scenario.effects !== 'once') return;
    const seen = new Set<string>();
    for (const { search, what } of performed) {
      const effect = `${what} of search ${search}`;
      if (seen.has(effect)) this.#fault('repeatedEffects', scenario, effect);
      seen.add(effect);
    }
  }

  async #replay(scenario: Scenario, live: Outcome): Promise<void> {
    if (!isRepeatable(scenario)) return;
    const journals = this.#paths(scenario).map((path) => replayed(readJournal(path)));
    try {
      const outcome = await runOn(scenario, journals, { latency: () => 0 });
      if (outcome === hung) this.#fault('hangs', scenario, 'in a replay');
      else this.#compare('otherReplays', scenario, { live, outcome });
    } catch (error) {
      this.#fault('errors', scenario, `in a replay: ${String(error)}`);
    }
  }

  /** A program that has come to its end does nothing, run again: unless something failed that is asked for again. */
  async #again(scenario: Scenario, { outcome: live, texts }: Ran): Promise<void> {
    const lines = texts.map(String).join('');
    const retries = scenario.chain.some(({ retryFailed }) => retryFailed === true);
    const isRetried = retries ? /"type":"failure"/ : /"(transient|unavailable)":true/;
    if (!isRepeatable(scenario) || isRetried.test(lines)) return;
    const paths = this.#paths(scenario);
    const { outcome, life } = await runOnFiles(scenario, paths, () => 0);
    if (outcome === hung) {
      this.#fault('hangs', scenario, 'run again');
      return;
    }
    if (life.writes.length > 0) {
      const what = JSON.stringify(linesOn(paths[0] as string).slice(-life.writes.length)[0]);
      this.#fault('otherReruns', scenario, `wrote ${life.writes.length} lines: ${what}`);
    }
    this.#compare('otherReruns', scenario, { live, outcome });
  }

  #compare(
    kind: 'otherReplays' | 'otherReruns',
    scenario: Scenario,
    { live, outcome }: { readonly live: Outcome; readonly outcome: Outcome },
  ): void {
    const there = live.results.flat().map(summaryOf).join('\n');
    const here = outcome.results.flat().map(summaryOf).join('\n');
    if (there !== here) this.#fault(kind, scenario, difference(there, here));
  }
}

interface Ran {
  readonly outcome: Outcome;
  readonly life: Life;
  readonly texts: readonly Buffer[];
}

interface Judged extends Ran {
  readonly lines: readonly AnyLine[][];
  readonly earlier: readonly AnyLine[][];
}

/** What a process leaves behind that was killed after it had written so many lines, and half of another. */
function killed(
  past: Past,
  { life, texts }: Ran,
  { at, torn }: { readonly at: number; readonly torn: number },
): Past {
  const sizes = past.texts.map(({ length }) => length);
  const written = life.writes.slice(0, at + 1);
  for (const { search, size } of written) sizes[search] = size;
  const next = life.writes[at + 1]?.search;
  const happened = life.performed.filter(({ search, size }) => size <= (sizes[search] ?? 0));
  return {
    texts: texts.map((text, of) => {
      const size = (sizes[of] ?? 0) + (of === next ? torn : 0);
      return text.subarray(0, size);
    }),
    performed: [...past.performed, ...happened],
  };
}

/** The budget of each search: that of the one before, unless it is given another. */
function budgetsOf({ budget, chain }: Scenario): readonly Budget[] {
  const budgets = [budget];
  for (const change of chain) budgets.push(change.budget ?? (budgets.at(-1) as Budget));
  return budgets;
}

/** When a search gets something of a pool depends on the others, and on how much is in it. */
function isRepeatable({ pool, searches }: Scenario): boolean {
  return pool === undefined || (searches === 1 && (pool.usd ?? 0) >= 1_000);
}

function sum(parts: readonly Paid[], unit: (typeof units)[number]): number {
  return parts.reduce((all, { [unit]: part }) => all + part, 0);
}

function difference(there: string, here: string): string {
  let at = 0;
  while (there[at] === here[at]) at += 1;
  const from = Math.max(0, at - 40);
  return `…${there.slice(from, at + 60)}… became …${here.slice(from, at + 60)}…`;
}

/** Runs scenarios with these seeds until so many programs have gone on after a kill. */
export async function fuzz(
  first: number,
  { resumes, cuts = 12, chain = 4 }: { resumes: number; cuts?: number; chain?: number },
): Promise<Findings> {
  const findings: Findings = {
    runs: 0,
    resumes: 0,
    overLedger: 0,
    overJournal: 0,
    overServed: 0,
    otherSums: 0,
    hangs: 0,
    otherReplays: 0,
    otherReruns: 0,
    repeatedEffects: 0,
    errors: 0,
    examples: [],
  };
  using fuzzing = new Fuzz(findings);
  for (let seed = first; findings.resumes < resumes; seed++) {
    await fuzzing.scenario(seed, { cuts, chain });
  }
  return findings;
}
