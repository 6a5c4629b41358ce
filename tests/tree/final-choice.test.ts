import { describe, expect, test } from 'vitest';
import { maxChild, robustChild, robustOrSolvedChild } from '../../src/tree/final-choice.ts';
import { stats } from './grow.ts';

describe('robustChild', () => {
  test('is the child with the most visits, whatever its value', () => {
    const often = stats({ id: 1, visits: 9, value: 0.1 });
    const good = stats({ id: 2, visits: 8, value: 0.9 });

    expect(robustChild([good, often])).toBe(often);
  });

  test('takes the higher value of equally visited children, and then the first', () => {
    const worse = stats({ id: 1, visits: 4, value: 0.2 });
    const better = stats({ id: 2, visits: 4, value: 0.3 });
    const asGood = stats({ id: 3, visits: 4, value: 0.3 });

    expect(robustChild([worse, better, asGood])).toBe(better);
  });

  test('is undefined before any visit', () => {
    expect(robustChild([stats({ prior: 1 })])).toBeUndefined();
    expect(robustChild([])).toBeUndefined();
  });
});

describe('maxChild', () => {
  test('is the visited child with the highest value', () => {
    const often = stats({ id: 1, visits: 9, value: 0.1 });
    const good = stats({ id: 2, visits: 1, value: 0.9 });
    const never = stats({ id: 3, visits: 0, value: 1 });

    expect(maxChild([often, good, never])).toBe(good);
  });

  test('takes more visits of equal values, and then the first', () => {
    const few = stats({ id: 1, visits: 1, value: 0.5 });
    const many = stats({ id: 2, visits: 3, value: 0.5 });
    const asMany = stats({ id: 3, visits: 3, value: 0.5 });

    expect(maxChild([few, many, asMany])).toBe(many);
  });

  test('tells values below zero apart', () => {
    const bad = stats({ id: 1, visits: 1, value: -3 });
    const lessBad = stats({ id: 2, visits: 1, value: -2 });

    expect(maxChild([bad, lessBad])).toBe(lessBad);
    expect(maxChild([stats()])).toBeUndefined();
  });
});

describe('robustOrSolvedChild', () => {
  const often = stats({ id: 1, visits: 9, value: 0.5 });
  const known = (value: number) => stats({ id: 2, visits: 1, value, status: 'closed' });

  test('is the robust child while what is known in full is worth less', () => {
    expect(robustOrSolvedChild([often, known(0.4)])).toBe(often);
    expect(robustOrSolvedChild([often])).toBe(often);
    expect(robustOrSolvedChild([])).toBeUndefined();
  });

  test('is the best child that is known in full where that is worth at least as much', () => {
    const solved = known(0.5);
    const end = stats({ id: 3, visits: 1, value: 0.75, status: 'terminal' });

    expect(robustOrSolvedChild([often, solved])).toBe(solved);
    expect(robustOrSolvedChild([often, solved, end])).toBe(end);
    expect(robustOrSolvedChild([stats({ status: 'terminal' })])).toBeUndefined();
  });

  test('is judged by the best end below it, not by the guesses on the way', () => {
    const ends = [0, 1].map((value) =>
      stats({ visits: 1, value, reward: value, status: 'terminal' }),
    );
    const good = stats({ id: 5, visits: 3, value: 0.4, status: 'closed', children: ends });
    const flattered = stats({
      id: 6,
      visits: 9,
      value: 0.9,
      status: 'closed',
      children: ends.slice(0, 1),
    });

    expect(robustOrSolvedChild([often, good])).toBe(good);
    expect(robustOrSolvedChild([flattered, good])).toBe(good);
    expect(robustOrSolvedChild([flattered])).toBe(flattered);
  });
});
