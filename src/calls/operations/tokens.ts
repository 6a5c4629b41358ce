import { byteLength } from '#platform';
import { contentAddress } from '../../base/canonical-json.ts';
import type { GenerateRequest, Image, Message, Payee } from '../../contracts/language-model.ts';

/** Tokens that a chat template may add to each message. */
export const templateAllowance = 16;

/** What of a request a model reads. */
export type Prompt = Pick<GenerateRequest, 'schema' | 'tools'> & {
  readonly messages: readonly Pick<Message, 'content' | 'images' | 'original' | 'toolCalls'>[];
  /** The most tokens that an image takes. @defaultValue the most of all models */
  readonly imageTokens?: number;
};

/** The most tokens that an image takes where nothing else is known: the maximum number of patches that Qwen-VL cuts it into. */
const usualImageTokens = 16_384;

/**
 * The most tokens that an image takes, as its provider documents it. Anthropic scales it down to 4784 patches. OpenAI
 * does to 10,000, and small models count 1.62 tokens for each; GPT-4o mini counts 2833, and 5667 for each of up to 8
 * tiles.
 */
export function imageTokensOf({ provider, modelId }: Payee): number {
  if (provider === 'anthropic') return 4784;
  if (provider !== 'openai') return usualImageTokens;
  return modelId.includes('gpt-4o-mini') ? 2833 + 8 * 5667 : 16_200;
}

/** A prompt as one text, of which prompts that begin alike have the beginning in common. */
export function textOfPrompt({ messages, schema, tools, imageTokens }: Prompt): string {
  const turns = messages.flatMap(({ content, toolCalls, images = [], original }) => [
    JSON.stringify(original?.data),
    JSON.stringify(toolCalls),
    ...images.map((image) => textOfImage(image, imageTokens)),
    content,
  ]);
  return [JSON.stringify([schema, tools]), ...turns].join('\n');
}

/** An image as a text that has no fewer bytes than the image has tokens. */
function textOfImage(image: Image, imageTokens = usualImageTokens): string {
  return contentAddress(JSON.stringify(image)) + ' '.repeat(imageTokens);
}

/** The most tokens that a prompt may be, with all that is told with it: no token of a text is shorter than a byte. */
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

/** The most tokens that texts may be. */
export function mostTokensIn(texts: readonly string[]): number {
  return mostTokensOfPrompt({ messages: texts.map((content) => ({ content })) });
}

function sizeOf(json: unknown): number {
  return json === undefined ? 0 : byteLength(JSON.stringify(json));
}
