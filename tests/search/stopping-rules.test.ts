import { describe, expect, test } from 'vitest';
import {
  adaptiveConsistency,
  bestOfN,
  type Environment,
  esc,
  type StoppingRule,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import { searchOf } from '../support/search-of.ts';

/** So many of one answer, and so many of another, in turn as long as there are both. */
function answers(most: number, second: number): readonly string[] {
  const pairs = Array.from({ length: second }, () => ['a', 'b']).flat();
  return [...pairs, ...Array.from({ length: most - second }, () => 'a')];
}

/** The mass of Beta(a + 1, b + 1) above ½, by adding up its density. */
function massAboveHalf(a: number, b: number): number {
  const points = 20_000;
  let [all, above] = [0, 0];
  for (let point = 0; point < points; point++) {
    const x = (point + 0.5) / points;
    const density = x ** a * (1 - x) ** b;
    all += density;
    if (x > 0.5) above += density;
  }
  return above / all;
}

describe('adaptive consistency', () => {
  test('stops first at 4 to 0, 6 to 1, 8 to 2, 9 to 3, 11 to 4 and 12 to 5', () => {
    const rule = adaptiveConsistency();
    const first = [0, 1, 2, 3, 4, 5].map((second) => {
      let most = second;
      while (rule(answers(most, second)) === 0) most++;
      return [most, second];
    });
    expect(first).toEqual([
      [4, 0],
      [6, 1],
      [8, 2],
      [9, 3],
      [11, 4],
      [12, 5],
    ]);
  });

  test('compares the mass of the Beta distribution above one half', () => {
    for (let most = 1; most <= 12; most++) {
      for (let second = 0; second <= most; second++) {
        const mass = massAboveHalf(most, second);
        const drawn = answers(most, second);
        const above = adaptiveConsistency({ confidence: mass - 1e-6 });
        const below = adaptiveConsistency({ confidence: Math.min(1, mass + 1e-6) });
        expect(above(drawn), `${most} to ${second}`).toBe(most + second);
        expect(below(drawn), `${most} to ${second}`).toBe(0);
      }
    }
  });

  test('looks at the first two answers, whatever else there is, and at no trajectory without one', () => {
    const rule = adaptiveConsistency();
    expect(rule(['a', 'a', 'a', undefined])).toBe(0);
    expect(rule(['a', 'a', 'a', undefined, 'a'])).toBe(5);
    expect(rule(['b', 'c', 'd', 'a', 'a', 'a', 'a', 'a', 'a'])).toBe(9);
    expect(rule([])).toBe(0);
  });

  test('holds for thousands of answers', () => {
    const rule = adaptiveConsistency();
    expect(rule(answers(3000, 3000))).toBe(0);
    // √6000 / 2 = 38.7 is one standard deviation of a fair coin: 20 more are half of one, 130 over three.
    expect(rule(answers(3010, 2990))).toBe(0);
    expect(rule(answers(3065, 2935))).toBe(6000);
  });
});

describe('early-stopping self-consistency', () => {
  test.each([
    [['a', 'a', 'a', 'a'], 0],
    [['a', 'a', 'a', 'a', 'a'], 5],
    [['a', 'a', 'a', 'a', 'b'], 0],
    [['b', 'a', 'a', 'a', 'a', 'a'], 0],
    [['b', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a'], 5],
    [['a', 'a', 'a', 'a', undefined], 0],
    [[undefined, undefined, undefined, undefined, undefined], 0],
    [[], 0],
  ])('after %j has %d that decide', (drawn, decisive) => {
    expect(esc()(drawn)).toBe(decisive);
  });

  test('has windows of any size', () => {
    expect(esc({ window: 2 })(['a', 'b', 'c', 'c'])).toBe(2);
    expect(esc({ window: 3 })(['a', 'b', 'b', 'b'])).toBe(0);
  });
});

const environment = {
  name: 'sums',
  reset: () => ({ state: '' }),
  step: (_state: string, action: string) => ({ state: action, terminal: true }),
  answer: (state: string) => (state === 'none' ? undefined : Number(state)),
} satisfies Environment<string, string>;

function drawing(drawn: readonly string[], until: StoppingRule, from = 0) {
  let next = from;
  return {
    environment,
    policy: () => [{ action: drawn[next++] ?? '0' }],
    algorithm: bestOfN({ n: 40, until }),
  };
}

describe('a vote', () => {
  test('stops with its rule, asks no evaluator, and keeps the shares', async () => {
    const { tree, actions, stopReason, spend } = await searchOf(
      drawing(['4', '5', '4', '4.0', '4', '4', '4', '9'], adaptiveConsistency()),
    );
    // 4 at 6 to 1: '4.0' is the same answer.
    expect([spend.simulations, stopReason, actions]).toEqual([7, 'solved', ['4']]);
    expect(tree.conclusion?.shares?.map(({ answer, share }) => [answer, share])).toEqual([
      [4, 6 / 7],
      [5, 1 / 7],
    ]);
  });

  test('is decided by the window alone that is unanimous, also against the majority of all', async () => {
    // Eight say 4 before five in a row say 5.
    const drawn = [...'4445444454', ...'55555', ...'4444'];
    const { tree, actions, spend } = await searchOf(drawing(drawn, esc()));
    expect([spend.simulations, actions]).toEqual([15, ['5']]);
    expect(tree.conclusion?.shares?.map(({ answer, share }) => [answer, share])).toEqual([
      [5, 1],
      [4, 0],
    ]);
  });

  test('that no rule settles is won by the majority of all', async () => {
    const drawn = Array.from({ length: 40 }, (_, place) => (place % 3 === 0 ? '5' : '4'));
    const { actions, spend } = await searchOf(drawing(drawn, esc()));
    expect([spend.simulations, actions]).toEqual([40, ['4']]);
  });

  test('goes on in a saved tree as if it had not been interrupted', async () => {
    const drawn = ['4', '5', '4', '4', '4', '4', '4', '9', '9'];
    const first = await searchOf({
      ...drawing(drawn, adaptiveConsistency()),
      budget: { simulations: 5 },
    });
    expect(first.stopReason).toBe('budget');
    const loaded = treeFromJson<string, string>(JSON.stringify(treeToJson(first.tree)));
    const options = drawing(drawn, adaptiveConsistency(), 5);
    const second = await searchOf({ ...options, tree: loaded });
    expect([loaded.simulations, second.stopReason]).toEqual([7, 'solved']);
    // What is settled draws no more.
    const third = await searchOf({ ...options, tree: loaded });
    expect([loaded.simulations, third.actions]).toEqual([7, ['4']]);
  });

  test('that is weighted stops too, and the best of N has nothing to stop at', async () => {
    const { actions, spend } = await searchOf({
      ...drawing([...'44444'], esc()),
      evaluator: () => 0.5,
      algorithm: bestOfN({ n: 40, choose: 'weighted', until: esc() }),
    });
    expect([spend.simulations, actions]).toEqual([5, ['4']]);
    expect(() => bestOfN({ choose: 'best', until: esc() })).toThrow(
      "Expected `choose` to be 'majority' or 'weighted' beside `until`",
    );
  });

  test('of one is a chain of thought', async () => {
    const { actions, spend } = await searchOf({
      ...drawing(['7', '8'], esc()),
      algorithm: bestOfN({ n: 1, choose: 'majority' }),
    });
    expect([spend.simulations, actions]).toEqual([1, ['7']]);
  });
});
