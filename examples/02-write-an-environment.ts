/** An environment of your own: which of three steps lead from 1 to 28? */
import assert from 'node:assert/strict';
import { astar, type Environment, search } from 'espalier';
import { uniform } from 'espalier/policies';

const moves = ['add 1', 'double', 'triple'] as const;
type Move = (typeof moves)[number];

const target = 28;
const environment: Environment<number, Move> = {
  name: 'reach-28',
  reset: () => ({ state: 1 }),
  step(value, move) {
    const state = { 'add 1': value + 1, double: value * 2, triple: value * 3 }[move];
    if (state < target) return { state };
    return { state, terminal: true, reward: state === target ? 1 : 0 };
  },
  key: (value) => String(value),
};

const { actions, optimal } = await search(environment, {
  policy: uniform(() => moves),
  // At most three times as large after each step: so many steps are needed at least.
  algorithm: astar<number>({
    heuristic: (value) =>
      value > target ? Infinity : Math.ceil(Math.log(target / value) / Math.log(3)),
    admissible: true,
  }),
});

console.log(actions.join(', '), optimal ? '(no shorter way exists)' : '');

assert.deepEqual(actions, ['triple', 'triple', 'triple', 'add 1']);
assert.ok(optimal);
