import { ModelCallError } from '../../src/base/errors.ts';
import {
  type Budget,
  type Clock,
  type LanguageModel,
  mcts,
  type SearchAlgorithm,
  seededRandom,
} from '../../src/index.ts';
import type { SearchOf } from '../support/search-of.ts';
import type { Paid } from './paid-by.ts';

/** A program of searches, and how its model behaves. */
export interface Scenario {
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
  /** How many searches go on at once, each on a journal of its own. */
  readonly searches: number;
  /** What they share. */
  readonly pool: Omit<Budget, 'ms'> | undefined;
  /** With what each search is resumed, one time after the other. */
  readonly chain: readonly { readonly budget?: Budget; readonly retryFailed?: boolean }[];
  /** Whether another search goes on within each, on a share of its budget. */
  readonly isNested: boolean;
  /** What each step does outside: nothing, or an effect that may or may not be repeated. */
  readonly effects: 'none' | 'once' | 'repeatable';
  /** How the model counts prompts: as they are, only now and then, or too few tokens. */
  readonly counts: 'never' | 'exactly' | 'sometimes' | 'too-few';
}

/** What one process has around it. */
export interface World {
  /** How long an answer takes, in turns of the event loop. */
  readonly latency: () => number;
  readonly clock: TurningClock;
  readonly served: Paid;
  /** Hears of every effect when it is carried out. */
  readonly onEffect: (what: string) => void;
}

const price = { input: 100, output: 400 };

function hash(text: string): number {
  let value = 2166136261;
  for (const character of text) {
    value = Math.imul(value ^ character.charCodeAt(0), 16777619) >>> 0;
  }
  return value >>> 8;
}

/** A clock that moves on by one for each turn that an answer takes. */
export class TurningClock implements Clock {
  #now = 0;
  readonly #sleepers = new Set<{ readonly until: number; readonly wake: () => void }>();

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((wake, reject) => {
      const sleeper = { until: this.#now + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason);
      });
    });
  }

  async turn(count: number): Promise<void> {
    for (let turned = 0; turned < count; turned++) {
      await new Promise((resolve) => setImmediate(resolve));
      this.#now += 1;
      for (const sleeper of this.#sleepers) {
        if (sleeper.until > this.#now) continue;
        this.#sleepers.delete(sleeper);
        sleeper.wake();
      }
    }
  }
}

/** What the model may use of a broken attempt: as much as is reserved for each. */
const leastReserved = { never: 40, exactly: 22, sometimes: 22, 'too-few': 7 } as const;

/** A model that answers equal requests alike, after another time each time, and counts what it served. */
export function modelOf(scenario: Scenario, { latency, clock, served }: World): LanguageModel {
  const { retried, failing, passing, counts } = scenario;
  const sizeOf = (prompt: string) => 20 + (hash(prompt) % 8);
  const counting: Pick<LanguageModel, 'count'> = {
    async count({ messages }) {
      const turns = latency();
      await clock.turn(turns);
      if (counts === 'sometimes' && turns % 2 === 1) throw new Error('Not now.');
      return sizeOf(messages[0]?.content as string) - (counts === 'too-few' ? 15 : 0);
    },
  };
  return {
    ...(counts !== 'never' && counting),
    provider: 'fuzz',
    modelId: 'fuzzed',
    capabilities: { n: true },
    price,
    async generate({ messages, samples = 1, offset = 0 }, call) {
      const asked = `${messages[0]?.content as string}#${offset}`;
      const kind = hash(`kind ${asked}`) % 10;
      await clock.turn(latency());
      call.signal.throwIfAborted();
      if (kind < retried) {
        for (let failed = 0; failed <= kind % 2; failed++) {
          served.tokens += leastReserved[counts];
          await call.retry?.({ message: 'The connection broke.', charged: true });
          await clock.turn(latency());
          call.signal.throwIfAborted();
        }
      } else if (kind < retried + failing) {
        throw new ModelCallError({ kind: 'bad-request', message: 'No.', charged: true });
      } else if (kind < retried + failing + passing) {
        throw new ModelCallError({ kind: 'overloaded', message: 'Later.' });
      }
      const completions = Array.from({ length: samples }, (_, place) => ({
        text: String(hash(`${asked}+${place}`) % 5),
      }));
      const outputTokens = samples * (scenario.overdraws && kind === 9 ? 9 : 1);
      const prompt = counts === 'never' ? asked : (messages[0]?.content as string);
      const usage = { inputTokens: sizeOf(prompt), outputTokens };
      served.calls += samples;
      served.tokens += usage.inputTokens + usage.outputTokens;
      served.usd +=
        (usage.inputTokens * price.input + usage.outputTokens * price.output) / 1_000_000;
      return { completions, usage };
    },
  };
}

