import assert from 'node:assert/strict';
import { banditTree } from '../../bandit-tree.ts';
import type { Problem } from '../../problem.ts';
import { tableMdp } from '../../table-mdp.ts';
import { ticTacToe, ticTacToePositions } from '../../tic-tac-toe.ts';
import type { AlgorithmSubject } from './claims.ts';
import { grow } from './growing.ts';

/** Textbook results: visit counts computed by hand, and problems with known solutions. */
export function describeTruths(subject: AlgorithmSubject): void {
  const { findsBest = true, converges = false, visitCounts } = subject.claims;
  if (visitCounts !== undefined) describeVisitCounts(subject, visitCounts);
  if (findsBest) describeBest(subject);
  if (converges) describeConvergence(subject);
}

/** `down` leads to a state valued 0.6 with the ends 1 and 0, `right` to an end of 0.5. */
const fork: Problem<string, string> = tableMdp(
  {
    start: { down: { to: 'inner' }, right: { to: 'middling', reward: 0.5 } },
    inner: { up: { to: 'good', reward: 1 }, low: { to: 'bad', reward: 0 } },
  },
  { name: 'fork', values: { inner: 0.6 } },
);

/**
 * Visits of `down`, `right`, `down up` and `down low` after each simulation.
 *
 * UCT, the fifth for example: of N = 4 visits, 2 went down (Q = 0.8) and 2 right (Q = 0.5); both have the bonus √2 ·
 * √(ln 4 / 2) = 1.177, so it goes down, where `low` was never visited. Its 0 makes Q of `down` (0.6 + 1 + 0) / 3.
 *
 * PUCT, the fifth for example: N = 4, all of them down (Q = 0.9), so that `down` scores 0.9 + 1.2503 · 0.5 · 2 / 5 =
 * 1.15 and `right` 0 + 1.2503 · 0.5 · 2 / 1 = 1.25.
 */
const countsAfter = {
  uct: [
    [1, 0, 0, 0],
    [1, 1, 0, 0],
    [2, 1, 1, 0],
    [2, 2, 1, 0],
    [3, 2, 1, 1],
    [3, 3, 1, 1],
    [4, 3, 2, 1],
  ],
  puct: [
    [1, 0, 0, 0],
    [2, 0, 1, 0],
    [3, 0, 2, 0],
    [4, 0, 3, 0],
    [4, 1, 3, 0],
    [4, 2, 3, 0],
    [5, 2, 4, 0],
    [6, 2, 4, 1],
  ],
} as const;

function describeVisitCounts({ claims, runner }: AlgorithmSubject, rule: 'uct' | 'puct'): void {
  for (const [index, expected] of countsAfter[rule].entries()) {
    const simulations = index + 1;
    runner.test(`has the visit counts of ${rule} after ${simulations} simulations`, async () => {
      const { tree } = await grow(fork, claims.create(), { budget: { simulations } });
      const [down, right] = tree.root.children;
      const [up, low] = down?.children ?? [];
      assert.deepEqual(
        [down, right, up, low].map((node) => node?.visits ?? 0),
        expected,
      );
      assert.equal(tree.root.visits, simulations);
    });
  }

  runner.test(`has the values of ${rule} that go with them`, async () => {
    const budget = { simulations: 7 };
    const { tree } = await grow(fork, claims.create(), { budget });
    const [down, right] = tree.root.children;
    const wins = rule === 'uct' ? 2 : 4;
    assertNear(down?.value, (0.6 + wins) / (down?.visits ?? 0));
    assertNear(right?.value, 0.5);
    const total = 0.6 + wins + 0.5 * (right?.visits ?? 0);
    assertNear(tree.root.value, total / 7);
  });
}

function describeBest({ claims, runner }: AlgorithmSubject): void {
  runner.test('finds the best end of a bandit tree', async () => {
    for (let seed = 0; seed < 4; seed++) {
      const problem = banditTree({ seed });
      const { actions } = await grow(problem, claims.create(), { budget: { simulations: 600 } });
      assert.deepEqual(actions, problem.best, `seed ${seed}`);
    }
  });

  for (const [title, board] of Object.entries(ticTacToePositions)) {
    runner.test(`plays tic-tac-toe: ${title}`, async () => {
      const problem = ticTacToe(board);
      const { tree, best, actions } = await grow(problem, claims.create(), {
        budget: { simulations: 800 },
      });
      // The value of the game, not the value from here.
      const score = tree.score(best, 1);
      const message = `Expected a best node with the score ${problem.value} from the position \`${board}\`, where x moves, got ${score}. Perhaps not all moves were expanded: expand them, or claim \`findsBest: false\`.`;
      assert.equal(score, problem.value, message);
      const [first = -1] = actions;
      assert.ok(problem.best.includes(first), `expected one of ${problem.best}, got ${first}`);
    });
  }
}

function describeConvergence({ claims, runner }: AlgorithmSubject): void {
  runner.test('visits the best arm of a bandit tree most', async () => {
    for (let seed = 0; seed < 3; seed++) {
      const problem = banditTree({ seed });
      const { tree } = await grow(problem, claims.create(), { budget: { simulations: 3000 } });
      let node = tree.cursor;
      for (const arm of problem.best) {
        const visits = node.children.map((child) => child.visits);
        const next = node.children.find(({ action }) => action === arm);
        assert.equal(next?.visits, Math.max(...visits), `seed ${seed}: ${visits} at ${arm}`);
        node = next;
      }
    }
  });
}

function assertNear(actual: number | undefined, expected: number): void {
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) < 1e-9,
    `expected ${expected}, got ${actual}`,
  );
}
