import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import {
  type ArithmeticState,
  type ArithmeticStep,
  gameOf24,
  type Rational,
} from '../../src/environments/index.ts';
import { rational } from '../../src/environments/puzzles/rational.ts';
import { told } from '../support/told.ts';

const environment = gameOf24.environment({ numbers: [10, 4, 13, 9] });
const start = environment.reset().state;
const { parse } = environment.notation;

/** Plays written steps. */
function play(...steps: readonly string[]): ArithmeticState<Rational> {
  let state = start;
  for (const text of steps) {
    const action = told(parse(text, state));
    if ('kind' in action) throw new Error(action.message);
    state = environment.step(state, action).state;
  }
  return state;
}

describe('the Game of 24', () => {
  it('is won by the solution worked out by hand', () => {
    const steps = ['10 - 4 = 6 (left: 6 9 13)', '13 - 9 = 4 (left: 4 6)', '4 * 6 = 24 (left: 24)'];
    const actions: ArithmeticStep<Rational>[] = [];
    let state = start;
    for (const text of steps) {
      const action = told(parse(text, state));
      if ('kind' in action) throw new Error(action.message);
      expect(environment.notation.format(action)).toBe(text);
      actions.push(action);
      state = environment.step(state, action).state;
    }
    expect(gameOf24.check({ numbers: [4, 9, 10, 13] }, actions)).toEqual({ correct: true });
    expect(gameOf24.render(state)).toBe('24 -> 24\n24 = (13 - 9) * (10 - 4)');
    expect(environment.actions(state)).toEqual([]);
  });

  it('computes with exact fractions', () => {
    const eights = gameOf24.environment({ numbers: [3, 3, 8, 8] });
    let state = eights.reset().state;
    for (const text of ['8/3 = 8/3', '3 - 8/3 = 1/3', '8 ÷ 1/3 = 24']) {
      const action = told(eights.notation.parse(text, state));
      if ('kind' in action) throw new Error(action.message);
      const transition = eights.step(state, action);
      state = transition.state;
      expect(transition.reward).toBe(state.numbers.length === 1 ? 1 : undefined);
    }
  });

  it('offers each set of numbers that can follow exactly once', () => {
    const random = seededRandom('multisets');
    for (let round = 0; round < 200; round++) {
      const numbers = Array.from({ length: 2 + (round % 3) }, () => 1 + random.integer(6));
      const small = gameOf24.environment({ numbers });
      const offered = small
        .actions(small.reset().state)
        .map(({ remaining }) => decimals(remaining));
      expect(new Set(offered).size).toBe(offered.length);
      expect(offered.toSorted()).toEqual(allResults(numbers));
    }
  });

  it('needs every number: 24 among others is no solution', () => {
    const state = gameOf24.environment({ numbers: [4, 6, 1] });
    const made = told(state.notation.parse('4 * 6 = 24', state.reset().state));
    if ('kind' in made) throw new Error(made.message);
    expect(state.step(state.reset().state, made)).not.toHaveProperty('terminal');
  });

  it('ends with reward 0 when one wrong number is left', () => {
    const state = play('10 - 4 = 6', '13 - 9 = 4');
    const last = told(parse('4 + 6 = 10', state));
    if ('kind' in last) throw new Error(last.message);
    const transition = environment.step(state, last);
    expect(transition).toMatchObject({ reward: 0, terminal: true });
    expect(gameOf24.heuristic(transition.state)).toBe(Number.POSITIVE_INFINITY);
    expect(gameOf24.estimate(transition.state)).toBe(0);
  });

  it('can aim at another number', () => {
    const other = gameOf24.environment({ numbers: [2, 3], target: 6 });
    const action = told(other.notation.parse('2 x 3 = 6', other.reset().state));
    if ('kind' in action) throw new Error(action.message);
    expect(other.step(other.reset().state, action).reward).toBe(1);
    expect(other.notation.prompt(other.reset().state)[0]?.content).toContain('Target: 6');
  });
});

