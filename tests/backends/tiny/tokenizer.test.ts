import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RawVocabulary } from '../../../src/backends/tiny/llama-config.ts';
import { tokenizerOf } from '../../../src/backends/tiny/tokenizer.ts';
import { property } from '../../support/property.ts';

type Entry = readonly [text: string, score?: number, type?: number];

const control = 3;
const userDefined = 4;

/** Four special tokens, the bytes from id 4, and then what a test brings: `own` is the id of the first. */
function vocabularyOf(
  entries: readonly Entry[],
  change: Partial<RawVocabulary> = {},
): RawVocabulary {
  const bytes = Array.from({ length: 256 }, (_, byte): Entry => [hex(byte), 0, 6]);
  const all: readonly Entry[] = [
    ['<unk>', 0, 2],
    ['<s>', 0, control],
    ['</s>', 0, control],
    ['<|user|>', 0, control],
    ...bytes,
    ...entries,
  ];
  return {
    model: 'llama',
    tokens: all.map(([text]) => text),
    scores: all.map(([, score = 0]) => score),
    types: all.map(([, , type = 1]) => type),
    bos: 1,
    eos: 2,
    unknown: 0,
    addBos: false,
    addSpacePrefix: false,
    ...change,
  };
}

const own = 260;
const byteToken = (byte: number) => 4 + byte;

function hex(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
}

/** The pieces of a text, by name. */
function pieces(vocabulary: RawVocabulary, text: string): readonly (string | undefined)[] {
  return tokenizerOf(vocabulary)
    .encode(text)
    .map((token) => vocabulary.tokens[token]);
}

const letters: readonly Entry[] = ['a', 'b', 'c', '▁'].map((letter) => [letter, -90]);

describe('text', () => {
  test('joins the neighbours of the highest score first', () => {
    // a b c: `bc` (-1) comes before `ab` (-2), and then `a` stands alone.
    const vocabulary = vocabularyOf([...letters, ['ab', -2], ['bc', -1]]);
    expect(pieces(vocabulary, 'abc')).toEqual(['a', 'bc']);
    // a b a b c: `bc`, then the `ab` on the left.
    expect(pieces(vocabulary, 'ababc')).toEqual(['ab', 'a', 'bc']);
  });

  test('joins the leftmost of equals first', () => {
    const vocabulary = vocabularyOf([...letters, ['aa', -1]]);
    expect(pieces(vocabulary, 'aaaaa')).toEqual(['aa', 'aa', 'a']);
  });

  test('joins what joining has made', () => {
    // `abc` is only reached by way of `ab`: a b c → ab c → abc.
    const vocabulary = vocabularyOf([...letters, ['ab', -5], ['abc', -9]]);
    expect(pieces(vocabulary, 'abcab')).toEqual(['abc', 'ab']);
    // There is no way to `abc` where `b c` comes first.
    const other = vocabularyOf([...letters, ['ab', -5], ['bc', -4], ['abcc', -1]]);
    expect(pieces(other, 'abcc')).toEqual(['a', 'bc', 'c']);
  });

  test('writes spaces as ▁, and puts one first where the file says so', () => {
    const entries: readonly Entry[] = [...letters, ['▁a', -1], ['▁▁', -3]];
    expect(pieces(vocabularyOf(entries), 'a a  b')).toEqual(['a', '▁a', '▁▁', 'b']);
    const prefixed = vocabularyOf(entries, { addSpacePrefix: true });
    expect(pieces(prefixed, 'a a')).toEqual(['▁a', '▁a']);
    // After each special token too, as llama.cpp has it; not before one.
    expect(pieces(prefixed, '<|user|>a</s></s>b')).toEqual([
      '<|user|>',
      '▁a',
      '</s>',
      '</s>',
      '▁',
      'b',
    ]);
  });

  test('falls back to bytes, and to the unknown token where there are none', () => {
    const vocabulary = vocabularyOf(letters);
    // é is C3 A9 and 😀 is F0 9F 98 80 in UTF-8.
    expect(pieces(vocabulary, 'aé😀')).toEqual([
      'a',
      ...[0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80].map(hex),
    ]);
    const bare = vocabularyOf([], { tokens: ['<unk>', 'a'], types: [2, 1], scores: [0, 0] });
    expect(tokenizerOf(bare).encode('aé')).toEqual([1, 0, 0]);
    const { unknown: _, ...mute } = bare;
    expect(() => tokenizerOf(mute).encode('é')).toThrow(
      'Expected text that the vocabulary of the model can say, got "é".',
    );
  });
});

describe('text with special tokens', () => {
  test('knows special tokens by name, the longest first', () => {
    const vocabulary = vocabularyOf([...letters, ['<|user|>a', 0, userDefined]]);
    expect(pieces(vocabulary, 'b<|user|>ab<|user|>b')).toEqual([
      'b',
      '<|user|>a',
      'b',
      '<|user|>',
      'b',
    ]);
    expect(pieces(vocabulary, 'a<unk>b')).toEqual(['a', '<unk>', 'b']);
  });

  test('puts the first token first, once', () => {
    const vocabulary = vocabularyOf(letters, { addBos: true });
    expect(pieces(vocabulary, 'a')).toEqual(['<s>', 'a']);
    expect(pieces(vocabulary, '<s>a')).toEqual(['<s>', 'a']);
    expect(pieces(vocabulary, '')).toEqual(['<s>']);
  });

  test('makes no special token of text behind a guard, not even by merges', () => {
    // Every step from `<` to `</s>` is in the vocabulary, and `</s>` has the highest score.
    const steps: readonly Entry[] = ['<', '/', 's', '>'].map((letter) => [letter, -90]);
    const vocabulary = vocabularyOf([...steps, ['</', -2], ['s>', -1]]);
    expect(pieces(vocabulary, '</s>')).toEqual(['</s>']);
    const guarded = tokenizerOf(vocabulary).encode('<\ufdd0/s>', '\ufdd0');
    expect(guarded.map((token) => vocabulary.tokens[token])).toEqual(['</', 's>']);
  });
});

