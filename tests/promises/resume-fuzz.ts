/**
 * Searches that are killed, over and over, at any line of their journal. What they paid, what they say they paid and
 * what their journal says was paid are compared; the sums are this file's own. It knows the public API and the lines
 * of a journal, and nothing else, so that it judges any version of the package alike.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Budget,
  type LanguageModel,
  mcts,
  type SearchResult,
  search,
  treeToJson,
} from '../../src/index.ts';
import {
  openJournal,
  readJournal,
  replayed,
  seededRandom,
} from '../../src/runtime/index.ts';
import { ModelCallError } from '../../src/spec/errors.ts';

/** What went wrong, counted. */
export interface Findings {
  /** Searches that were begun, or gone on with, on a journal. */
  runs: number;
  /** Of those, searches that went on after a kill. */
  resumes: number;
  /** Whose ledger says more than the budget holds, overdrafts excepted. */
  overLedger: number;
  /** Whose journal says more. */
  overJournal: number;
  /** That were served more than the budget holds. */
  overServed: number;
  /** Whose `spend` is not what the journal says was paid. */
  otherSums: number;
  /** That did not end. */
  hangs: number;
  /** Whose journal replays to another tree, another spend or another end. */
  otherReplays: number;
  /** That ended with an error. */
  errors: number;
  /** The first faults, for a person to look at. */
  readonly examples: string[];
}

interface Paid {
  calls: number;
  tokens: number;
  usd: number;
}

interface Scenario {
  readonly name: string;
  readonly budget: Budget;
  readonly order: 'arrival' | 'issued';
  readonly concurrency: number;
  readonly width: number;
  readonly samples: number;
  /** Out of 10: how many requests fail at first, for good, or for now. */
  readonly retried: number;
  readonly failing: number;
  readonly passing: number;
  /** How many turns of the event loop an answer may take. */
  readonly latency: number;
  /** Whether servers write more than they were allowed. */
  readonly overdraws: boolean;
}

const price = { input: 100, output: 400 };

function hash(text: string): number {
  let value = 2166136261;
  for (const character of text) {
    value = Math.imul(value ^ character.charCodeAt(0), 16777619) >>> 0;
  }
  return value >>> 8;
}

function turns(count: number): Promise<void> {
  return count <= 0
    ? Promise.resolve()
    : new Promise((resolve) => setImmediate(() => resolve(turns(count - 1))));
}

/** A model that answers equal requests alike, after another time each time, and counts what it served. */
function modelOf(scenario: Scenario, latency: () => number, served: Paid): LanguageModel {
  return {
    provider: 'fuzz',
    modelId: 'fuzzed',
    capabilities: { n: true },
    price,
    async generate({ messages, samples = 1, offset = 0 }, call) {
      const asked = `${messages[0]?.content as string}#${offset}`;
      const kind = hash(`kind ${asked}`) % 10;
      await turns(latency());
      call.signal.throwIfAborted();
      if (kind < scenario.retried) {
        for (let failed = 0; failed <= kind % 2; failed++) {
          served.tokens += 40;
          await call.retry?.({ message: 'The connection broke.', charged: true });
          await turns(latency());
          call.signal.throwIfAborted();
        }
      } else if (kind < scenario.retried + scenario.failing) {
        throw new ModelCallError({ kind: 'bad-request', message: 'No.', charged: true });
      } else if (kind < scenario.retried + scenario.failing + scenario.passing) {
        throw new ModelCallError({ kind: 'overloaded', message: 'Later.' });
      }
      const completions = Array.from({ length: samples }, (_, place) => ({
        text: String(hash(`${asked}+${place}`) % 5),
      }));
      const outputTokens = samples * (scenario.overdraws && kind === 9 ? 9 : 1);
      const usage = { inputTokens: 20 + (hash(asked) % 8), outputTokens };
      served.calls += samples;
      served.tokens += usage.inputTokens + usage.outputTokens;
      served.usd +=
        (usage.inputTokens * price.input + usage.outputTokens * price.output) / 1_000_000;
      return { completions, usage };
    },
  };
}

