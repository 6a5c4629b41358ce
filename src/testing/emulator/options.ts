import type { Fault } from './faults.ts';
import type { EmulatedAnswer, EmulatedQuestion } from './question.ts';

/** Options of {@link emulator}. */
export interface EmulatorOptions {
  /** The kind of server. */
  readonly dialect: 'openai' | 'vllm' | 'sglang' | 'llama-server' | 'ollama' | 'anthropic';
  /**
   * The provider, for OpenAI-compatible ones: Chat Completions then have the fields and the refusals of that provider.
   * Only with the dialect `'openai'`.
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
   * The model's answer. If it throws, the reply is a 500.
   *
   * @defaultValue a number in [0, 1), JSON for a schema, or a required tool call, determined by the conversation and
   * the sample; by the seed instead of the sample if there is one; by neither at temperature 0
   */
  readonly answer?: (question: EmulatedQuestion) => string | EmulatedAnswer;
  /** The scores of reward and scoring endpoints, in [0, 1]. @defaultValue hashed from the text */
  readonly reward?: (question: {
    /** The text, up to the end of the step in question. */
    readonly text: string;
    /** The query, if the endpoint has one. */
    readonly query?: string;
    /** The answer whose probability is requested: a label, a level, a choice. */
    readonly label?: string;
  }) => number;
  /** The vector of a text. @defaultValue eight numbers hashed from the text */
  readonly embedding?: (text: string) => readonly number[];
  /** Whether its models answer typed questions; if not, `/v1/systemone` is a 501. @defaultValue true */
  readonly decides?: boolean;
  /** The required key. @defaultValue none is required */
  readonly apiKey?: string;
  /**
   * Its faults. A list applies to every request that calls the model, and its `auth` and `loading` to all others too. A
   * function is called for each request, so that faults can be random. Items of batches are requests too: a refused one
   * ends as errored.
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
        /** Whether it calls the model, and does not only ask for information. */
        readonly asksModel: boolean;
        /** The id of a batch item; its other fields are those of the equivalent live request. */
        readonly customId?: string;
      }) => Fault | readonly Fault[] | undefined);
  /** The maximum tokens of a prompt and its answer. @defaultValue 131072 */
  readonly contextLength?: number;
  /**
   * How long an answer takes, in milliseconds; `index` is that of the request. A client that disconnects before has
   * used no tokens.
   *
   * @defaultValue 0
   */
  readonly latencyMs?: number | ((index: number) => number);
  /**
   * How long a batch takes, in milliseconds by `now`: its items are answered one after another at equal intervals, and
   * items not answered after 24 hours expire. With 0, it has ended when it is first retrieved.
   *
   * @defaultValue 0
   */
  readonly batchMs?: number;
  /** The slots of llama-server: the maximum choices of a request. @defaultValue 4 */
  readonly parallel?: number;
  /**
   * Whether Anthropic's models are those without a temperature, prefill and forced tool choice.
   *
   * @defaultValue true
   */
  readonly modern?: boolean;
  /** Milliseconds since 1970, for dates in replies and headers, and for the time that batches take. @defaultValue `Date.now` */
  readonly now?: () => number;
}

/** A request that is about to be answered, for faults that depend on it. */
export type FaultRequest = Parameters<
  Extract<EmulatorOptions['faults'], (request: never) => unknown>
>[0];

/** A text to be scored, as a reward model or a judge would. */
export type RewardQuestion = Parameters<NonNullable<EmulatorOptions['reward']>>[0];
