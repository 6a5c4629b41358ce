import { describe, expect, test } from 'vitest';
import type { Drawing } from '../../../src/backends/in-process/sample.ts';
import { drawToken, logProbabilities } from '../../../src/backends/tiny/sampler.ts';
import { seededRandom } from '../../../src/base/random.ts';
import type { Random } from '../../../src/index.ts';

/** Probabilities 1/6, 2/6 and 3/6. */
const logits = Float32Array.of(0, Math.log(2), Math.log(3));

function fixed(number: number): Random {
  const random: Random = { next: () => number, integer: () => 0, split: () => random };
  return random;
}

/** The tokens for some random numbers. */
function draws(settings: Drawing, numbers: readonly number[]): readonly number[] {
  return numbers.map((number) => drawToken(logits, settings, fixed(number)));
}

describe('drawToken', () => {
  test('draws in proportion to the probabilities', () => {
    // 6 u lies in [0, 1), [1, 3) or [3, 6).
    expect(draws({ temperature: 1 }, [0, 0.16, 0.17, 0.49, 0.51, 0.99])).toEqual([
      0, 0, 1, 1, 2, 2,
    ]);
  });

  test('takes p to the power of 1 / temperature', () => {
    // At 1/2 the weights are 1, 4 and 9 of 14.
    expect(draws({ temperature: 0.5 }, [0.07, 0.072, 0.35, 0.36])).toEqual([0, 1, 1, 2]);
    // At 2 they are 1, 1.414 and 1.732 of 4.146.
    expect(draws({ temperature: 2 }, [0.24, 0.25, 0.58, 0.59])).toEqual([0, 1, 1, 2]);
  });

  test('takes the likeliest at temperature 0, the first of several, without a random number', () => {
    const none: Random = {
      next: () => expect.fail('it drew a number'),
      integer: () => expect.fail('it drew a number'),
      split: () => none,
    };
    expect(drawToken(Float32Array.of(1, 3, 3, 2), { temperature: 0 }, none)).toBe(1);
  });

  test('stays finite at temperatures near 0', () => {
    for (const temperature of [1e-3, 1e-300, Number.MIN_VALUE]) {
      expect(draws({ temperature }, [1e-9, 0.5, 0.999])).toEqual([2, 2, 2]);
    }
  });

  test('draws from the k likeliest', () => {
    expect(draws({ temperature: 1, topK: 1 }, [0, 0.99])).toEqual([2, 2]);
    // 2 and 3 of 5.
    expect(draws({ temperature: 1, topK: 2 }, [0, 0.39, 0.41])).toEqual([1, 1, 2]);
    expect(draws({ temperature: 1, topK: 9 }, [0, 0.2, 0.6])).toEqual([0, 1, 2]);
  });

  test('draws from the fewest tokens whose probability reaches top-p', () => {
    expect(draws({ temperature: 1, topP: 0.49 }, [0, 0.99])).toEqual([2, 2]);
    expect(draws({ temperature: 1, topP: 0.51 }, [0, 0.39, 0.41])).toEqual([1, 1, 2]);
    expect(draws({ temperature: 1, topP: 0.84 }, [0, 0.2, 0.6])).toEqual([0, 1, 2]);
    expect(draws({ temperature: 1, topP: 1e-9 }, [0, 0.99])).toEqual([2, 2]);
  });

  test('cuts by top-p after temperature and top-k', () => {
    // Of 2 and 3 the second has 0.6: that is enough for 0.55, where it would not be of all three.
    expect(draws({ temperature: 1, topK: 2, topP: 0.55 }, [0, 0.99])).toEqual([2, 2]);
    // At temperature 0.5 it has 9 of 14 = 0.64.
    expect(draws({ temperature: 0.5, topP: 0.6 }, [0, 0.99])).toEqual([2, 2]);
  });

  test('keeps the lowest ids where a cut goes through equals', () => {
    const equal = new Float32Array(100);
    const drawn = new Set<number>();
    for (let number = 0; number < 1; number += 0.01) {
      drawn.add(drawToken(equal, { temperature: 1, topK: 3 }, fixed(number)));
      drawn.add(drawToken(equal, { temperature: 1, topP: 0.03 }, fixed(number)));
    }
    expect([...drawn].toSorted((a, b) => a - b)).toEqual([0, 1, 2]);
  });

  test('draws as a cut that cuts nothing does', () => {
    const random = seededRandom('logits');
    const many = Float32Array.from({ length: 300 }, () => random.next() * 5);
    for (let number = 0; number < 1; number += 0.037) {
      const whole = drawToken(many, { temperature: 1 }, fixed(number));
      expect(drawToken(many, { temperature: 1, topK: 300 }, fixed(number))).toBe(whole);
      expect(drawToken(many, { temperature: 1, topK: 299 }, fixed(number))).toBeTypeOf('number');
    }
  });

  test('says that a model is damaged', () => {
    for (const broken of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const all = new Float32Array(3).fill(broken);
      expect(() => drawToken(all, { temperature: 1 }, fixed(0))).toThrow('no finite logits');
    }
  });
});

/** Tokens are named by their numbers. */
const told = (all: Float32Array) => logProbabilities(all, { nameOf: String });

describe('logProbabilities', () => {
  test('are the logarithm of the softmax', () => {
    const { of } = told(logits);
    for (const [token, probability] of [1 / 6, 2 / 6, 3 / 6].entries()) {
      expect(of(token)?.logprob).toBeCloseTo(Math.log(probability), 6);
    }
  });

  test('are at most 0, and finite for large logits', () => {
    const { of } = told(Float32Array.of(3e38, -3e38, 0));
    expect(of(0)?.logprob).toBe(0);
    expect(of(1)?.logprob).toBeLessThan(-1e38);
  });

  test('name the likeliest tokens in order', () => {
    const { top } = told(Float32Array.of(1, 5, 3, 5, -2));
    expect(top(3).map(({ token }) => token)).toEqual(['1', '3', '2']);
    expect(top(9).map(({ token }) => token)).toEqual(['1', '3', '2', '0', '4']);
  });
});