function problemOf(scenario: Scenario, model: LanguageModel) {
  const ask = (content: string) => ({
    messages: [{ role: 'user' as const, content }],
    maxTokens: 2,
  });
  return {
    environment: {
      name: 'digits',
      reset: () => '',
      step: (state: string, digit: string) => ({
        state: state + digit,
        ...(state.length === 3 && {
          terminal: true,
          reward: (hash(state + digit) % 10) / 10,
        }),
      }),
    },
    policy: {
      async propose(
        { state }: { readonly state: string },
        request: { readonly context: Parameters<Propose>[1]['context']; readonly offset: number },
      ) {
        const { completions } = await request.context.generate(model, {
          ...ask(`next after ${state}`),
          samples: scenario.samples,
          offset: request.offset,
        });
        return completions.map((completion) => ({ action: completion.text, completion }));
      },
    },
    evaluator: {
      needs: 'realised' as const,
      evaluate: (
        nodes: readonly { readonly state: string }[],
        { context }: { readonly context: Parameters<Propose>[1]['context'] },
      ) =>
        Promise.all(
          nodes.map(async ({ state }) => {
            const { completions } = await context.generate(model, ask(`worth of ${state}`));
            return { value: Number(completions[0]?.text) / 4 };
          }),
        ),
    },
    algorithm: mcts({ width: scenario.width }),
  };
}

type Propose = NonNullable<Parameters<typeof search>[0]['policy']>['propose'];

const hung = Symbol('hung');
const patience = 4_000;

