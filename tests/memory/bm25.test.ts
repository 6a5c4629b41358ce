import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { bm25 } from '../../src/memory/index.ts';
import { plainContext } from '../../src/testing/index.ts';

const context = plainContext();
const similarities = async (query: string, texts: readonly string[], retriever = bm25()) =>
  retriever.similarities(query, texts, context);

/** The formula, written down again: one pass over all texts, no index. */
function byHand(query: string, texts: readonly string[], { k = 1.2, b = 0.7, d = 0.5 } = {}) {
  const all = [...texts, query].map((text) => text.split(' '));
  const mean = all.reduce((sum, words) => sum + new Set(words).size, 0) / all.length;
  const scores = all.map((words) => {
    let score = 0;
    for (const word of new Set(query.split(' '))) {
      const count = words.filter((one) => one === word).length;
      if (count === 0) continue;
      const holding = all.filter((others) => others.includes(word)).length;
      const rarity = Math.log(1 + (all.length - holding + 0.5) / (holding + 0.5));
      const length = new Set(words).size / mean;
      score += rarity * (d + (count * (k + 1)) / (count + k * (1 - b + b * length)));
    }
    return score;
  });
  const own = scores.at(-1) ?? 0;
  return scores.slice(0, -1).map((score) => Math.min(1, score / own));
}

describe('bm25', () => {
  test('ranks three texts as worked out by hand', async () => {
    // Four texts with the query, all of two different words. red: ln(1 + 2.5 / 2.5) = 0.693147;
    // apple: ln(1 + 1.5 / 3.5) = 0.356675. Once: 0.5 + 2.2 / 2.2 = 1.5; twice: 0.5 + 4.4 / 3.2 = 1.875.
    // The query: 1.5 (0.693147 + 0.356675) = 1.574733; the second text: 1.875 · 0.356675 = 0.668766.
    const found = await similarities('red apple', ['red apple', 'green apple apple', 'blue sky']);
    expect(found[0]).toBe(1);
    expect(found[1]).toBeCloseTo(0.668766 / 1.574733, 5);
    expect(found[2]).toBe(0);
  });

  test('agrees with the formula on texts of all lengths', async () => {
    const random = seededRandom('bm25');
    const words = 'one two three four five six seven eight nine ten'.split(' ');
    const text = () =>
      Array.from({ length: 1 + random.integer(12) }, () => words[random.integer(10)] ?? '').join(
        ' ',
      );
    const retriever = bm25({ k: 0.9, b: 0.4, d: 1 });
    for (let round = 0; round < 20; round++) {
      const texts = Array.from({ length: 1 + random.integer(8) }, text);
      const query = text();
      const found = await similarities(query, texts, retriever);
      const wanted = byHand(query, texts, { k: 0.9, b: 0.4, d: 1 });
      for (const [place, one] of found.entries()) expect(one).toBeCloseTo(wanted[place] ?? -1, 8);
    }
  });

  test('gives the same whatever was asked before', async () => {
    const texts = ['a b c', 'b c d e', 'x', 'a a a a b'];
    const used = bm25();
    for (let times = 0; times < 500; times++) {
      await similarities(`a b q${times} ${'z '.repeat(times % 7)}`, texts, used);
    }
    expect(await similarities('a c', texts, used)).toEqual(await similarities('a c', texts));
  });

  test('tells texts of several memories apart, and sees a memory grow', async () => {
    const retriever = bm25();
    const alike = async (texts: readonly string[]) => similarities('a b', texts, retriever);
    expect((await alike(['a b']))[0]).toBe(1);
    expect((await alike(['c']))[0]).toBe(0);
    expect(await alike(['c', 'a b'])).toEqual([0, 1]);
    for (let more = 0; more < 6; more++) await alike(['a', `b${more}`]);
    expect(await alike(['a b'])).toEqual([1]);
  });

  test('looks at words, not at case or signs', async () => {
    expect(await similarities('Red, (APPLE)!', ['red apple'])).toEqual([1]);
    expect(await similarities('ﬁne ９', ['fine 9'])).toEqual([1]);
    expect((await similarities('4 * 6', ['6 / 4']))[0]).toBe(1);
  });

  test('takes characters for words where words are not written apart', async () => {
    const [alike = 0, other = 1] = await similarities('苹果是红色的', ['红苹果', '天空']);
    expect(alike).toBeGreaterThan(0.2);
    expect(other).toBe(0);
  });

  test('finds nothing in common where there is nothing', async () => {
    expect(await similarities('', ['', 'a'])).toEqual([0, 0]);
    expect(await similarities('?!', ['?!'])).toEqual([0]);
    expect(await similarities('a', [])).toEqual([]);
    expect(await similarities('constructor __proto__', ['constructor'])).toEqual(
      [byHand('constructor proto', ['constructor'])[0]].map((one) => expect.closeTo(one ?? 0, 8)),
    );
  });

  test('refuses constants out of range', () => {
    expect(() => bm25({ b: 2 })).toThrow(
      'Expected `b` to be a finite number from 0 to 1, got `2`.',
    );
    expect(() => bm25({ k: -1 })).toThrow('Expected `k` to be');
    expect(() => bm25({ d: Number.NaN })).toThrow('Expected `d` to be');
  });
});