describe('what models write', () => {
  it.each([
    '10 - 4 = 6 (left: 6 9 13)',
    '10 − 4 = 6 (left: 13, 9, 6)',
    '  2) 10-4=6 left: 6 9 13',
    '- 10 - 4 = 6',
    '* 10 – 4',
    '10.0 - 4 = 6.',
    '(10) - (4) = 6 (Left: 6 9 13).',
    'Let me think.\n10 - 4 = 6 (left: 6 9 13)\n6 * 9 = 54 (left: 13 54)',
  ])('is read: %s', (text) => {
    expect(told(parse(text, start))).toMatchObject({ left: rational(10), operator: '-' });
  });

  it.each(['4 × 9 = 36', '4 x 9 = 36', '4 X 9', '4·9=36', '4*9 = 36 (left: 10 13 36)'])(
    'may multiply in many ways: %s',
    (text) =>
      expect(told(parse(text, start))).toMatchObject({ operator: '*', result: rational(36) }),
  );

  it('may have negative numbers and decimals', () => {
    const state = play('4 - 9 = -5');
    expect(told(parse('10 - -5 = 15', state))).toMatchObject({ result: rational(15) });
    expect(told(parse('-5 + 10 = 5 (left: 5 13)', state))).toMatchObject({ result: rational(5) });
    expect(told(parse('10 ÷ 4 = 2.5', start))).toMatchObject({ result: rational(5, 2) });
  });

  it.each([
    ['4 * 9 = 35', 'Expected `4 * 9 = 36`, got `35`.'],
    ['4 * 6 = 24', 'Expected a step on two of the numbers 4 9 10 13, got `4 * 6`.'],
    ['4 + 4 = 8', 'Expected a step on two of the numbers 4 9 10 13, got `4 + 4`.'],
    ['4 * 9 = 36 (left: 10 36)', 'Expected the numbers left to be `10 13 36`, got `10 36`.'],
    ['13 / 9 = 1.44', 'Expected `13 / 9 = 13/9`, got `36/25`.'],
    ['4 * 9 = 36 (left: many)', 'Expected a number, got `many`.'],
    ['99999999999999999999 + 1 = 2', 'Expected a number, got `99999999999999999999`.'],
    ['24', 'Expected a step such as `2 * 3 = 6 (left: 6 8)`, got `24`.'],
  ])('is refused when it is wrong: %s', (text, message) => {
    expect(told(parse(text, start))).toEqual({ kind: 'parse', message });
  });

  it('may not divide by zero', () => {
    const zero = gameOf24.environment({ numbers: [3, 3, 5] });
    const action = told(zero.notation.parse('3 - 3 = 0', zero.reset().state));
    if ('kind' in action) throw new Error(action.message);
    const { state } = zero.step(zero.reset().state, action);
    expect(told(zero.notation.parse('5 / 0 = 0', state))).toMatchObject({ kind: 'parse' });
  });
});

describe('a step of the Game of 24', () => {
  it('is refused where it is not legal', () => {
    const legal = told(parse('10 - 4 = 6', start));
    if ('kind' in legal) throw new Error(legal.message);
    const wrong: ArithmeticStep<Rational> = { ...legal, result: rational(7) };
    expect(() => environment.step(start, wrong)).toThrow('Expected `10 - 4 = 6`, got `7`.');
    expect(() => environment.step(play('10 - 4 = 6'), legal)).toThrow('two of the numbers 6 9 13');
    expect(gameOf24.check({ numbers: [4, 9, 10, 13] }, [legal, wrong]).rationale).toBe(
      'Step 2: Expected a step on two of the numbers 6 9 13, got `10 - 4`.',
    );
  });
});

