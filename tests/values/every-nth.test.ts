import { describe, expect, it } from 'vitest';
import type { Environment, Evaluator, Policy } from '../../src/index.ts';
import { beam, search } from '../../src/index.ts';
import { everyNth } from '../../src/values/index.ts';

// A state is the word of the steps to it; a step adds a letter. Nothing ends before the ninth step.
const environment: Environment<string, string> = {
  name: 'words',
  reset: () => ({ state: '' }),
  step: (state, letter) => {
    const word = state + letter;
    return { state: word, terminal: word.length === 9, answer: word === 'ab' };
  },
};

/** Draws letters in turn, as many as are asked for, and counts them by the depth of their node. */
function drawing(counts: (depth: number) => number) {
  const drawn: number[] = [];
  const policy: Policy<string, string> = {
    propose({ depth }) {
      const letters = [...'abcdefgh'].slice(0, counts(depth));
      drawn[depth] = (drawn[depth] ?? 0) + letters.length;
      return letters.map((action) => ({ action }));
    },
  };
  return { drawn, policy };
}

/** Values words by their letters, and writes down what it was asked about. */
function reading() {
  const asked: string[] = [];
  const evaluator: Evaluator<string, string> = {
    needs: 'realised',
    evaluate: (nodes) =>
      nodes.map(({ state = '' }) => {
        asked.push(state);
        const sum = [...state].reduce((total, letter) => total + letter.charCodeAt(0) - 97, 0);
        return { value: sum / 100 };
      }),
  };
  return { asked, evaluator };
}

const budget = { nodes: 10_000 };

describe('every third step', () => {
  it('is judged; the steps between are worth what the last judged one is', async () => {
    const { asked, evaluator } = reading();
    const { policy } = drawing(() => 1);
    const { tree } = await search(environment, {
      policy,
      evaluator: everyNth(evaluator, 3),
      algorithm: beam({ width: 1 }),
      budget,
    });
    const values = [...tree.nodes()].map(({ rawValue, evaluations }) => [
      rawValue,
      evaluations[0]?.parts?.['inherited'],
    ]);
    // The only word is nine times the letter a. The root is judged for the first step, which the second takes after.
    expect(values).toEqual([
      [undefined, undefined],
      ...[1, 2].map(() => [0, 0]),
      [0, undefined],
      ...[4, 5].map(() => [0, 0]),
      [0, undefined],
      ...[7, 8].map(() => [0, 0]),
      [0, undefined],
    ]);
    expect(asked).toEqual(['', 'aaa', 'aaaaaa', 'aaaaaaaaa']);
  });

  it('is not waited for by answers and ends', async () => {
    const { asked, evaluator } = reading();
    const { policy } = drawing((depth) => (depth < 2 ? 2 : 1));
    await search(environment, {
      policy,
      evaluator: everyNth(evaluator, 8),
      algorithm: beam({ width: 4 }),
      budget,
    });
    const words = new Set(asked);
    expect(words).toContain('ab');
    expect([...words].filter((word) => word.length === 9)).toHaveLength(4);
    expect([...words].filter((word) => ![0, 2, 8, 9].includes(word.length))).toEqual([]);
  });

  it('is refused where that is no number of steps', () => {
    const { evaluator } = reading();
    expect(() => everyNth(evaluator, 0)).toThrow('an integer from 1 up');
    expect(() => everyNth(evaluator, 1.5)).toThrow('an integer from 1 up');
  });
});

// Chen et al., VG-Search: n beams, width w, granularity g. A cycle keeps n / w beams, goes on with them for g − 1 steps
// that nobody judges, draws w steps for each, and judges all n: (g − 1) · n / w + n steps and n checks.
it.each([
  { n: 4, w: 2, g: 1, cycles: 9, steps: 4 },
  { n: 4, w: 2, g: 3, cycles: 3, steps: 8 },
  { n: 8, w: 4, g: 3, cycles: 3, steps: 12 },
  { n: 6, w: 2, g: 9, cycles: 1, steps: 30 },
])('beam makes the cycle of VG-Search: $steps steps and $n checks', async (given) => {
  const { n, w, g, cycles, steps } = given;
  const { asked, evaluator } = reading();
  const branches = (depth: number) => ((depth + 1) % g === 0 ? w : 1);
  // The first cycle begins with one root in place of n / w beams.
  const { drawn, policy } = drawing((depth) =>
    depth === 0 ? (g === 1 ? n : n / w) : branches(depth),
  );
  await search(environment, {
    policy,
    evaluator: everyNth(evaluator, g),
    algorithm: beam({ width: n / w }),
    budget,
  });
  const levels = Array.from({ length: 9 }, (_, depth) => drawn[depth] ?? 0);
  for (let cycle = 0; cycle < cycles; cycle++) {
    const own = levels.slice(cycle * g, (cycle + 1) * g);
    expect(own.reduce((sum, count) => sum + count, 0)).toBe(steps);
    expect(asked.filter((word) => word.length === (cycle + 1) * g)).toHaveLength(n);
  }
  expect(asked.filter((word) => word.length > 0)).toHaveLength(n * cycles);
});
