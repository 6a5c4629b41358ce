import type { GenerateRequest, Message } from '../../contracts/language-model.ts';

/** Tokens that a chat template may add to each message. */
export const templateAllowance = 16;

/** The most tokens that a prompt may be, with all that is told with it. */
export function mostTokensOfPrompt({ messages, schema, tools }: GenerateRequest): number {
  return mostTokensOf(messages, schema, tools);
}

/** The most tokens that messages, and what goes along with them as JSON, may be: no token is shorter than a byte. */
function mostTokensOf(
  messages: readonly Pick<Message, 'content' | 'toolCalls'>[],
  ...besides: readonly unknown[]
): number {
  return messages.reduce(
    (sum, { content, toolCalls }) =>
      sum + Buffer.byteLength(content) + sizeOf(toolCalls) + templateAllowance,
    besides.reduce<number>((sum, json) => sum + sizeOf(json), templateAllowance),
  );
}

/** The most tokens that texts may be. */
export function mostTokensIn(texts: readonly string[]): number {
  return mostTokensOf(texts.map((content) => ({ content })));
}

function sizeOf(json: unknown): number {
  return json === undefined ? 0 : Buffer.byteLength(JSON.stringify(json));
}
