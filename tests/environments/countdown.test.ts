import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import type { Random } from '../../src/contracts/context.ts';
import { type ArithmeticState, countdown } from '../../src/environments/index.ts';
import { told } from '../support/told.ts';

function play(instance: Parameters<typeof countdown.environment>[0], steps: readonly string[]) {
  const environment = countdown.environment(instance);
  let state = environment.reset().state;
  const actions = steps.map((text) => {
    const action = told(environment.notation.parse(text, state));
    if ('kind' in action) throw new Error(action.message);
    state = environment.step(state, action).state;
    return action;
  });
  return { environment, state, actions };
}

describe('Countdown', () => {
  // 25 50 75 100 3 6 → 952 was solved on television in 1997 as ((100 + 6) × 3 × 75 − 50) ÷ 25.
  const famous = { numbers: [25, 50, 75, 100, 3, 6], target: 952 };
  const steps = ['100 + 6 = 106', '106 * 3 = 318', '318 * 75 = 23850', '23850 - 50 = 23800'];

  it('is won by a famous solution', () => {
    const { environment, state, actions } = play(famous, steps);
    const last = told(environment.notation.parse('23800 / 25 = 952', state));
    if ('kind' in last) throw new Error(last.message);
    expect(environment.step(state, last)).toMatchObject({ reward: 1, terminal: true });
    expect(countdown.check(famous, [...actions, last])).toEqual({ correct: true });
    expect(countdown.check(famous, actions).rationale).toBe(
      'After 4 steps: Expected `952` among the numbers, got `25 23800`.',
    );
    expect(countdown.render(environment.step(state, last).state)).toBe(
      '952 -> 952\n952 = ((((100 + 6) * 3) * 75) - 50) / 25',
    );
  });

  it('is solved as soon as the target is among the numbers, and then offers nothing', () => {
    const { environment, state } = play({ numbers: [7, 8, 25], target: 175 }, ['25 * 7 = 175']);
    expect(environment.key(state)).toBe('8 175');
    expect(environment.actions(state)).toEqual([]);
    expect(told(environment.notation.parse('8 + 175 = 183', state))).toEqual({
      kind: 'parse',
      message: 'Expected no action in a solved state, got `8 + 175`.',
    });
  });

  it('allows positive whole results only', () => {
    const { environment, state } = play({ numbers: [4, 6, 6], target: 100 }, []);
    for (const text of ['4 - 6 = -2', '6 - 6 = 0', '6 / 4 = 1.5']) {
      expect(told(environment.notation.parse(text, state))).toMatchObject({ kind: 'parse' });
    }
    expect(environment.actions(state).map(environment.notation.format)).toEqual([
      '4 + 6 = 10 (left: 6 10)',
      '4 * 6 = 24 (left: 6 24)',
      '6 - 4 = 2 (left: 2 6)',
      '6 + 6 = 12 (left: 4 12)',
      '6 * 6 = 36 (left: 4 36)',
      '6 / 6 = 1 (left: 1 4)',
    ]);
  });

  it('ends with reward 0 when one wrong number is left', () => {
    const { environment, state } = play({ numbers: [2, 3], target: 7 }, []);
    const action = told(environment.notation.parse('2 + 3 = 5', state));
    if ('kind' in action) throw new Error(action.message);
    expect(environment.step(state, action)).toMatchObject({ reward: 0, terminal: true });
  });
});

describe('the heuristic of Countdown', () => {
  it('never exceeds the steps that a search of everything finds', () => {
    const random = seededRandom('countdown truth');
    const checks = Array.from({ length: 60 }, (_, round) =>
      someStates(random.split(round), round % 2 === 0 ? 10 : 100).map((state) => ({
        claimed: countdown.heuristic(state),
        truth: fewestSteps(valuesOf(state), state.target),
      })),
    ).flat();
    for (const { claimed, truth } of checks) {
      expect(claimed).toBeLessThanOrEqual(truth);
      expect(claimed === 0).toBe(truth === 0);
      expect(claimed === 1).toBe(truth === 1);
    }
    const hopeless = checks.filter(({ claimed }) => claimed === Number.POSITIVE_INFINITY);
    expect(hopeless.length).toBeGreaterThan(100);
  });

  it('sees what is out of reach of the product', () => {
    const state = countdown.environment({ numbers: [1, 2, 3, 4], target: 49 }).reset().state;
    expect(countdown.heuristic(state)).toBe(Number.POSITIVE_INFINITY);
    expect(countdown.heuristic({ ...state, target: 48 })).toBe(2);
  });
});

