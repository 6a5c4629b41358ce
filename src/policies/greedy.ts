import { expectFunction, expectNumber, wrongResult } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Random } from '../contracts/context.ts';
import type { Policy } from '../contracts/policy.ts';
import { expectActions } from './expect-actions.ts';
import { isNewTo } from './is-new-to.ts';
import { withState } from './with-state.ts';

/**
 * A policy that prefers actions with high scores: its priors are `softmax(score / temperature)`.
 *
 * Asked for all actions, it lists them in order. Asked for fewer, it samples by prior without replacement, best first,
 * so that it stays a stochastic policy; at temperature 0 that is the order of the scores, with ties in random order.
 * Existing children are not proposed again, and keep their prior, unless independent samples are requested.
 *
 * Sampling adds Gumbel noise to the scores and takes the largest.
 *
 * @see Kool, van Hoof and Welling, "Stochastic Beams and Where to Find Them", 2019.
 */
export function greedy<State, Action>(options: {
  /** The legal actions of a state. */
  readonly actions: (state: State) => readonly Action[];
  /** The score of an action, higher is better. `-Infinity` means never; `NaN` is not allowed. */
  readonly score: (state: State, action: Action) => number;
  /**
   * The softmax temperature: a number from 0 up. At 0 the best actions share the prior.
   *
   * @defaultValue 0
   */
  readonly temperature?: number;
}): Policy<State, Action> {
  expectOptions('greedy', options, 'actions score temperature');
  const { actions, score, temperature = 0 } = options;
  expectFunction('actions', actions);
  expectFunction('score', score);
  expectNumber('temperature', temperature, { min: 0 });
  return {
    propose(node, { context, count, independent = false }) {
      const { state } = withState(node);
      const legal = actions(state);
      expectActions(legal);
      const scored = legal.map((action) => ({
        action,
        score: checkScore(score(state, action)),
      }));
      const isNew = independent ? () => true : isNewTo(node);
      const fresh = withPriors(scored, temperature).filter(({ action }) => isNew(action));
      const proposed =
        count >= fresh.length ? fresh : draw(fresh, { count, temperature, random: context.random });
      return proposed.map(({ action, prior }) => ({ action, prior }));
    },
  };
}

interface Weighed<Action> {
  readonly action: Action;
  /** The distance of the score to the best one: 0 for the best. */
  readonly gap: number;
  readonly prior: number;
}

function withPriors<Action>(
  scored: readonly { readonly action: Action; readonly score: number }[],
  temperature: number,
): readonly Weighed<Action>[] {
  const best = Math.max(...scored.map(({ score }) => score));
  const weighed = scored.map(({ action, score }) => {
    // The difference of two infinities would be NaN.
    const gap = score === best ? 0 : best - score;
    // At temperature 0, 0 / 0 would be NaN.
    return { action, gap, weight: gap === 0 ? 1 : Math.exp(-gap / temperature) };
  });
  const total = weighed.reduce((sum, { weight }) => sum + weight, 0);
  return weighed.map(({ action, gap, weight }) => ({ action, gap, prior: weight / total }));
}

/** Draws by prior without replacement: the order of the scores plus noise in proportion to the temperature. */
function draw<Action>(
  weighed: readonly Weighed<Action>[],
  options: { readonly count: number; readonly temperature: number; readonly random: Random },
): readonly Weighed<Action>[] {
  const { count, temperature, random } = options;
  return weighed
    .map((item) => {
      const noise = -Math.log(-Math.log(random.next()));
      const key = temperature === 0 ? -item.gap : noise - item.gap / temperature;
      return { item, key, noise };
    })
    .toSorted((a, b) => (a.key === b.key ? b.noise - a.noise : b.key > a.key ? 1 : -1))
    .slice(0, count)
    .map(({ item }) => item);
}

function checkScore(score: number): number {
  if (typeof score !== 'number' || Number.isNaN(score)) {
    throw wrongResult('score', score, { returns: 'a number', scope: 'item' });
  }
  return score;
}
