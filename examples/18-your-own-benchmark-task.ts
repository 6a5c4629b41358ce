/** A benchmark task of your own: which search pays an amount with the fewest coins? */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, seededRandom } from 'espalier';
import { type BenchTask, compare } from 'espalier/bench';
import { journaled, uniform } from 'espalier/policies';
import { heuristic } from 'espalier/values';

const coins = [1, 7, 10] as const;
type Coin = (typeof coins)[number];
interface Purse {
  readonly left: number;
  readonly coins: number;
}

const key = ({ left, coins }: Purse) => `${left} with ${coins}`;

/** Pay an amount with no more coins than are needed at least. */
function paying(amount: number, fewest: number): Environment<Purse, Coin> {
  return {
    name: 'coins',
    reset: () => ({ state: { left: amount, coins: fewest } }),
    step(purse, coin) {
      const state = { left: purse.left - coin, coins: purse.coins - 1 };
      if (state.left === 0) return { state, terminal: true, reward: 1 };
      const isOver = state.left < 0 || state.coins === 0;
      return isOver ? { state, terminal: true, reward: 0 } : { state };
    },
    key,
  };
}

function fewestFor(amount: number): number {
  if (amount <= 0) return amount === 0 ? 0 : Infinity;
  return 1 + Math.min(...coins.map((coin) => fewestFor(amount - coin)));
}

export const task: BenchTask<Purse, Coin> = {
  name: 'coins',
  title: 'Few coins',
  instances({ limit = 20, seed }) {
    const random = seededRandom(seed);
    return Array.from({ length: limit }, (_, index) => {
      const amount = 12 + random.integer(14);
      return {
        id: `${index + 1}-pay-${amount}`,
        environment: paying(amount, fewestFor(amount)),
        // Here no model is asked. Without this line the model of the benchmark proposes and judges.
        guides: {
          policy: journaled(
            uniform(() => coins),
            { name: 'coins', key },
          ),
          evaluator: heuristic(({ left, coins }: Purse) =>
            left > 10 * coins ? 0 : 1 / (1 + left),
          ),
        },
      };
    });
  },
};

const out = mkdtempSync(join(tmpdir(), 'espalier-coins-'));
const { report } = await compare({
  task,
  methods: ['mcts'],
  budgets: [{ unit: 'calls', limit: 12 }],
  limit: 6,
  out,
});
rmSync(out, { recursive: true });

for (const { method, accuracy, calls } of report.points) {
  console.log(`${method}: ${accuracy?.toFixed(2)} right with ${calls.toFixed(1)} calls`);
}

assert.equal(report.task.instances, 6);
assert.ok(report.points.every(({ failed }) => failed === 0));
assert.ok(report.points.some(({ method, accuracy }) => method === 'mcts' && accuracy === 1));