type Problem = Pick<SearchOf<string, string>, 'algorithm' | 'environment' | 'evaluator' | 'policy'>;

/** Digits in a row, proposed and judged by a model. */
export function problemOf(scenario: Scenario, world: World, start: string): Problem {
  const model = modelOf(scenario, world);
  const ask = (content: string) => ({
    messages: [{ role: 'user' as const, content }],
    maxTokens: 2,
  });
  const problem: Problem = {
    environment: {
      name: 'digits',
      reset: () => ({ state: start }),
      async step(state, digit, context) {
        const next = state + digit;
        if (scenario.effects !== 'none') {
          const effect = { name: 'touch', repeatable: scenario.effects === 'repeatable' };
          await context.effect(effect, next, async () => {
            world.onEffect(next);
            world.served.calls += 1;
            await world.clock.turn(world.latency());
          });
        }
        const ends = { terminal: true, reward: (hash(next) % 10) / 10 };
        return { state: next, ...(next.length === start.length + 4 && ends) };
      },
    },
    policy: {
      async propose({ state }, request) {
        const { completions } = await request.context.generate(model, {
          ...ask(`next after ${state}`),
          samples: scenario.samples,
          offset: request.offset,
        });
        return completions.map((completion) => ({ action: completion.text, completion }));
      },
    },
    evaluator: {
      needs: 'realised',
      evaluate: (nodes, { context }) =>
        Promise.all(
          nodes.map(async ({ state }) => {
            const { completions } = await context.generate(model, ask(`worth of ${state}`));
            return { value: Number(completions[0]?.text) / 4 };
          }),
        ),
    },
    algorithm: mcts({ width: scenario.width }),
  };
  if (!scenario.isNested) return problem;
  return { ...problem, algorithm: around(problem, { ...problem, ...startingAt(problem, 'P') }) };
}

function startingAt({ environment }: Problem, start: string): Pick<Problem, 'environment'> {
  return { environment: { ...environment, reset: () => ({ state: start }) } };
}

/** An algorithm beside which another search goes on. */
function around(
  { algorithm = mcts() }: Problem,
  { environment, ...part }: Problem,
): SearchAlgorithm & { readonly concurrency: 'any' } {
  return {
    name: 'nested',
    concurrency: 'any',
    laws: [],
    async run(tree, context) {
      const nested = context.search(environment, {
        ...part,
        share: 0.3,
        budget: { simulations: 3 },
      });
      await Promise.all([nested, algorithm.run(tree, context)]);
    },
  };
}

/** The scenario of a seed. */
export function scenarioOf(seed: number): Scenario {
  const random = seededRandom('resume-fuzz').split(seed);
  const pick = <Value>(values: readonly Value[]): Value =>
    values[random.integer(values.length)] as Value;
  const limit = (): Budget =>
    pick<Budget>([
      { tokens: 200 + random.integer(1200) },
      { calls: 4 + random.integer(24) },
      { usd: (200 + random.integer(1200)) / 10_000 },
      { simulations: 4 + random.integer(12) },
      { tokens: 300 + random.integer(900), calls: 6 + random.integer(20) },
    ]);
  const ms = random.integer(4) === 0 ? { ms: 4 + random.integer(60) } : {};
  const isPooled = random.integer(4) === 0;
  const searches = isPooled ? 1 + random.integer(3) : 1;
  const links = random.integer(3) === 0 ? 1 + random.integer(3) : 0;
  return {
    name: `seed ${seed}`,
    budget: { ...limit(), ...ms },
    order: pick(['arrival', 'issued']),
    concurrency: 1 + random.integer(8),
    width: 1 + random.integer(3),
    samples: 1 + random.integer(3),
    retried: pick([0, 2, 4]),
    failing: pick([0, 0, 1]),
    passing: pick([0, 0, 0, 1]),
    latency: pick([0, 2, 6, 12]),
    overdraws: random.integer(6) === 0,
    searches,
    pool: isPooled
      ? pick<Omit<Budget, 'ms'>>([
          { tokens: 300 + random.integer(3000) },
          { calls: 6 + random.integer(50) },
          { usd: 1_000 },
        ])
      : undefined,
    chain: Array.from({ length: links }, () => ({
      ...(random.integer(2) === 0 && { budget: { ...limit(), ...ms } }),
      ...(random.integer(3) === 0 && { retryFailed: true }),
    })),
    isNested: random.integer(5) === 0,
    effects: pick(['none', 'none', 'once', 'repeatable']),
    counts: pick(['never', 'never', 'exactly', 'exactly', 'sometimes', 'too-few']),
  };
}
