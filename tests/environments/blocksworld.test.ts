import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import {
  type BlocksworldAction,
  type BlocksworldState,
  blocksworld,
} from '../../src/environments/index.ts';
import { HAND, TABLE } from '../../src/environments/puzzles/blocksworld-state.ts';
import { told } from '../support/told.ts';

/** b is on a, c on the table; the goal is a on b on c. */
const instance: BlocksworldState = {
  blocks: ['a', 'b', 'c'],
  places: [TABLE, 0, TABLE],
  goal: { places: [1, 2, null], clear: [], handEmpty: false },
};
const environment = blocksworld.environment(instance);
const start = environment.reset().state;
const plan: readonly BlocksworldAction[] = [
  '(unstack b a)',
  '(stack b c)',
  '(pick-up a)',
  '(stack a b)',
];

describe('Blocksworld', () => {
  it('is won by the plan worked out by hand', () => {
    let state = start;
    for (const [index, action] of plan.entries()) {
      const transition = environment.step(state, action);
      expect(transition.reward).toBe(index === 3 ? 1 : undefined);
      state = transition.state;
    }
    expect(state.places).toEqual([1, 2, TABLE]);
    expect(blocksworld.check(instance, plan)).toEqual({ correct: true });
    expect(blocksworld.check(instance, plan.slice(0, 3)).rationale).toMatch(
      /^After 3 steps: Expected `\(on a b\)`, got /,
    );
  });

  it('offers exactly the legal actions', () => {
    expect(environment.actions(start)).toEqual(['(unstack b a)', '(pick-up c)']);
    const { state } = environment.step(start, '(unstack b a)');
    expect(environment.actions(state)).toEqual(['(put-down b)', '(stack b a)', '(stack b c)']);
    expect(state.places).toEqual([TABLE, HAND, TABLE]);
  });

  it.each([
    ['(pick-up a)', 'Expected nothing on `a`, got `(pick-up a)`.'],
    ['(pick-up b)', 'Expected `b` on the table, got `(pick-up b)`.'],
    ['(unstack b c)', 'Expected `b` on `c`, got `(unstack b c)`.'],
    ['(put-down b)', 'Expected `b` in the hand, got `(put-down b)`.'],
    ['(stack b c)', 'Expected `b` in the hand, got `(stack b c)`.'],
    ['(pick-up z)', 'Expected an action on blocks of the problem, got `(pick-up z)`.'],
    ['(pick-up c c)', 'Expected an action on blocks of the problem'],
    ['(stack b)', 'Expected an action on blocks of the problem'],
    ['pick-up c', 'Expected an action on blocks of the problem'],
    ['(fly c)', 'Expected an action on blocks of the problem'],
  ])('refuses %s', (action, message) => {
    expect(() => environment.step(start, action as BlocksworldAction)).toThrow(message);
  });

  it('refuses what a full hand cannot do', () => {
    const { state } = environment.step(start, '(unstack b a)');
    expect(() => environment.step(state, '(pick-up c)')).toThrow('Expected an empty hand');
    expect(() => environment.step(state, '(stack b b)')).toThrow('Expected nothing on `b`');
  });
});

describe('the notation of Blocksworld', () => {
  it.each([
    ['Unstack the block b from the block a.', '(unstack b a)'],
    ['I will (UNSTACK B A)', '(unstack b a)'],
    ['pick up c', '(pick-up c)'],
    ['1. pickup the c, then stack it', '(pick-up c)'],
    ['Hmm, stacking?\n(pick-up c)\n(stack c b)', '(pick-up c)'],
  ])('reads what models write: %s', (text, action) => {
    expect(told(environment.notation.parse(text, start))).toBe(action);
  });

  it('answers an illegal action of a model with a failure that says why', () => {
    expect(told(environment.notation.parse('(pick-up a)', start))).toEqual({
      kind: 'parse',
      message: 'Expected nothing on `a`, got `(pick-up a)`.',
    });
    expect(told(environment.notation.parse('(pick-up z)', start))).toEqual({
      kind: 'parse',
      message: 'Expected an action such as `(pick-up a)` on the blocks a b c, got `(pick-up z)`.',
    });
  });

  it('shows towers, and the facts to a model', () => {
    expect(blocksworld.render(start)).toBe('| a b\n| c\nhand: empty');
    const content = environment.notation.prompt(start)[0]?.content;
    expect(content).toContain(
      'Now: (handempty) (ontable a) (on b a) (ontable c) (clear b) (clear c)',
    );
    expect(content).toContain('Goal: (on a b) (on b c)');
  });
});

describe('Blocksworld as a puzzle', () => {
  it('estimates the share of the goal that holds', () => {
    expect(blocksworld.estimate(start)).toBe(0);
    expect(blocksworld.estimate({ ...start, places: [TABLE, 2, TABLE] })).toBe(0.5);
    expect(blocksworld.estimate({ ...start, places: [1, 2, TABLE] })).toBe(1);
  });

  it('refuses instances that no file could hold', () => {
    for (const wrong of [
      { ...instance, blocks: ['a', 'b', 'b'] },
      { ...instance, blocks: ['A', 'b c', 'd'] },
      { ...instance, blocks: [] },
      { ...instance, places: [TABLE, 0] },
      { ...instance, places: [TABLE, 0, 7] },
      { ...instance, places: [2, 0, 1] },
      { ...instance, goal: { ...instance.goal, places: [1, 0, null] } },
      { ...instance, goal: { places: [null, null, null], clear: [], handEmpty: false } },
    ]) {
      expect(() => blocksworld.environment(wrong)).toThrow(/^Expected .*, got /);
    }
  });

  it('generates as many blocks as wanted, and refuses other numbers', () => {
    const random = seededRandom('blocks');
    expect(blocksworld.generate(random, { blocks: 30 }).blocks).toContain('b30');
    expect(blocksworld.generate(random, { blocks: 2 }).blocks).toEqual(['a', 'b']);
    expect(() => blocksworld.generate(random, { blocks: 1 })).toThrow(
      'Expected `blocks` to be an integer from 2 to 100, got `1`.',
    );
    expect(() => blocksworld.generate(random, { blocks: 4.5 })).toThrow('`blocks`');
  });
});
