// Does search help? Compares greedy, best-of-N, MCTS and A* with the packaged model on 400 puzzles that it has never
// seen: at equal tokens, at equal calls, and at equal time. Fails where MCTS is not clearly above best-of-N at equal
// tokens, by 8 points at least, or best-of-N not above greedy.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { table } from '../../src/base/table.ts';

const { values } = parseArgs({
  options: {
    puzzles: { type: 'string', default: '400' },
    /** Budgets, as `tokens=1000`. */
    budget: { type: 'string', multiple: true },
    seed: { type: 'string', default: '0' },
    /** Where the outcomes are written, for the model card. */
    out: { type: 'string' },
  },
});
const budgets = values.budget ?? ['tokens=1000', 'tokens=2000', 'calls=60', 'ms=200'];
/** What MCTS has to solve more than best-of-N at equal tokens. */
const least = 0.08;

interface Outcome {
  readonly rows: readonly {
    readonly method: string;
    readonly solved: number;
    readonly of: number;
    readonly calls: number;
    readonly tokens: number;
    readonly usd: number;
    readonly ms: number;
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
const { puzzles, seed, out } = values;

function measure(unit: string, limit: string): Outcome {
  const options = ['--puzzles', puzzles, `--${unit}`, limit, '--seed', seed, '--json'];
  const printed = execFileSync(process.execPath, ['dist/cli/main.js', 'demo', ...options], {
    cwd: root,
    encoding: 'utf8',
  });
  return JSON.parse(printed) as Outcome;
}

const results: object[] = [];
for (const budget of budgets) {
  const [unit = '', limit = ''] = budget.split('=');
  const { rows, differences } = measure(unit, limit);
  print(`\nAt most ${limit} ${unit} a puzzle, ${puzzles} puzzles, seed ${seed}.\n\n`);
  print(
    `${table([
      [
        'method',
        'solved',
        'tokens',
        'calls',
        '$ of 1,000',
        'ms',
        'more than',
        'points, paired 95 %',
      ],
      ...rows.map((row) => {
        const pair = differences.find(({ method }) => method === row.method);
        const amounts = [row.tokens.toFixed(0), row.calls.toFixed(1), (1000 * row.usd).toFixed(2)];
        const solved = `${row.solved} of ${row.of}`;
        const more = pair === undefined ? ['–', '–'] : [pair.than, interval(pair)];
        return [row.method, solved, ...amounts, row.ms.toFixed(0), ...more];
      }),
    ])}\n`,
  );
  for (const { method, than, difference, low } of differences) {
    const wanted = method === 'best of N' ? 0 : method === 'MCTS' ? least : undefined;
    if (unit !== 'tokens' || wanted === undefined || (low > 0 && difference >= wanted)) continue;
    print(`${method} is not clearly above ${than}, by ${percent(wanted)} points.\n`);
    process.exitCode = 1;
  }
  for (const { method, solved, of, calls } of rows) {
    const name = `${method}, at most ${limit} ${unit}`;
    results.push({
      puzzle: 'game24',
      method: name,
      solved,
      n: of,
      calls: Math.round(calls * 10) / 10,
    });
  }
}
if (out !== undefined) writeFileSync(out, `${JSON.stringify({ results }, undefined, 2)}\n`);

function interval({ difference, low, high }: Outcome['differences'][number]): string {
  return `${percent(difference)} [${percent(low)}, ${percent(high)}]`;
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

function print(text: string): void {
  process.stdout.write(text);
}
