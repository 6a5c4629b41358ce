import { describe, expect, it } from 'vitest';
import { solvablePuzzles } from '../../src/environments/index.ts';
import { solutions } from '../../src/environments/puzzles/game-of-24-solutions.ts';

describe('solutions', () => {
  it('are those of puzzles worked out by hand', () => {
    expect(solutions([3, 3, 8, 8])).toEqual(['8 / (3 - 8 / 3)']);
    expect(solutions([5, 1, 5, 5])).toEqual(['5 * (5 - 1 / 5)']);
    expect(solutions([4, 9, 10, 13])).toEqual(['(10 + 9 - 13) * 4', '(10 - 4) * (13 - 9)']);
    expect(solutions([6, 6, 6, 6])).toEqual(['6 * 6 - 6 - 6', '6 + 6 + 6 + 6']);
    expect(solutions([1, 2, 3, 4])).toEqual([
      '(3 + 2 + 1) * 4',
      '(4 + 2) * (3 + 1)',
      '4 * 3 * 2 * 1',
      '4 * 3 * 2 / 1',
    ]);
    expect(solutions([1, 1, 1, 1])).toEqual([]);
  });

  it('count orders, groupings and carried signs once, and nothing else', () => {
    // 7 - (3 - 2), (7 + 2) - 3 and 7 + (2 - 3) are one.
    expect(solutions([7, 3, 2], 6)).toEqual(['7 + 2 - 3']);
    // 8 / (4 / 2), 8 * (2 / 4) and (8 * 2) / 4 are one.
    expect(solutions([8, 4, 2], 4)).toEqual(['2 + 8 / 4', '8 * 2 / 4', '8 / (4 - 2)']);
    // (5 - 3) * (6 - 3) and (3 - 5) * (3 - 6) are one.
    expect(solutions([5, 3, 6, 3], 6).filter((text) => /^\(\d - \d\) \* \(/.test(text))).toEqual([
      '(6 - 3) * (5 - 3)',
    ]);
    // Adding and subtracting 5 * (3 - 3) are one.
    expect(solutions([5, 3, 6, 3], 6).filter((text) => text.endsWith('5 * (3 - 3)'))).toEqual([
      '6 + 5 * (3 - 3)',
    ]);
    // Times 1 and divided by 1 are two, and so is what distributing leads to.
    expect(solutions([5, 1], 5)).toEqual(['5 * 1', '5 / 1']);
    expect(solutions([2, 2, 3, 4], 14)).toContain('4 * 2 + 3 * 2');
  });

  it('all come to the target and use each number once', () => {
    for (const numbers of [
      [2, 3, 5, 12],
      [1, 1, 4, 6],
      [4, 4, 7, 7],
      [1, 8, 12, 12],
    ]) {
      const found = solutions(numbers);
      expect(found.length).toBeGreaterThan(0);
      expect(new Set(found).size).toBe(found.length);
      for (const text of found) {
        expect((text.match(/\d+/g) ?? []).map(Number).toSorted((a, b) => a - b)).toEqual(numbers);
        expect(evaluate(text)).toBeCloseTo(24, 9);
      }
    }
  });

  it('refuse numbers out of range', () => {
    expect(() => solutions([24])).toThrow('Expected `numbers` to be an array of 2 to 8 integers');
    expect(() => solutions([1, 0.5])).toThrow('Expected `numbers[1]` to be an integer from 1');
    expect(() => solutions([1, 2], 0)).toThrow('Expected `target` to be an integer from 1');
  });
});

describe('the puzzles that can be solved', () => {
  const puzzles = solvablePuzzles();

  it('are the 1,362 that trying everything in floating point finds', () => {
    const found = setsOfFour().filter(canMake24).map(String);
    expect(found).toHaveLength(1_362);
    expect(puzzles.map(({ numbers }) => `${numbers}`)).toEqual(found);
  });

  it('are as difficult as they have distinct solutions', () => {
    for (const index of [0, 100, 700, 1_361]) {
      const { numbers, difficulty } = puzzles[index] ?? { numbers: [], difficulty: 0 };
      expect(difficulty).toBe(solutions(numbers).length);
    }
  });
});

function setsOfFour(): readonly (readonly number[])[] {
  const from = (first: number) => Array.from({ length: 14 - first }, (_, index) => first + index);
  return from(1).flatMap((a) =>
    from(a).flatMap((b) => from(b).flatMap((c) => from(c).map((d) => [a, b, c, d]))),
  );
}

function canMake24(numbers: readonly number[]): boolean {
  if (numbers.length === 1) return Math.abs((numbers[0] ?? 0) - 24) < 1e-6;
  return numbers.some((a, first) =>
    numbers.some((b, second) => {
      if (first === second) return false;
      const rest = numbers.filter((_, index) => index !== first && index !== second);
      const made = [a + b, a - b, a * b, ...(Math.abs(b) > 1e-6 ? [a / b] : [])];
      return made.some((value) => canMake24([...rest, value]));
    }),
  );
}

/** A small reader of arithmetic, so that the texts are judged by other code than wrote them. */
function evaluate(text: string): number {
  const tokens = text.match(/\d+|[-+*/()]/g) ?? [];
  let position = 0;
  const primary = (): number => {
    const token = tokens[position++];
    if (token !== '(') return Number(token);
    const value = sum();
    position += 1;
    return value;
  };
  const product = (): number => {
    let value = primary();
    while (tokens[position] === '*' || tokens[position] === '/') {
      value = tokens[position++] === '*' ? value * primary() : value / primary();
    }
    return value;
  };
  const sum = (): number => {
    let value = product();
    while (tokens[position] === '+' || tokens[position] === '-') {
      value = tokens[position++] === '+' ? value + product() : value - product();
    }
    return value;
  };
  return sum();
}