describe('generating Countdown', () => {
  const random = seededRandom('generate');

  it('draws large numbers once and small ones twice at most', () => {
    for (let round = 0; round < 30; round++) {
      const { numbers, target } = countdown.generate(random.split(round), { large: round % 5 });
      expect(numbers).toHaveLength(6);
      expect(target).toBeGreaterThanOrEqual(101);
      expect(target).toBeLessThanOrEqual(999);
      const large = numbers.filter((number) => number > 10);
      expect(large).toHaveLength(round % 5);
      expect(new Set(large).size).toBe(large.length);
      for (const number of large) expect([25, 50, 75, 100]).toContain(number);
      for (const number of numbers) {
        expect(numbers.filter((other) => other === number).length).toBeLessThanOrEqual(2);
      }
    }
  });

  it('makes rounds that a search of everything can win', () => {
    for (let round = 0; round < 8; round++) {
      const { numbers, target } = countdown.generate(random.split(round), { numbers: 4 });
      expect(fewestSteps(numbers, target)).toBeLessThan(4);
    }
  });

  it('refuses options out of range', () => {
    expect(() => countdown.generate(random, { numbers: 2 })).toThrow(
      'Expected `numbers` to be an integer from 3 to 8, got `2`.',
    );
    expect(() => countdown.generate(random, { large: 5 })).toThrow(
      'Expected `large` to be an integer from 0 to 4, got `5`.',
    );
    expect(() => countdown.generate(random, { numbers: 3, large: 4 })).toThrow('from 0 to 3');
  });

  it('reads what a person types', () => {
    expect(countdown.parse('25 3 6 -> 952')).toEqual({ numbers: [25, 3, 6], target: 952 });
    expect(() => countdown.parse('25 3 6')).toThrow('Expected a target such as `-> 952`');
    expect(() => countdown.environment({ numbers: [1, 2], target: 1.5 })).toThrow('`target`');
    expect(() => countdown.environment({ numbers: [], target: 5 })).toThrow('`numbers`');
  });
});

function valuesOf({ numbers }: ArithmeticState<number>): readonly number[] {
  return numbers.map(({ value }) => value);
}

/** States of a random round with four numbers. */
function someStates(random: Random, largest: number): readonly ArithmeticState<number>[] {
  const numbers = Array.from({ length: 4 }, () => 1 + random.integer(largest));
  const environment = countdown.environment({ numbers, target: 30 + random.integer(170) });
  const states = [environment.reset().state];
  for (const state of states) {
    if (states.length > 60) break;
    const next = environment.actions(state).map((action) => environment.step(state, action).state);
    states.push(...next.filter(() => random.next() < 0.1));
  }
  return states;
}

/** The truth, by trying everything. */
function fewestSteps(numbers: readonly number[], target: number): number {
  if (numbers.includes(target)) return 0;
  const after = successors(numbers);
  if (after.some((next) => next.includes(target))) return 1;
  return 1 + Math.min(...after.map((next) => fewestSteps(next, target)));
}

function successors(numbers: readonly number[]): readonly (readonly number[])[] {
  return numbers.flatMap((a, first) =>
    numbers.flatMap((b, second) => {
      if (first === second || a < b) return [];
      const rest = numbers.filter((_, index) => index !== first && index !== second);
      const made = [a + b, a * b, ...(a > b ? [a - b] : []), ...(a % b === 0 ? [a / b] : [])];
      return made.map((value) => [...rest, value]);
    }),
  );
}
