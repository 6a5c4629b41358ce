import type { TextWriter, Tokenizer } from '../tiny/tokenizer.ts';
import type { NativeModel } from './binding.ts';

/** The vocabulary of a model. */
export interface Vocabulary extends Tokenizer {
  /** How many tokens it has. */
  readonly size: number;
}

/**
 * The vocabulary of a file, of whatever kind it is. What stands between special tokens is cut on its own, as
 * llama.cpp does it, so that text which is not recognised by name stays text.
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
  const names = [...specials.keys()].toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp(names.length === 0 ? '$^' : names.map(escaped).join('|'), 'gu');
  const { bos, bosString, eosString } = model.tokens;
  // A token names itself behind another one: at the beginning of a text its space may be left out.
  const anchor = model.tokenize('a', false).slice(-1);
  return {
    size,
    specials: names,
    bos: bosString ?? '',
    eos: eosString ?? '',
    encode(text, guard) {
      const tokens = [...encode(model, text, { specials, pattern, guard })];
      // A template may have written it already.
      const isMissing = model.tokens.shouldPrependBosToken && bos !== null && tokens[0] !== bos;
      return isMissing ? [bos, ...tokens] : tokens;
    },
    isEnd: (token) => model.isEogToken(token),
    nameOf: (token) => model.detokenize([token], true, anchor),
    writer: (prompt) => writer(model, prompt),
  };
}

interface Encoding {
  readonly specials: ReadonlyMap<string, number>;
  readonly pattern: RegExp;
  readonly guard: string | undefined;
}

function* encode(
  model: NativeModel,
  text: string,
  { specials, pattern, guard }: Encoding,
): Generator<number> {
  const plain = (piece: string) => {
    const content = guard === undefined ? piece : piece.replaceAll(guard, '');
    return content === '' ? [] : model.tokenize(content, false);
  };
  let end = 0;
  for (const { 0: name, index } of text.matchAll(pattern)) {
    yield* plain(text.slice(end, index));
    yield specials.get(name) ?? 0;
    end = index + name.length;
  }
  yield* plain(text.slice(end));
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** What a decoder writes for bytes that are no character. */
const unreadable = '\ufffd';
/** No character has more bytes, and so none more tokens. */
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