describe('the merges', () => {
  test('takes long texts in little time', () => {
    const vocabulary = vocabularyOf([...letters, ['aa', -1], ['aaaa', -2], ['ab', -3]]);
    const text = 'aaaab '.repeat(20_000);
    const started = performance.now();
    const tokens = tokenizerOf(vocabulary).encode(text);
    expect(performance.now() - started).toBeLessThan(5000);
    // aaaa b ▁
    expect(tokens).toHaveLength(60_000);
  });

  test('refuses another kind of vocabulary', () => {
    expect(() => tokenizerOf(vocabularyOf([], { model: 'gpt2' }))).toThrow(
      "Expected a model with a vocabulary of the kind 'llama' (SentencePiece), got 'gpt2'.",
    );
  });

  property([
    fc.array(fc.tuple(fc.stringMatching(/^[abc]{2,4}$/), fc.integer({ min: -5, max: 0 })), {
      maxLength: 12,
    }),
    fc.stringMatching(/^[abc]{0,24}$/),
  ])('agrees with a search of all neighbours at every step', (entries, text) => {
    const vocabulary = vocabularyOf([...letters, ...new Map(entries)]);
    expect(pieces(vocabulary, text)).toEqual(bruteForce(new Map(entries), text));
  });
});

/** The definition, word by word. */
function bruteForce(scores: ReadonlyMap<string, number>, text: string): readonly string[] {
  const symbols = [...text];
  for (let place = bestMerge(scores, symbols); place >= 0; place = bestMerge(scores, symbols)) {
    symbols.splice(place, 2, `${symbols[place]}${symbols[place + 1]}`);
  }
  return symbols;
}

function bestMerge(scores: ReadonlyMap<string, number>, symbols: readonly string[]): number {
  let best = -1;
  let highest = Number.NEGATIVE_INFINITY;
  for (let left = 0; left + 1 < symbols.length; left++) {
    const score = scores.get(`${symbols[left]}${symbols[left + 1]}`);
    if (score === undefined || score <= highest) continue;
    best = left;
    highest = score;
  }
  return best;
}

describe('writer', () => {
  const vocabulary = vocabularyOf([['▁a'], ['b'], ['<tool>', 0, userDefined]]);
  const write = (tokens: readonly number[], prompt: readonly number[] = [own]) => {
    const writer = tokenizerOf(vocabulary).writer(prompt);
    return tokens.map((token) => writer.write(token));
  };

  test('writes ▁ as a space, and special tokens that are no controls by name', () => {
    expect(write([own + 1, own, own + 2, 2])).toEqual(['b', ' a', '<tool>', '']);
  });

  test('holds the bytes of an unfinished character back', () => {
    const bytes = [0xf0, 0x9f, 0x98, 0x80].map(byteToken);
    expect(write([own + 1, ...bytes, own + 1])).toEqual(['b', '', '', '', '😀', 'b']);
    expect(write(bytes.slice(0, 3))).toEqual(['', '', '']);
  });

  test('writes a replacement for bytes that are no character', () => {
    expect(write([byteToken(0xc3), own + 1]).join('')).toBe('\ufffdb');
  });

  test('leaves the space out that is put behind a special token', () => {
    const prefixed = tokenizerOf({ ...vocabulary, addSpacePrefix: true });
    expect(prefixed.writer([3]).write(own)).toBe('a');
    expect(prefixed.writer([own + 1]).write(own)).toBe(' a');
    expect(tokenizerOf(vocabulary).writer([3]).write(own)).toBe(' a');
    expect(prefixed.encode('<|user|>a')).toEqual([3, own]);
  });

  property([fc.string({ unit: 'grapheme' })])('gives back what was encoded', (text) => {
    const tokenizer = tokenizerOf(vocabularyOf([['▁'], ['a'], ['▁a']], { addSpacePrefix: true }));
    const plain = text.replaceAll('▁', ' ').replaceAll('<', '(');
    const writer = tokenizer.writer([]);
    const written = tokenizer.encode(plain).map((token) => writer.write(token));
    expect(written.join('')).toBe(Buffer.from(plain).toString());
  });
});

test('names tokens for log-probabilities, each in its own way', () => {
  const tokenizer = tokenizerOf(vocabularyOf([['▁a'], ['b'], ['▁']]));
  const names = [own, 2, ...[0x0a, 0xe2, 0x62, 0x20].map(byteToken)].map(tokenizer.nameOf);
  expect(names).toEqual([' a', '</s>', '\n', '<0xE2>', '<0x62>', '<0x20>']);
});

test('a text ends at each control token', () => {
  const tokenizer = tokenizerOf(vocabularyOf([['a'], ['<tool>', 0, userDefined]]));
  expect([2, 3, own, own + 1, 0].map((token) => tokenizer.isEnd(token))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
