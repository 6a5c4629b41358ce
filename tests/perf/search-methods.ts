// The published methods beside plain MCTS, best-of-N, votes with their stopping rules, and greedy, with the packaged model on puzzles that it has
// never seen, at equal calls; with --fill they draw further samples where nothing is left to search. It reports, and fails only where a method could not be run.
import { parseArgs } from 'node:util';
import { seededRandom } from 'espalier';
import { tiny } from 'espalier/backends/tiny';
import { type ArithmeticState, gameOf24, solvablePuzzles } from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { isHeldOut } from '../../dist/backends/tiny/held-out.js';
import { compare, type Method } from '../../dist/bench/compare.js';
import { pairedDifference } from '../../dist/bench/metrics.js';
import { algorithmFor } from '../../dist/cli/algorithms.js';
import { demoMethods, solveGame } from '../../dist/cli/demo-methods.js';
import { methodFor, methodNames } from '../../dist/cli/methods.js';
import { table } from '../../dist/cli/table.js';
import { search } from '../../dist/index.js';

const { values } = parseArgs({
  options: {
    puzzles: { type: 'string', default: '400' },
    calls: { type: 'string', default: '60' },
    seed: { type: 'string', default: '0' },
    fill: { type: 'boolean', default: false },
  },
});
const budget = { calls: Number(values.calls) };
const model = tiny();

/** A method of the demo, as it is there. */
function plain(key: keyof typeof demoMethods): Method<readonly number[]> {
  const method = demoMethods[key];
  return {
    name: method.name,
    run: async (numbers, index) => {
      const seed = `${values.seed}/${index}`;
      const attempt = { model, method, numbers, budget, seed, stopped: () => false };
      const { solved, spend } = await solveGame(attempt);
      return { solved, ...spend };
    },
  };
}

/** Votes for the number that is left: they end by their own rule, and not with a right end. */
function voting(name: string): Method<readonly number[]> {
  const { algorithm } = algorithmFor(name, undefined);
  const policy = fromModel({ model, temperature: 0.7, maxTokens: 48 });
  return {
    name,
    run: async (numbers, index) => {
      const environment = {
        ...gameOf24.environment({ numbers }),
        answer: ({ numbers: [only, more] }: ArithmeticState<unknown>) =>
          more === undefined ? JSON.stringify(only?.value) : undefined,
      };
      const seed = `${values.seed}/${index}`;
      const { solved, spend } = await search(environment, { policy, algorithm, budget, seed });
      return { solved, ...spend };
    },
  };
}

/** A published method with its own settings, but for what the model was never taught. */
function published(name: string): Method<readonly number[]> {
  return {
    name,
    run: async (numbers, index) => {
      const environment = gameOf24.environment({ numbers });
      const { solved, spend } = await search(environment, {
        ...methodFor(name, { model, maxTokens: 48 }),
        budget,
        fill: values.fill,
        seed: `${values.seed}/${index}`,
      });
      return { solved, ...spend };
    },
  };
}

const random = seededRandom(Number(values.seed));
const rest = solvablePuzzles()
  .map(({ numbers }) => numbers)
  .filter((numbers) => isHeldOut(gameOf24.format({ numbers })));
const size = Math.min(Number(values.puzzles), rest.length);
const problems = Array.from({ length: size }, () =>
  rest.splice(random.integer(rest.length), 1),
).flat(1);

const baseline = demoMethods.bestOfN.name;
const votes = ['self-consistency', 'esc', 'adaptive-consistency'].map(voting);
const methods = [
  ...[plain('greedy'), plain('bestOfN'), ...votes, plain('mcts')],
  ...methodNames.map(published),
];
const { rows, solved } = await compare({ problems, methods });
await model.close();

const base = solved[methods.findIndex(({ name }) => name === baseline)] ?? [];
const percent = (share: number) => (100 * share).toFixed(1);
process.stdout.write(
  `${size} puzzles, at most ${values.calls} calls each, seed ${values.seed}${values.fill ? ', filled' : ''}.\n\n`,
);
process.stdout.write(
  `${table([
    ['method', 'solved', '95 % interval', 'calls', 'less best of N, paired 95 %'],
    ...rows.map((row, place) => {
      const { difference, low, high } = pairedDifference(solved[place] ?? [], base);
      return [
        row.method,
        `${row.solved} of ${row.of}`,
        `${percent(row.low)}–${percent(row.high)} %`,
        row.calls.toFixed(1),
        row.method === baseline
          ? '–'
          : `${percent(difference)} [${percent(low)}, ${percent(high)}]`,
      ];
    }),
  ])}\n`,
);
