import MiniSearch from 'minisearch';
import { expectNumber } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Retriever } from '../contracts/memory.ts';

/**
 * A retriever that compares texts by words, without a model: BM25+, scored by MiniSearch.
 *
 * Words are runs of letters and digits of any language, in lower case; in languages without spaces (Chinese, Japanese,
 * Thai) each character is a word. There is no stemming and no stop list: words that most texts share count for little
 * anyway. The score of a text is the sum over the different words `w` of the query that occur in it:
 *
 * `ln(1 + (N − n_w + ½) / (n_w + ½)) · (δ + f_w (k₁ + 1) / (f_w + k₁ (1 − b + b · l / l̄)))`
 *
 * with N texts, the query among them, `n_w` of which contain the word; f_w how often it occurs in the text; l the
 * number of different words in the text and l̄ the mean of that. The similarity is this score divided by the query's
 * own, at most 1: 1 for an equal text, 0 without a common word.
 *
 * @throws EspalierError `usage` for constants out of range.
 * @see Lv and Zhai, "Lower-Bounding Term Frequency Normalization", 2011 (BM25+).
 */
export function bm25(
  options: {
    /** k₁: the saturation of repeated words; from 0 up. @defaultValue 1.2 */
    readonly k?: number;
    /** b: the penalty of long texts, in [0, 1]. @defaultValue 0.7 */
    readonly b?: number;
    /** δ: the lower bound of an occurring word's weight; from 0 up. @defaultValue 0.5 */
    readonly d?: number;
  } = {},
): Retriever {
  expectOptions('bm25', options, 'k b d');
  const { k = 1.2, b = 0.7, d = 0.5 } = options;
  expectNumber('k', k, { min: 0 });
  expectNumber('b', b, { min: 0, max: 1 });
  expectNumber('d', d, { min: 0 });
  const indices: Index[] = [];
  return {
    name: 'bm25',
    similarities(query, texts) {
      let index = indices.find((known) => known.holds(texts));
      if (index === undefined) {
        index = new Index(texts, { k, b, d });
        indices.unshift(index);
        // Lessons for policies and for judges alternate, and a growing memory makes old indices obsolete.
        indices.length = Math.min(indices.length, 4);
      }
      return index.similarities(query);
    },
  };
}

type Constants = Readonly<Record<'b' | 'd' | 'k', number>>;

interface Entry {
  readonly id: number;
  readonly text: string;
}

/** The position of the query among the texts. */
const ofQuery = -1;

class Index {
  readonly #texts: readonly string[];
  readonly #index: MiniSearch<Entry>;
  readonly #constants: Constants;

  constructor(texts: readonly string[], constants: Constants) {
    this.#texts = [...texts];
    this.#constants = constants;
    this.#index = new MiniSearch<Entry>({
      fields: ['text'],
      tokenize: wordsOf,
      processTerm: (word) => word,
    });
    this.#index.addAll(texts.map((text, id) => ({ id, text })));
  }

  holds(texts: readonly string[]): boolean {
    return (
      texts.length === this.#texts.length &&
      texts.every((text, place) => text === this.#texts[place])
    );
  }

  similarities(query: string): readonly number[] {
    const entry = { id: ofQuery, text: query };
    this.#index.add(entry);
    const scores = new Map<unknown, number>();
    try {
      const words = [...new Set(wordsOf(query))];
      const results = this.#index.search(words.join(' '), {
        tokenize: (text) => text.split(' '),
        bm25: this.#constants,
      });
      // MiniSearch multiplies the sum by the number of words found.
      for (const { id, score, queryTerms } of results) scores.set(id, score / queryTerms.length);
    } finally {
      this.#index.remove(entry);
    }
    const most = scores.get(ofQuery) ?? 0;
    return this.#texts.map((_, id) => (most === 0 ? 0 : share(scores.get(id) ?? 0, most)));
  }
}

/** Rounded, because the last bits of the index's mean length depend on earlier queries. */
function share(score: number, most: number): number {
  return Math.min(1, Math.round((score / most) * 1e9) / 1e9);
}

const word =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}]|(?:(?![\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}])[\p{L}\p{M}\p{N}])+/gu;

function wordsOf(text: string): string[] {
  return text.normalize('NFKC').toLowerCase().match(word) ?? [];
}