describe('the value of a Game of 24', () => {
  it('counts the steps that are left', () => {
    expect(gameOf24.heuristic(start)).toBe(3);
    expect(gameOf24.heuristic(play('10 - 4 = 6', '13 - 9 = 4', '4 * 6 = 24'))).toBe(0);
  });

  it('estimates what was worked out by hand', () => {
    // 4 and 6: the nearest result is 24 itself.
    expect(gameOf24.estimate(play('10 - 4 = 6', '13 - 9 = 4'))).toBeCloseTo(0.9, 12);
    // 5 and 5: 25 is 1 away.
    const fives = gameOf24.environment({ numbers: [5, 5] }).reset().state;
    expect(gameOf24.estimate(fives)).toBeCloseTo(0.45, 12);
  });

  it('prefers states that can be won, and is often wrong', () => {
    const { won, lost } = { won: [] as number[], lost: [] as number[] };
    const random = seededRandom('estimate');
    for (let round = 0; round < 15; round++) {
      const game = gameOf24.environment(gameOf24.generate(random.split(round)));
      for (const action of game.actions(game.reset().state)) {
        const { state } = game.step(game.reset().state, action);
        (canWin(state) ? won : lost).push(gameOf24.estimate(state));
      }
    }
    const pairs = won.flatMap((high) => lost.map((low) => Math.sign(high - low)));
    const auc = pairs.reduce<number>((sum, sign) => sum + (sign + 1) / 2, 0) / pairs.length;
    expect(auc).toBeGreaterThan(0.8);
    expect(auc).toBeLessThan(0.98);
  });
});

describe('generating a Game of 24', () => {
  it('keeps to its options', () => {
    const random = seededRandom('options');
    for (let round = 0; round < 20; round++) {
      const { numbers, target } = gameOf24.generate(random.split(round), {
        largest: 9,
        target: 10,
      });
      expect(target).toBe(10);
      expect(numbers).toHaveLength(4);
      for (const number of numbers) expect(number).toBeGreaterThanOrEqual(1);
      for (const number of numbers) expect(number).toBeLessThanOrEqual(9);
    }
    expect(gameOf24.generate(random)).not.toHaveProperty('target');
  });

  it('refuses options out of range and targets out of reach', () => {
    const random = seededRandom(0);
    expect(() => gameOf24.generate(random, { largest: 3 })).toThrow(
      'Expected `largest` to be an integer from 4 to 100, got `3`.',
    );
    expect(() => gameOf24.generate(random, { target: 0 })).toThrow(
      'Expected `target` to be an integer from 1 to 1000, got `0`.',
    );
    expect(() => gameOf24.generate(random, { largest: 4, target: 997 })).toThrow(
      'Expected `target` to be within reach of four numbers up to 4, got `997`.',
    );
  });

  it('reads what a person types', () => {
    expect(gameOf24.parse(' 4, 9,10 13\n')).toEqual({ numbers: [4, 9, 10, 13] });
    expect(gameOf24.parse('4 9 10 13 = 24')).toEqual({ numbers: [4, 9, 10, 13], target: 24 });
    expect(() => gameOf24.parse('4 9 10 0')).toThrow(
      'Expected `numbers[3]` to be an integer from 1',
    );
    expect(() => gameOf24.parse('4')).toThrow(
      'Expected `numbers` to be an array of 2 to 8 integers',
    );
    expect(() => gameOf24.parse('4 9 10')).toThrow(
      'Expected four numbers, such as `4 9 10 13`, or numbers and a target, such as `4 9 10 -> 23`',
    );
    expect(gameOf24.parse('4 9 10 -> 23').numbers).toEqual([4, 9, 10]);
    expect(() => gameOf24.environment({ numbers: [1, 2], target: -1 })).toThrow('`target`');
  });
});

function canWin(state: ArithmeticState<Rational>): boolean {
  return environment.actions(state).some((action) => {
    const { terminal = false, reward, state: next } = environment.step(state, action);
    return reward === 1 || (!terminal && canWin(next));
  });
}

function decimals(values: readonly { numerator: number; denominator: number }[]): string {
  return write(values.map(({ numerator, denominator }) => numerator / denominator));
}

/** All multisets that one operation leads to, in floating point. */
function allResults(numbers: readonly number[]): readonly string[] {
  const found = new Set<string>();
  for (const [first, a] of numbers.entries()) {
    for (const [second, b] of numbers.entries()) {
      if (first === second) continue;
      const rest = numbers.filter((_, index) => index !== first && index !== second);
      for (const made of [a + b, a - b, a * b, a / b]) found.add(write([...rest, made]));
    }
  }
  return [...found].toSorted();
}

function write(values: readonly number[]): string {
  return values
    .map((value) => value.toFixed(6))
    .toSorted()
    .join(' ');
}
