import { byteLength } from '#platform';
import { contentAddress } from '../../base/canonical-json.ts';
import type { GenerateRequest, Image, Message, Payee } from '../../contracts/language-model.ts';

/** Tokens that a chat template may add to each message. */
export const templateAllowance = 16;

/** The part of a request that a model reads. */
export type Prompt = Pick<GenerateRequest, 'schema' | 'tools'> & {
  readonly messages: readonly Pick<Message, 'content' | 'images' | 'original' | 'toolCalls'>[];
  /** The maximum tokens of an image. @defaultValue the maximum of all models */
  readonly imageTokens?: number;
};

/** The maximum tokens of an image if nothing else is known: the maximum number of patches that Qwen-VL cuts it into. */
const usualImageTokens = 16_384;

/**
 * The maximum tokens of an image, as its provider documents it. Anthropic scales images down to 4784 patches. OpenAI
 * scales to 10,000, and small models count 1.62 tokens for each; GPT-4o mini counts 2833, and 5667 for each of up to 8
 * tiles.
 */
export function imageTokensOf({ provider, modelId }: Payee): number {
  if (provider === 'anthropic') return 4784;
  if (provider !== 'openai') return usualImageTokens;
  return modelId.includes('gpt-4o-mini') ? 2833 + 8 * 5667 : 16_200;
}

/** A prompt as one text, such that prompts with a common prefix have texts with a common prefix. */
export function textOfPrompt({ messages, schema, tools, imageTokens }: Prompt): string {
  const turns = messages.flatMap(({ content, toolCalls, images = [], original }) => [
    JSON.stringify(original?.data),
    JSON.stringify(toolCalls),
    ...images.map((image) => textOfImage(image, imageTokens)),
    content,
  ]);
  return [JSON.stringify([schema, tools]), ...turns].join('\n');
}

/** An image as a text with at least as many bytes as the image has tokens. */
function textOfImage(image: Image, imageTokens = usualImageTokens): string {
  return contentAddress(JSON.stringify(image)) + ' '.repeat(imageTokens);
}

/** The maximum tokens of a prompt, including everything sent with it: no token of a text is shorter than a byte. */
export function mostTokensOfPrompt({
  messages,
  schema,
  tools,
  imageTokens = usualImageTokens,
}: Prompt): number {
  return messages.reduce(
    (sum, { content, toolCalls, images = [], original }) =>
      sum +
      byteLength(content) +
      sizeOf(toolCalls) +
      images.length * imageTokens +
      sizeOf(original?.data) +
      templateAllowance,
    sizeOf(schema) + sizeOf(tools) + templateAllowance,
  );
}

/** The maximum tokens of texts. */
export function mostTokensIn(texts: readonly string[]): number {
  return mostTokensOfPrompt({ messages: texts.map((content) => ({ content })) });
}

function sizeOf(json: unknown): number {
  return json === undefined ? 0 : byteLength(JSON.stringify(json));
}
