import type { JsonValue } from '../../contracts/json.ts';
import type {
  Message,
  TokenLogprob,
  ToolCall,
  ToolDefinition,
} from '../../contracts/language-model.ts';

/** A request to an {@link Emulator} for one completion, independent of the dialect. */
export interface EmulatedQuestion {
  /** The model's name in the request. */
  readonly model: string;
  /**
   * The conversation. For a text completion, the conversation in its prompt, or one `user` turn if the prompt is plain
   * text.
   */
  readonly messages: readonly Message[];
  /** Whether the answer continues the last turn, an unfinished `assistant` turn. */
  readonly continues: boolean;
  /** The prompt of a text completion. */
  readonly prompt?: string;
  /** The index of the sample: that of the request (see {@link emulator}) plus the index of the choice. */
  readonly sample: number;
  /** The seed of this choice: that of the request plus the index of the choice. */
  readonly seed?: number;
  /** The temperature. */
  readonly temperature?: number;
  /** Texts at which the answer ends. The emulator cuts the answer itself. */
  readonly stop: readonly string[];
  /** The maximum tokens of the answer. The emulator cuts the answer itself. */
  readonly maxTokens?: number;
  /** The JSON schema that the text must satisfy; `{ type: 'object' }` if any object is allowed. */
  readonly schema?: JsonValue;
  /** The tools that may be called. */
  readonly tools?: readonly ToolDefinition[];
  /** Whether a tool is called: freely chosen, never, always, or this one. */
  readonly toolChoice?: 'auto' | 'none' | 'required' | Pick<ToolDefinition, 'name'>;
  /** The texts to choose the answer from (vLLM's `structured_outputs.choice`). */
  readonly options?: readonly string[];
}

/** The answer of an {@link Emulator}. */
export interface EmulatedAnswer {
  /** The text. @defaultValue `''` */
  readonly text?: string;
  /** The thoughts before the answer. They count as written. */
  readonly reasoning?: string;
  /** The tools to call. */
  readonly toolCalls?: readonly Pick<ToolCall, 'input' | 'name'>[];
  /**
   * Why it ends; each dialect has its own term.
   *
   * - `stop`: it is complete, or reached a stop text.
   * - `length`: it reached the token limit.
   * - `tool`: it calls tools.
   * - `refusal`: the model declines.
   * - `pause`: the server paused a long turn (`pause_turn`).
   * - `context`: the context is full (`model_context_window_exceeded`).
   *
   * @defaultValue the actual reason: `stop`, `length` or `tool`
   */
  readonly finishReason?: 'stop' | 'length' | 'tool' | 'refusal' | 'pause' | 'context';
  /** The tokens of the text, which must add up to it. @defaultValue hashed, with the written token likeliest */
  readonly logprobs?: readonly TokenLogprob[];
}
