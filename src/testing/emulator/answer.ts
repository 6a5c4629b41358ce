import type { JsonValue } from '../../contracts/json.ts';
import type { Message, TokenLogprob, ToolDefinition } from '../../contracts/language-model.ts';
import { contentOf } from './chat-template.ts';
import { hashed, hashedInteger } from './hash.ts';
import type { EmulatedAnswer, EmulatedQuestion } from './question.ts';
import { schemaValue } from './schema-value.ts';
import { tokensOf } from './tokens.ts';

/**
 * The default answer of an {@link Emulator}: a number in [0, 1) with six digits, or JSON if a schema is requested, or a
 * required tool call. It is determined by the conversation and the sample; by the seed instead of the sample if there
 * is a seed; by neither at temperature 0.
 */
export function defaultAnswer(question: EmulatedQuestion): EmulatedAnswer {
  const { schema, options = [] } = question;
  const key = `${keyOf(question)} ${conversationOf(question.messages)}`;
  const tool = dueTool(question);
  if (tool !== undefined) {
    return { toolCalls: [{ name: tool.name, input: schemaValue(tool.input, key) }] };
  }
  const option = options[hashedInteger(options.length, key)];
  if (option !== undefined) return { text: option };
  if (schema !== undefined) return { text: JSON.stringify(schemaValue(schema, key)) };
  return { text: numberFor(question) };
}

/** The tool that must be called. */
function dueTool({ toolChoice, tools = [] }: EmulatedQuestion): ToolDefinition | undefined {
  if (toolChoice === 'required') return tools[0];
  if (typeof toolChoice !== 'object') return undefined;
  return tools.find(({ name }) => name === toolChoice.name);
}

/** A partial answer that matches the beginning of the complete one is continued to its end. */
function numberFor(question: EmulatedQuestion): string {
  const { messages, continues } = question;
  const number = (turns: readonly Message[]) =>
    hashed(keyOf(question), conversationOf(turns)).toFixed(6);
  const partial = continues ? messages.at(-1)?.content : undefined;
  if (partial !== undefined) {
    const whole = number(messages.slice(0, -1));
    if (whole.startsWith(partial)) return whole.slice(partial.length);
  }
  return number(messages);
}

function keyOf({ temperature, seed, sample }: EmulatedQuestion): string {
  if (temperature === 0) return 'sample 0';
  return seed === undefined ? `sample ${sample}` : `seed ${seed}`;
}

function conversationOf(messages: readonly Message[]): string {
  const turns: JsonValue = messages.map((message) => [message.role, contentOf(message)]);
  return JSON.stringify(turns);
}

/** Log-probabilities for a text: the written token has at least half of the probability. */
export function hashedLogprobs(text: string, top: number): readonly TokenLogprob[] {
  return tokensOf(text).map((token, place) => {
    const probability = 0.5 + 0.45 * hashed('probability', token, place);
    const logprob = Math.log(probability);
    if (top === 0) return { token, logprob };
    const others = Array.from({ length: top - 1 }, (_, rank) => ({
      token: ` or${rank + 1}`,
      logprob: Math.log((1 - probability) * 0.5 ** (rank + 1)),
    }));
    return { token, logprob, top: [{ token, logprob }, ...others] };
  });
}
