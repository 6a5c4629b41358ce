import { EspalierError } from '../../base/errors.ts';
import {
  cutAtSpecials,
  patternOf,
  type TextWriter,
  type Tokenizer,
} from '../in-process/tokenizer.ts';
import type { RawVocabulary } from './llama-config.ts';
import { type Merges, mergedPieces } from './merges.ts';

const kind = { normal: 1, unknown: 2, control: 3, userDefined: 4, byte: 6 } as const;

/** SentencePiece's character for a space. */
const blank = '\u2581';

/**
 * The tokenizer of a vocabulary of the SentencePiece kind (`tokenizer.ggml.model` = `llama`), as in llama.cpp, with one
 * exception: no merge ever produces a special token, so that text that is not recognised by name stays text.
 *
 * @throws EspalierError `usage` for a vocabulary of another kind.
 */
export function tokenizerOf(vocabulary: RawVocabulary): Tokenizer {
  if (vocabulary.model !== 'llama') {
    throw new EspalierError(
      'usage',
      `Expected a model with a vocabulary of the kind 'llama' (SentencePiece), got '${vocabulary.model}'.`,
    );
  }
  const table = tableOf(vocabulary);
  const { bos, eos } = vocabulary;
  return {
    specials: [...table.specials.keys()],
    bos: bos === undefined ? '' : table.text(bos),
    eos: eos === undefined ? '' : table.text(eos),
    encode: (text, guard) => encode(table, text, guard),
    isEnd: (token) => token === eos || table.kind(token) === kind.control,
    nameOf: (token) => nameOf(table, token),
    writer: (prompt) => writer(table, prompt.at(-1)),
  };
}

/** Lookup tables of a vocabulary. */
interface Table {
  readonly vocabulary: RawVocabulary;
  readonly merges: Merges;
  /** Special tokens by name. */
  readonly specials: ReadonlyMap<string, number>;
  /** Finds the names of special tokens, the longest first. */
  readonly specialNames: RegExp;
  /** The token of each byte. */
  readonly bytes: ReadonlyMap<number, number>;
  kind(token: number): number;
  text(token: number): string;
}

function tableOf(vocabulary: RawVocabulary): Table {
  const { tokens, scores, types } = vocabulary;
  const normal = new Map<string, number>();
  const specials = new Map<string, number>();
  const bytes = new Map<number, number>();
  for (const [token, text] of tokens.entries()) {
    const type = types[token] ?? kind.normal;
    if (type === kind.normal) normal.set(text, token);
    else if (type === kind.byte) bytes.set(byteOf(text), token);
    else if (isSpecial(type) && text !== '') specials.set(text, token);
  }
  return {
    vocabulary,
    merges: { tokens: normal, scoreOf: (token) => scores[token] ?? 0 },
    specials,
    specialNames: patternOf(specials),
    bytes,
    kind: (token) => types[token] ?? kind.normal,
    text: (token) => tokens[token] ?? '',
  };
}

function isSpecial(type: number): boolean {
  return type === kind.control || type === kind.userDefined || type === kind.unknown;
}

/** The byte of a token `<0xNN>`. */
function byteOf(text: string): number {
  return Number.parseInt(text.slice(3, 5), 16);
}

function encode(table: Table, text: string, guard: string | undefined): readonly number[] {
  const { addBos, addSpacePrefix, bos } = table.vocabulary;
  const tokens: number[] = [];
  let isFresh = true;
  for (const piece of cutAtSpecials(text, { ...table, guard })) {
    if (typeof piece === 'number') tokens.push(piece);
    else {
      // As in llama.cpp: a space before the first text, and before each text that follows a special token.
      const spaced = addSpacePrefix && isFresh ? ` ${piece}` : piece;
      for (const token of encodePlain(table, spaced)) tokens.push(token);
    }
    isFresh = typeof piece === 'number';
  }
  // A template may already have written it.
  return addBos && bos !== undefined && tokens[0] !== bos ? [bos, ...tokens] : tokens;
}

function* encodePlain(table: Table, text: string): Generator<number> {
  const { merges, bytes, vocabulary } = table;
  for (const piece of mergedPieces(text.replaceAll(' ', blank), merges)) {
    const token = merges.tokens.get(piece);
    if (token !== undefined) {
      yield token;
      continue;
    }
    for (const byte of Buffer.from(piece)) {
      const fallback = bytes.get(byte) ?? vocabulary.unknown;
      if (fallback === undefined) throw unsayable(piece);
      yield fallback;
    }
  }
}

function unsayable(piece: string): EspalierError {
  return new EspalierError(
    'usage',
    `Expected text that the vocabulary of the model can say, got ${JSON.stringify(piece)}.`,
  );
}

function nameOf(table: Table, token: number): string {
  const text = table.text(token);
  switch (table.kind(token)) {
    case kind.normal:
      return text.replaceAll(blank, ' ');
    case kind.byte:
      return asciiOf(table, byteOf(text)) ?? text;
    default:
      return text;
  }
}

/** The character of a byte, if no other token represents it. */
function asciiOf({ merges }: Table, byte: number): string | undefined {
  const character = String.fromCharCode(byte);
  const hasToken = merges.tokens.has(character.replace(' ', blank));
  return byte < 0x80 && !hasToken ? character : undefined;
}

function writer(table: Table, before: number | undefined): TextWriter {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const isFresh = before === undefined || isSpecial(table.kind(before));
  // The space that `encode` adds there is not part of the text.
  let skipsSpace = table.vocabulary.addSpacePrefix && isFresh;
  return {
    write(token) {
      const text = decoder.decode(bytesOf(table, token), { stream: true });
      const isSkipped = skipsSpace && text.startsWith(' ');
      skipsSpace = false;
      return isSkipped ? text.slice(1) : text;
    },
  };
}

function bytesOf(table: Table, token: number): Uint8Array {
  switch (table.kind(token)) {
    case kind.byte:
      return Uint8Array.of(byteOf(table.text(token)));
    case kind.unknown:
      return Buffer.from('\ufffd');
    case kind.normal:
    case kind.userDefined:
      return Buffer.from(nameOf(table, token));
    default:
      return new Uint8Array();
  }
}
