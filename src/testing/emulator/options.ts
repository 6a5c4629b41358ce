import {
  expectation,
  expectFunction,
  expectInteger,
  expectNumber,
  expectOneOf,
} from '../../base/expect.ts';
import { defaultAnswer } from './answer.ts';
import type { Dialect, RewardQuestion, Settings } from './dialect.ts';
import { anthropic } from './dialects/anthropic.ts';
import { llamaServer } from './dialects/llama-server.ts';
import { ollama } from './dialects/ollama.ts';
import { openAi } from './dialects/openai.ts';
import { sglang } from './dialects/sglang.ts';
import { vllm } from './dialects/vllm.ts';
import type { Fault, FaultRequest } from './faults.ts';
import { hashed } from './hash.ts';
import type { EmulatedAnswer, EmulatedQuestion } from './question.ts';

/** The servers that an {@link Emulator} can be. */
export type EmulatedDialect =
  | 'openai'
  | 'vllm'
  | 'sglang'
  | 'llama-server'
  | 'ollama'
  | 'anthropic';

/** Options of {@link emulator}. */
export interface EmulatorOptions {
  /** Which server it is. */
  readonly dialect: EmulatedDialect;
  /** The names of its models. SGLang and llama-server answer to any name. @defaultValue `['emulated']` */
  readonly models?: readonly string[];
  /**
   * What the model answers; where it throws, the reply is a 500.
   *
   * @defaultValue a number in [0, 1), JSON for a schema, or a due tool call, fixed by the conversation and the
   * sample; by the seed instead of the sample where there is one; by neither at temperature 0
   */
  readonly answer?: (question: EmulatedQuestion) => string | EmulatedAnswer;
  /** The scores that reward and scoring endpoints give, in [0, 1]. @defaultValue hashed from the text */
  readonly reward?: (question: RewardQuestion) => number;
  /** The vector of a text. @defaultValue eight numbers hashed from the text */
  readonly embedding?: (text: string) => readonly number[];
  /** Whether its models answer typed questions; where they do not, `/v1/systemone` is a 501. @defaultValue true */
  readonly decides?: boolean;
  /** The key that it wants. @defaultValue none: it asks nobody for a key */
  readonly apiKey?: string;
  /**
   * What it does wrong. A list holds for every request that asks the model, and its `auth` and `loading` for
   * all others too. A function is asked for each request, so that faults can be random.
   *
   * @defaultValue nothing
   */
  readonly faults?:
    | readonly Fault[]
    | ((request: FaultRequest) => Fault | readonly Fault[] | undefined);
  /** The most tokens of a prompt and its answer. @defaultValue 131072 */
  readonly contextLength?: number;
  /**
   * How long an answer takes, in milliseconds; `index` is that of the request. A client that leaves before has
   * used no tokens.
   *
   * @defaultValue 0
   */
  readonly latencyMs?: number | ((index: number) => number);
  /** The slots of llama-server: the most choices of a request. @defaultValue 4 */
  readonly parallel?: number;
  /**
   * Whether Anthropic's models are those that take no temperature, no prefill and no forced tool choice.
   *
   * @defaultValue true
   */
  readonly modern?: boolean;
  /** Milliseconds since 1970, for dates in replies and headers. @defaultValue `Date.now` */
  readonly now?: () => number;
}

const dialects: Readonly<Record<EmulatedDialect, Dialect>> = {
  openai: openAi,
  vllm,
  sglang,
  'llama-server': llamaServer,
  ollama,
  anthropic,
};

/** The options, checked and complete. */
export interface CheckedOptions {
  readonly dialect: Dialect;
  readonly settings: Settings;
  readonly faultsOf: (request: FaultRequest) => readonly Fault[];
  readonly latencyOf: (index: number) => number;
}

/** Checks options. Throws a usage error for those that make no sense. */
export function checkedOptions(options: EmulatorOptions): CheckedOptions {
  const { dialect, models = ['emulated'], answer = defaultAnswer, reward = hashedReward } = options;
  const { contextLength = 131_072, parallel = 4, modern = true, now = Date.now } = options;
  const { latencyMs = 0, apiKey, embedding = hashedEmbedding, decides = true } = options;
  expectOneOf('dialect', dialect, Object.keys(dialects));
  if (models.length === 0) throw expectation('models', 'an array with a name', models);
  expectFunction('answer', answer);
  expectFunction('reward', reward);
  expectFunction('embedding', embedding);
  expectFunction('now', now);
  expectInteger('contextLength', contextLength, { min: 1 });
  expectInteger('parallel', parallel, { min: 1 });
  if (typeof latencyMs !== 'function') expectNumber('latencyMs', latencyMs, { min: 0 });
  return {
    dialect: dialects[dialect],
    settings: {
      ...{ models, answer, reward, embedding, decides, apiKey },
      ...{ contextLength, parallel, modern, now },
    },
    faultsOf: faultsIn(options.faults ?? []),
    latencyOf: typeof latencyMs === 'function' ? latencyMs : () => latencyMs,
  };
}

function faultsIn(faults: NonNullable<EmulatorOptions['faults']>): CheckedOptions['faultsOf'] {
  if (typeof faults === 'function') {
    return (request) => {
      const chosen = faults(request) ?? [];
      return typeof chosen === 'string' || 'kind' in chosen ? [chosen] : chosen;
    };
  }
  const everywhere = faults.filter(
    (fault) => fault === 'auth' || (typeof fault === 'object' && fault.kind === 'loading'),
  );
  return ({ asksModel }) => (asksModel ? faults : everywhere);
}

function hashedReward({ text, query = '', label }: RewardQuestion): number {
  return hashed('reward', query, text, ...(label === undefined ? [] : [label]));
}

function hashedEmbedding(text: string): readonly number[] {
  return Array.from({ length: 8 }, (_, place) => hashed('embedding', place, text) - 0.5);
}
