import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import type { Random } from '../../src/contracts/context.ts';

function draws(random: Random, count = 3): readonly number[] {
  return Array.from({ length: count }, () => random.next());
}

describe('seededRandom', () => {
  // Worked out by a second implementation of sfc32 and of the mixing, in Python.
  test.each([
    { seed: 0, expected: [0.052099495354636205, 0.6837830867915496, 0.5563983311114822] },
    { seed: 42, expected: [0.908228903245828, 0.32263738616099147, 0.10678918962850026] },
    { seed: -1, expected: [0.9677276253703694, 0.3482835226122535, 0.7645534632206811] },
    { seed: 4294967303, expected: [0.6402138093908915, 0.8844030840295252, 0.09978658506322258] },
    { seed: 1.5, expected: [0.04093279584364762, 0.23979486331504007, 0.7033293424889895] },
    { seed: 'espalier', expected: [0.6187655468009572, 0.38590116422028253, 0.9949159597483043] },
  ])('gives the same numbers for the seed $seed forever', ({ seed, expected }) => {
    expect(draws(seededRandom(seed))).toEqual(expected);
  });

  test('is seeded with 0 unless told otherwise', () => {
    expect(seededRandom().next()).toBe(0.052099495354636205);
  });

  test('gives other numbers for every other seed', () => {
    const seeds = [0, 1, 2, -1, 0.5, 2 ** 32, 2 ** 32 + 1, '', '0', '1', 'a', 'b', '0.5'];
    const firsts = new Set(seeds.map((seed) => seededRandom(seed).next()));

    expect(firsts.size).toBe(seeds.length);
  });
});

describe('split', () => {
  test('names the same stream at any time, however much was drawn before', () => {
    const fresh = seededRandom(7);
    const used = seededRandom(7);
    draws(used, 100);
    used.split('other').next();

    const expected = [0.3544521191638651, 0.14486440566447167, 0.017977203263326413];
    expect(draws(fresh.split('simulation', 3))).toEqual(expected);
    expect(draws(used.split('simulation', 3))).toEqual(expected);
  });

  test('leaves the source as it was', () => {
    const plain = seededRandom(42);
    const parent = seededRandom(42);
    expect(parent.next()).toBe(plain.next());
    draws(parent.split('a'), 50);

    expect(draws(parent)).toEqual(draws(plain));
  });

  test.each<[readonly (string | number)[], readonly (string | number)[]]>([
    [[1], ['1']],
    [
      ['ab', 'c'],
      ['a', 'bc'],
    ],
    [['ab'], ['a', 'b']],
    [['a\u0003b'], ['a', 'b']],
    [['a'], ['a', '']],
    [[], ['']],
    [
      [1, 2],
      [2, 1],
    ],
    [[12], [1, 2]],
    [[1], [2 ** 32 + 1]],
    [[-1], [2 ** 32 - 1]],
    [[0.5], ['0.5']],
    [[0], [2 ** 64]],
    [[2 ** 64], [2 ** 65]],
  ])('tells the labels %j from %j', (one, other) => {
    const random = seededRandom(0);

    expect(draws(random.split(...one))).not.toEqual(draws(random.split(...other)));
  });

  test('gives streams that have nothing to do with each other', () => {
    const random = seededRandom('streams');
    let product = 0;
    const count = 20_000;
    for (let index = 0; index < count; index++) {
      const one = random.split('node', index).next() - 0.5;
      const next = random.split('node', index + 1).next() - 0.5;
      product += one * next;
    }

    // The correlation of independent streams is 0 ± 1/√20 000 = 0.007.
    expect(Math.abs((12 * product) / count)).toBeLessThan(0.03);
  });
});

describe('the numbers', () => {
  test('fill [0, 1) evenly', () => {
    const random = seededRandom('uniform');
    const bins = new Array<number>(100).fill(0);
    let outside = 0;
    for (let draw = 0; draw < 100_000; draw++) {
      const number = random.next();
      if (!(number >= 0 && number < 1)) outside++;
      const bin = Math.floor(number * 100);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    const chiSquare = bins.reduce((sum, count) => sum + (count - 1_000) ** 2 / 1_000, 0);

    expect(outside).toBe(0);
    // Chi-square with 99 degrees of freedom lies in [61.1, 148.2] with probability 0.998.
    expect(chiSquare).toBeGreaterThan(61.1);
    expect(chiSquare).toBeLessThan(148.2);
  });

  test('use all 53 bits of a number', () => {
    const random = seededRandom('bits');
    let low = 0;
    for (let draw = 0; draw < 4_096; draw++) if ((random.next() * 2 ** 53) % 2 === 1) low++;

    expect(Math.abs(low - 2_048)).toBeLessThan(160);
  });

  test('become integers in [0, limit), all equally often', () => {
    const random = seededRandom('integers');
    const counts = new Array<number>(7).fill(0);
    for (let draw = 0; draw < 14_000; draw++) {
      const number = random.integer(7);
      counts[number] = (counts[number] ?? 0) + 1;
    }

    expect(counts).toHaveLength(7);
    // 2 000 each, with a standard deviation of √(14 000 · 6/49) ≈ 41.
    for (const count of counts) expect(Math.abs(count - 2_000)).toBeLessThan(205);
  });

  test('leave no choice among one', () => {
    expect(seededRandom(3).integer(1)).toBe(0);
  });
});
