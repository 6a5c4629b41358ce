// Does search help? Compares greedy, best-of-N, MCTS and A* with the packaged model on 400 puzzles that it has
// never seen, at equal calls, and fails where MCTS is not above best-of-N, or best-of-N not above greedy.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    puzzles: { type: 'string', default: '400' },
    calls: { type: 'string', default: '60' },
    seed: { type: 'string', default: '0' },
    /** Where the outcome is written, for the model card. */
    out: { type: 'string' },
  },
});

interface Outcome {
  readonly rows: readonly {
    readonly method: string;
    readonly solved: number;
    readonly of: number;
    readonly calls: number;
  }[];
  readonly differences: readonly {
    readonly method: string;
    readonly than: string;
    readonly difference: number;
    readonly low: number;
    readonly high: number;
  }[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const { puzzles, calls, seed, out } = values;
const options = ['--puzzles', puzzles, '--calls', calls, '--seed', seed, '--json'];
const printed = execFileSync(process.execPath, ['dist/cli/main.js', 'demo', ...options], {
  cwd: root,
  encoding: 'utf8',
});
const outcome = JSON.parse(printed) as Outcome;
process.stdout.write(`At most ${calls} calls a puzzle, seed ${seed}.\n`);
process.stdout.write(printed);
if (out !== undefined) {
  const results = outcome.rows.map(({ method, solved, of, calls: mean }) => ({
    puzzle: 'game24',
    method: `${method}, at most ${calls} calls`,
    solved,
    n: of,
    calls: Math.round(mean * 10) / 10,
  }));
  writeFileSync(out, `${JSON.stringify({ results }, undefined, 2)}\n`);
}

const expected = ['best of N', 'MCTS'];
for (const { method, than, low } of outcome.differences) {
  if (!expected.includes(method) || low > 0) continue;
  process.stdout.write(
    `${method} is not above ${than}: the interval of the difference begins at ${low}.\n`,
  );
  process.exitCode = 1;
}