/** What a search comes to, or `hung` where it does not end. */
async function ended<Value>(running: Promise<Value>): Promise<Value | typeof hung> {
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

interface AnyLine {
  readonly type: string;
  readonly call?: number;
  readonly version?: number;
  readonly spend?: Paid;
  readonly reserved?: Paid;
  readonly lost?: Paid;
  readonly asks?: boolean;
}

/**
 * What a journal says was paid: what its lines say was spent or lost, and what calls that are open may have cost. A
 * call that is begun again while it is open was lost.
 */
export function paidBy(lines: Iterable<AnyLine>): Paid {
  const paid: Paid = { calls: 0, tokens: 0, usd: 0 };
  const add = (spend: Paid | undefined): void => {
    paid.calls += spend?.calls ?? 0;
    paid.tokens += spend?.tokens ?? 0;
    paid.usd += spend?.usd ?? 0;
  };
  let version = 0;
  const open = new Map<number, Paid>();
  for (const line of lines) {
    const { type, call = -1, spend, reserved } = line;
    if (type === 'journal') version = line.version ?? 0;
    if (type === 'resume') {
      add(line.lost);
      open.clear();
    }
    if (type === 'intent') {
      add(open.get(call));
      open.set(call, { ...(reserved as Paid) });
    }
    if (type === 'result' || type === 'failure' || type === 'attempt') add(spend);
    if (type === 'result' || type === 'failure') open.delete(call);
    const cover = open.get(call);
    if (cover === undefined) continue;
    // Since version 3 a failed attempt has used up what was set aside, until a line grants more.
    if (type === 'attempt' && version >= 3 && (spend?.tokens ?? 0) > 0) {
      cover.tokens = 0;
      cover.usd = 0;
    }
    if (type === 'grant' || (type === 'attempt' && version < 3)) {
      cover.tokens += reserved?.tokens ?? 0;
      cover.usd += reserved?.usd ?? 0;
    }
  }
  for (const cover of open.values()) add(cover);
  return paid;
}

/** What single calls cost beyond what had been set aside for them. */
function overdraftOf(lines: Iterable<AnyLine>): Paid {
  const over: Paid = { calls: 0, tokens: 0, usd: 0 };
  const reserved = new Map<number, Paid>();
  for (const line of lines) {
    if (line.type === 'intent') reserved.set(line.call as number, line.reserved as Paid);
    if (line.type !== 'result') continue;
    const covered = reserved.get(line.call as number);
    over.tokens += Math.max(0, (line.spend?.tokens ?? 0) - (covered?.tokens ?? 0));
    over.usd += Math.max(0, (line.spend?.usd ?? 0) - (covered?.usd ?? 0));
  }
  return over;
}

function scenarioOf(seed: number): Scenario {
  const random = seededRandom('resume-fuzz').split(seed);
  const pick = <Value>(values: readonly Value[]): Value =>
    values[random.integer(values.length)] as Value;
  const limits: readonly Budget[] = [
    { tokens: 200 + random.integer(1200) },
    { calls: 4 + random.integer(24) },
    { usd: (200 + random.integer(1200)) / 10_000 },
    { simulations: 4 + random.integer(12) },
    { tokens: 300 + random.integer(900), calls: 6 + random.integer(20) },
  ];
  const retried = pick([0, 2, 4]);
  return {
    name: `seed ${seed}`,
    budget: pick(limits),
    order: pick(['arrival', 'issued']),
    concurrency: 1 + random.integer(8),
    width: 1 + random.integer(3),
    samples: 1 + random.integer(3),
    retried,
    failing: pick([0, 0, 1]),
    passing: pick([0, 0, 0, 1]),
    latency: pick([0, 2, 6, 12]),
    overdraws: random.integer(6) === 0,
  };
}

type Result = SearchResult<string, string>;

/** One search on a journal; a kill leaves the first lines of it. */
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
    const whole = join(this.#folder, 'whole.jsonl');
    rmSync(whole, { force: true });
    if ((await this.#run(scenario, whole, random.split('first'))) === undefined) return;
    const text = readFileSync(whole, 'utf8');
    const ends = [...text.matchAll(/\n/g)].map(({ index }) => index + 1);
    for (let cut = 0; cut < cuts; cut++) {
      const end = ends[Math.floor(((cut + 0.5) * ends.length) / cuts)] ?? 0;
      // One kill in four leaves half a line.
      const torn = cut % 4 === 3 ? 1 + random.integer(30) : 0;
      writeFileSync(join(this.#folder, 'killed.jsonl'), text.slice(0, end + torn));
      await this.#chain(scenario, random.split('cut', cut), chain);
    }
  }

  async #chain(
    scenario: Scenario,
    random: ReturnType<typeof seededRandom>,
    chain: number,
  ): Promise<void> {
    const path = join(this.#folder, 'killed.jsonl');
    const kills = 1 + random.integer(chain);
    for (let kill = 0; kill < kills; kill++) {
      this.findings.resumes += 1;
      const before = readFileSync(path).length;
      if ((await this.#run(scenario, path, random.split('run', kill))) === undefined) return;
      if (kill === kills - 1) return;
      const text = readFileSync(path, 'utf8');
      const added = [...text.matchAll(/\n/g)]
        .map(({ index }) => index + 1)
        .filter((end) => end >= before);
      if (added.length < 2) return;
      writeFileSync(path, text.slice(0, added[random.integer(added.length - 1)]));
    }
  }

  #fault(kind: keyof Omit<Findings, 'examples'>, scenario: Scenario, what: string): void {
    this.findings[kind] += 1;
    if (this.findings.examples.length < 12) {
      this.findings.examples.push(
        `${scenario.name} (${kind}): ${what} ${JSON.stringify({ ...scenario, name: undefined })}`,
      );
    }
  }

  async #run(
    scenario: Scenario,
    path: string,
    random: ReturnType<typeof seededRandom>,
  ): Promise<Result | undefined> {
    this.findings.runs += 1;
    const { budget, order, concurrency } = scenario;
    const options = { budget, order, concurrency, seed: 3 };
    const served: Paid = { calls: 0, tokens: 0, usd: 0 };
    const earlier = [...linesOn(path)];
    const model = modelOf(scenario, () => random.integer(scenario.latency + 1), served);
    const controller = new AbortController();
    const { signal } = controller;
    const journal = openJournal(path);
    let result: Result;
    try {
      const running = search({ ...problemOf(scenario, model), ...options, journal, signal });
      running.catch(() => {});
      const outcome = await ended(running);
      if (outcome === hung) {
        this.#fault('hangs', scenario, `after ${earlier.length} lines`);
        controller.abort();
        return undefined;
      }
      result = outcome;
    } catch (error) {
      this.#fault('errors', scenario, String(error));
      return undefined;
    } finally {
      journal.close();
    }
    this.#judge(scenario, { result, lines: [...linesOn(path)], earlier, served });
    await this.#replay(scenario, path, result);
    return result;
  }

  #judge(
    scenario: Scenario,
    run: { result: Result; lines: AnyLine[]; earlier: AnyLine[]; served: Paid },
  ): void {
    const { result, lines, earlier, served } = run;
    const paid = paidBy(lines);
    const over = overdraftOf(lines);
    const before = paidBy(earlier);
    const { spend } = result;
    for (const unit of ['calls', 'tokens', 'usd'] as const) {
      const limit = (scenario.budget[unit] ?? Number.POSITIVE_INFINITY) + over[unit] + 1e-9;
      const what = `${unit}: limit ${limit}, ledger ${spend[unit]}, journal ${paid[unit]}`;
      if (spend[unit] > limit) this.#fault('overLedger', scenario, what);
      if (paid[unit] > limit) this.#fault('overJournal', scenario, what);
      if (before[unit] + served[unit] > limit && earlier.length === 0) {
        this.#fault('overServed', scenario, `${what}, served ${served[unit]}`);
      }
      if (Math.abs(spend[unit] - paid[unit]) > 1e-9) this.#fault('otherSums', scenario, what);
    }
  }

  async #replay(scenario: Scenario, path: string, live: Result): Promise<void> {
    const { budget, order, concurrency } = scenario;
    const silent = modelOf(scenario, () => 0, { calls: 0, tokens: 0, usd: 0 });
    const controller = new AbortController();
    const running = search({
      ...problemOf(scenario, silent),
      ...{ budget, order, concurrency, seed: 3 },
      journal: replayed(readJournal(path)),
      signal: controller.signal,
    });
    running.catch(() => {});
    try {
      const outcome = await ended(running);
      if (outcome === hung) {
        controller.abort();
        this.#fault('hangs', scenario, 'in a replay');
        return;
      }
      const [there, here] = [summaryOf(live), summaryOf(outcome)];
      if (there !== here) this.#fault('otherReplays', scenario, difference(there, here));
    } catch (error) {
      this.#fault('errors', scenario, `in a replay: ${String(error)}`);
    }
  }
}

function summaryOf({ tree, spend, stopReason, exceeded, actions }: Result): string {
  const { ms: _ms, usd, ...spent } = spend;
  const dollars = usd.toFixed(9);
  return JSON.stringify([stopReason, exceeded, spent, dollars, actions, treeToJson(tree)]);
}

function difference(there: string, here: string): string {
  let at = 0;
  while (there[at] === here[at]) at += 1;
  const from = Math.max(0, at - 40);
  return `…${there.slice(from, at + 60)}… became …${here.slice(from, at + 60)}…`;
}

function linesOn(path: string): AnyLine[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line) => {
        try {
          return line === '' ? [] : [JSON.parse(line) as AnyLine];
        } catch {
          return [];
        }
      });
  } catch {
    return [];
  }
}

/** Runs scenarios with these seeds until so many searches have gone on after a kill. */
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
    errors: 0,
    examples: [],
  };
  using fuzzing = new Fuzz(findings);
  for (let seed = first; findings.resumes < resumes; seed++) {
    await fuzzing.scenario(seed, { cuts, chain });
  }
  return findings;
}
