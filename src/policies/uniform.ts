import { expectFunction } from '../base/expect.ts';
import type { Random } from '../contracts/context.ts';
import type { Policy } from '../contracts/policy.ts';
import { expectActions } from './expect-actions.ts';
import { isNewTo } from './is-new-to.ts';
import { withState } from './with-state.ts';

/**
 * A policy with equally likely legal actions: each of `n` has prior `1 / n`.
 *
 * Asked for all actions, it lists them in order. Asked for fewer, it samples uniformly without replacement. Existing
 * children are not proposed again, and keep their share of the prior, unless independent samples are requested: drawing
 * one at a time is then a fair random walk.
 *
 * @param actions - The legal actions of a state.
 */
export function uniform<State, Action>(
  actions: (state: State) => readonly Action[],
): Policy<State, Action> {
  expectFunction('actions', actions);
  return {
    propose(node, { context, count, independent = false }) {
      const legal = actions(withState(node).state);
      expectActions(legal);
      const fresh = independent ? legal : legal.filter(isNewTo(node));
      const prior = 1 / legal.length;
      const proposed = count >= fresh.length ? fresh : draw(fresh, count, context.random);
      return proposed.map((action) => ({ action, prior }));
    },
  };
}

/** Draws different items with equal probability: the first steps of a Fisher–Yates shuffle. */
function draw<Item>(items: readonly Item[], count: number, random: Random): readonly Item[] {
  const rest = [...items];
  for (let drawn = 0; drawn < count; drawn++) {
    const other = drawn + random.integer(rest.length - drawn);
    [rest[drawn], rest[other]] = [rest[other] as Item, rest[drawn] as Item];
  }
  return rest.slice(0, count);
}
