import { type Budget, type LanguageModel, mcts, type SearchOptions } from '../../src/index.ts';
import { seededRandom } from '../../src/runtime/index.ts';
import { ModelCallError } from '../../src/spec/errors.ts';
import type { Paid } from './paid-by.ts';

/** A search, and how its model behaves. */
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
export function modelOf(scenario: Scenario, latency: () => number, served: Paid): LanguageModel {
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

/** Digits in a row, proposed and judged by a model. */
export function problemOf(
  scenario: Scenario,
  model: LanguageModel,
): Pick<SearchOptions<string, string>, 'algorithm' | 'environment' | 'evaluator' | 'policy'> {
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
}

/** The scenario of a seed. */
export function scenarioOf(seed: number): Scenario {
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
