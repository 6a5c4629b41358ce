import { type RowContent, textOf } from '../formats/reading.ts';

const endTokens: readonly string[] = [
  '</s>',
  '<eos>',
  '<end_of_turn>',
  '<|end|>',
  '<|end_of_text|>',
  '<|endoftext|>',
  '<|eot_id|>',
  '<|im_end|>',
  '<|return|>',
];

/** Whether a text ends with a token that ends an answer. */
export function endsWithToken(side: RowContent): boolean {
  const text = textOf(side).trimEnd();
  return text.endsWith('>') && endTokens.some((token) => text.endsWith(token));
}
