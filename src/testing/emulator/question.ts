import type { JsonValue } from '../../contracts/json.ts';
import type {
  Message,
  TokenLogprob,
  ToolCall,
  ToolDefinition,
} from '../../contracts/language-model.ts';

/** What an {@link Emulator} is asked for one completion, in the words of no dialect. */
export interface EmulatedQuestion {
  /** The model's name in the request. */
  readonly model: string;
  /** The conversation. For a text completion, what its prompt says, or one `user` turn where it is plain text. */
  readonly messages: readonly Message[];
  /** Whether the answer goes on from the last turn, an `assistant` turn that is not over. */
  readonly continues: boolean;
  /** The prompt of a text completion. */
  readonly prompt?: string;
  /** The index of the sample: that of the request (see {@link emulator}) plus the index of the choice. */
  readonly sample: number;
  /** The seed of this choice: that of the request plus the index of the choice. */
  readonly seed?: number;
  /** The temperature. */
  readonly temperature?: number;
  /** Texts at which the answer ends. The emulator cuts it; this is for an answer that wants to know. */
  readonly stop: readonly string[];
  /** The maximum tokens of the answer. The emulator cuts it. */
  readonly maxTokens?: number;
  /** The JSON schema that the text must satisfy; `{ type: 'object' }` where any object will do. */
  readonly schema?: JsonValue;
  /** The tools that may be called. */
  readonly tools?: readonly ToolDefinition[];
  /** Whether a tool is called: as the model likes, never, always, or this one. */
  readonly toolChoice?: 'auto' | 'none' | 'required' | Pick<ToolDefinition, 'name'>;
  /** The texts of which the answer must be one (vLLM's `structured_outputs.choice`). */
  readonly options?: readonly string[];
}

/** What an {@link Emulator} answers. */
export interface EmulatedAnswer {
  /** The text. @defaultValue `''` */
  readonly text?: string;
  /** What it thinks before it writes. It counts as written. */
  readonly reasoning?: string;
  /** The tools it asks to be called. */
  readonly toolCalls?: readonly Pick<ToolCall, 'input' | 'name'>[];
  /**
   * Why it ends; each dialect has its own word.
   *
   * - `stop`: it is complete, or a stop text came.
   * - `length`: it reached the limit of tokens.
   * - `tool`: it calls tools.
   * - `refusal`: the model declines.
   * - `pause`: the server paused a long turn (`pause_turn`).
   * - `context`: the context is full (`model_context_window_exceeded`).
   *
   * @defaultValue what happened: `stop`, `length` or `tool`
   */
  readonly finishReason?: 'stop' | 'length' | 'tool' | 'refusal' | 'pause' | 'context';
  /** The tokens of the text, put together the text itself. @defaultValue hashed, the written token likeliest */
  readonly logprobs?: readonly TokenLogprob[];
}
