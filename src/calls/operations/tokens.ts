import type { GenerateRequest, Message } from '../../contracts/language-model.ts';

/** Tokens that a chat template may add to each message. */
export const templateAllowance = 16;

/** What of a request a model reads. */
export type Prompt = Pick<GenerateRequest, 'schema' | 'tools'> & {
  readonly messages: readonly Pick<Message, 'content' | 'toolCalls'>[];
};

/** A prompt as one text, of which prompts that begin alike have the beginning in common. */
export function textOfPrompt({ messages, schema, tools }: Prompt): string {
  const turns = messages.flatMap(({ content, toolCalls }) => [JSON.stringify(toolCalls), content]);
  return [JSON.stringify([schema, tools]), ...turns].join('\n');
}

/** The most tokens that a prompt may be, with all that is told with it: no token is shorter than a byte. */
export function mostTokensOfPrompt({ messages, schema, tools }: Prompt): number {
  return messages.reduce(
    (sum, { content, toolCalls }) =>
      sum + Buffer.byteLength(content) + sizeOf(toolCalls) + templateAllowance,
    sizeOf(schema) + sizeOf(tools) + templateAllowance,
  );
}

/** The most tokens that texts may be. */
export function mostTokensIn(texts: readonly string[]): number {
  return mostTokensOfPrompt({ messages: texts.map((content) => ({ content })) });
}

function sizeOf(json: unknown): number {
  return json === undefined ? 0 : Buffer.byteLength(JSON.stringify(json));
}
