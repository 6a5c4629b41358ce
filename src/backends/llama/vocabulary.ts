import {
  cutAtSpecials,
  patternOf,
  type TextWriter,
  type Tokenizer,
} from '../in-process/tokenizer.ts';
import type { NativeModel } from './binding.ts';

/** The vocabulary of a model, with the number of its tokens. */
export type Vocabulary = Tokenizer & { readonly size: number };

/**
 * The vocabulary of a file, of any kind. Texts between special tokens are tokenised separately, as in llama.cpp, so
 * that text that is not the name of a special token stays text.
 */
export function vocabularyOf(model: NativeModel): Vocabulary {
  const specials = new Map<string, number>();
  let size = 0;
  for (const token of model.iterateAllTokens()) {
    size++;
    if (!model.getTokenAttributes(token).control && !model.isEogToken(token)) continue;
    const name = model.detokenize([token], true);
    if (name !== '') specials.set(name, token);
  }
  const specialNames = patternOf(specials);
  const { bos, bosString, eosString } = model.tokens;
  // Tokens are decoded after another one, because a leading space may be dropped at the beginning of a text.
  const anchor = model.tokenize('a', false).slice(-1);
  return {
    size,
    specials: [...specials.keys()],
    bos: bosString ?? '',
    eos: eosString ?? '',
    encode(text, guard) {
      const tokens = [...cutAtSpecials(text, { specials, specialNames, guard })].flatMap((piece) =>
        typeof piece === 'number' ? [piece] : model.tokenize(piece, false),
      );
      // A template may already have written it.
      const isMissing = model.tokens.shouldPrependBosToken && bos !== null && tokens[0] !== bos;
      return isMissing ? [bos, ...tokens] : tokens;
    },
    isEnd: (token) => model.isEogToken(token),
    nameOf: (token) => model.detokenize([token], true, anchor),
    writer: (prompt) => writer(model, prompt),
  };
}

/** The replacement character of a decoder for invalid bytes. */
const unreadable = '\ufffd';
/** The maximum bytes, and so tokens, of a character. */
const longestCharacter = 4;

function writer(model: NativeModel, prompt: readonly number[]): TextWriter {
  let before = prompt.slice(-longestCharacter);
  let held: number[] = [];
  return {
    write(token) {
      held.push(token);
      const text = model.detokenize(held, false, before);
      if (text.endsWith(unreadable) && held.length < longestCharacter) return '';
      before = [...before, ...held].slice(-longestCharacter);
      held = [];
      return text;
    },
  };
}
