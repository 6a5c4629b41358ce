import { readFile } from 'node:fs/promises';
import { vocabularyOf } from '../../backends/tiny/gguf-config.ts';
import { readHeader } from '../../backends/tiny/gguf-header.ts';
import { tokenizerOf } from '../../backends/tiny/tokenizer.ts';
import { EspalierError } from '../../base/errors.ts';
import { isPlainObject } from '../../base/json.ts';
import { expectRegularFile } from '../../base/regular-file.ts';

/** How many tokens a text has, without those that a model's template puts around it. */
export type CountTokens = (text: string) => number;

/** Four bytes of UTF-8 make about one token: of English, of code and of JSON alike, and three of four Chinese characters. */
export const estimateTokens: CountTokens = (text) => Math.ceil(Buffer.byteLength(text) / 4);

/**
 * Reads a tokenizer: a `tokenizer.json` of Hugging Face, or a GGUF file whose vocabulary is of the SentencePiece kind.
 *
 * @throws EspalierError `usage` if it is neither.
 */
export async function readTokenizer(path: string): Promise<CountTokens> {
  if (/\.gguf$/i.test(path)) {
    const vocabulary = vocabularyOf(await readHeader(path));
    const { encode } = tokenizerOf({ ...vocabulary, addBos: false });
    return (text) => encode(text).length;
  }
  const { Tokenizer } = await import('@huggingface/tokenizers');
  try {
    const tokenizer = new Tokenizer(await readTokenizerJson(path), {});
    return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length;
  } catch (cause) {
    if (EspalierError.isInstance(cause)) throw cause;
    throw wrong(path, cause);
  }
}

async function readTokenizerJson(path: string): Promise<object> {
  expectRegularFile(path);
  const value: unknown = JSON.parse(await readFile(path, 'utf8'));
  if (isPlainObject(value) && isPlainObject(value['model'])) return value;
  throw wrong(path);
}

function wrong(path: string, cause?: unknown): EspalierError {
  const message = `Expected \`${path}\` to be a \`tokenizer.json\` of Hugging Face or a GGUF file: take the one beside the model that is trained.`;
  return new EspalierError('usage', message, { cause });
}
