import type { Fault } from './faults.ts';
import type { EmulatedAnswer, EmulatedQuestion } from './question.ts';

/** Options of {@link emulator}. */
export interface EmulatorOptions {
  /** Which server it is. */
  readonly dialect: 'openai' | 'vllm' | 'sglang' | 'llama-server' | 'ollama' | 'anthropic';
  /**
   * Whose API it is, where another provider speaks as OpenAI does: its Chat Completions then have the fields and the
   * refusals of that provider. Only with the dialect `'openai'`.
   *
   * @defaultValue OpenAI
   */
  readonly provider?:
    | 'azure'
    | 'bedrock'
    | 'deepseek'
    | 'fireworks'
    | 'gemini'
    | 'groq'
    | 'mistral'
    | 'openrouter'
    | 'together'
    | 'vertex';
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
  readonly reward?: (question: {
    /** The text, up to the end of the step in question. */
    readonly text: string;
    /** What it is scored against, where the endpoint takes a query. */
    readonly query?: string;
    /** The answer whose probability is asked for: a label, a level, a choice. */
    readonly label?: string;
  }) => number;
  /** The vector of a text. @defaultValue eight numbers hashed from the text */
  readonly embedding?: (text: string) => readonly number[];
  /** Whether its models answer typed questions; where they do not, `/v1/systemone` is a 501. @defaultValue true */
  readonly decides?: boolean;
  /** The key that it wants. @defaultValue none: it asks nobody for a key */
  readonly apiKey?: string;
  /**
   * What it does wrong. A list holds for every request that asks the model, and its `auth` and `loading` for
   * all others too. A function is asked for each request, so that faults can be random. Items of batches are
   * requests too: one that is refused ends as errored.
   *
   * @defaultValue nothing
   */
  readonly faults?:
    | readonly Fault[]
    | ((request: {
        /** Its index in the order of arrival, from 0. */
        readonly index: number;
        /** The path, without the query. */
        readonly path: string;
        /** The body as JSON; `undefined` if there is none. */
        readonly body: unknown;
        /** Whether it asks the model for something, and not only the server for information. */
        readonly asksModel: boolean;
        /** The id of an item of a batch, which is asked about as the live request that it stands for. */
        readonly customId?: string;
      }) => Fault | readonly Fault[] | undefined);
  /** The most tokens of a prompt and its answer. @defaultValue 131072 */
  readonly contextLength?: number;
  /**
   * How long an answer takes, in milliseconds; `index` is that of the request. A client that leaves before has
   * used no tokens.
   *
   * @defaultValue 0
   */
  readonly latencyMs?: number | ((index: number) => number);
  /**
   * How long a batch takes, in milliseconds by `now`: its items are answered one after the other in even steps, and
   * what is not answered after 24 hours expires. With 0 it has ended when somebody looks at it for the first time.
   *
   * @defaultValue 0
   */
  readonly batchMs?: number;
  /** The slots of llama-server: the most choices of a request. @defaultValue 4 */
  readonly parallel?: number;
  /**
   * Whether Anthropic's models are those that take no temperature, no prefill and no forced tool choice.
   *
   * @defaultValue true
   */
  readonly modern?: boolean;
  /** Milliseconds since 1970, for dates in replies and headers, and for the time that batches take. @defaultValue `Date.now` */
  readonly now?: () => number;
}

/** A request that is about to be answered, for faults that choose. */
export type FaultRequest = Parameters<
  Extract<EmulatorOptions['faults'], (request: never) => unknown>
>[0];

/** A text to be scored, as a reward model or a judge would. */
export type RewardQuestion = Parameters<NonNullable<EmulatorOptions['reward']>>[0];
