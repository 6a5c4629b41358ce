// The published methods beside plain MCTS, best-of-N, votes with their stopping rules, and greedy, with the packaged model on puzzles that it has
// never seen, at equal calls; with --fill they draw further samples where nothing is left to search. With --tokens, and
// as many budgets as that names, it compares searches with their rivals: a curve each. Fails where the best of these
// searches is below a rival, or solves less with more; else only where a method could not be run.
import { parseArgs } from 'node:util';
import type { Budget } from 'espalier';
import { tiny } from 'espalier/backends/tiny';
import { type ArithmeticState, gameOf24 } from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { table } from '../../src/base/table.ts';
import { pairedDifference } from '../../src/bench/metrics.ts';
import { unseenGames } from '../../src/bench/tasks/game24.ts';
import { solveGame } from '../../src/cli/demo-methods.ts';
import { search } from '../../src/index.ts';
import { algorithmEntry, algorithmFor } from '../../src/runs/algorithms.ts';
import { methodFor, methodNames } from '../../src/runs/methods.ts';
import { compare, type Method } from './side-by-side.ts';

const { values } = parseArgs({
  options: {
    puzzles: { type: 'string', default: '400' },
    calls: { type: 'string', default: '60' },
    /** Budgets, as `250,500`. */
    tokens: { type: 'string' },
    seed: { type: 'string', default: '0' },
    fill: { type: 'boolean', default: false },
  },
});
const budgets: readonly Budget[] = values.tokens
  ?.split(',')
  .map((tokens) => ({ tokens: Number(tokens) })) ?? [{ calls: Number(values.calls) }];
const model = tiny();

/** An algorithm as the command line has it, with the policy and the judge of the demo. */
function plain(name: string, budget: Budget): Method<readonly number[]> {
  const { algorithm } = algorithmFor(name, undefined);
  const { temperature = 0.7 } = algorithmEntry(name);
  return {
    name,
    run: async (numbers, index) => {
      const seed = `${values.seed}/${index}`;
      const method = { name, algorithm, temperature };
      const attempt = { model, method, numbers, budget, seed, stopped: () => false };
      const { solved, spend } = await solveGame(attempt);
      return { solved, ...spend };
    },
  };
}

/** Votes for the number that is left: they end by their own rule, and not with a right end. */
function voting(name: string, budget: Budget): Method<readonly number[]> {
  const { algorithm } = algorithmFor(name, undefined);
  const policy = fromModel({ model, temperature: 0.7, maxTokens: 24 });
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
function published(name: string, budget: Budget): Method<readonly number[]> {
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

const problems = unseenGames(Number(values.seed)).slice(0, Number(values.puzzles));

const baseline = 'best-of-n';
const votes = ['self-consistency', 'esc', 'adaptive-consistency'];
const searches = ['mcts', 'gumbel', 'budgeted'];
const percent = (share: number) => (100 * share).toFixed(1);
const print = (text: string) => process.stdout.write(text);
const curve: number[] = [];

for (const budget of budgets) {
  const [[unit = '', limit] = []] = Object.entries(budget);
  const isCurve = values.tokens !== undefined;
  const methods = [
    ...(isCurve ? [baseline] : ['greedy', baseline]).map((name) => plain(name, budget)),
    ...votes.map((name) => voting(name, budget)),
    ...(isCurve ? searches : ['mcts']).map((name) => plain(name, budget)),
    ...(isCurve ? [] : methodNames).map((name) => published(name, budget)),
  ];
  const { rows, solved } = await compare({ problems, methods, atOnce: 8 });
  const base = solved[methods.findIndex(({ name }) => name === baseline)] ?? [];
  print(
    `${problems.length} puzzles, at most ${limit} ${unit} each, seed ${values.seed}${values.fill ? ', filled' : ''}.\n\n`,
  );
  print(
    `${table([
      ['method', 'solved', '95 % interval', 'calls', 'tokens', 'less best of N, paired 95 %'],
      ...rows.map((row, place) => {
        const { difference, low, high } = pairedDifference(solved[place] ?? [], base);
        return [
          row.method,
          `${row.solved} of ${row.of}`,
          `${percent(row.low)}–${percent(row.high)} %`,
          ...[row.calls.toFixed(1), row.tokens.toFixed(0)],
          row.method === baseline
            ? '–'
            : `${percent(difference)} [${percent(low)}, ${percent(high)}]`,
        ];
      }),
    ])}\n\n`,
  );
  if (!isCurve) continue;
  const most = (isSearch: boolean) =>
    Math.max(
      ...rows.flatMap((row) => (searches.includes(row.method) === isSearch ? row.solved : [])),
    );
  if (most(true) < most(false)) {
    print(`With ${limit} tokens no search solves as many as the best rival.\n\n`);
    process.exitCode = 1;
  }
  if (most(true) < (curve.at(-1) ?? 0)) {
    print(`With ${limit} tokens the best search solves less than with fewer tokens.\n\n`);
    process.exitCode = 1;
  }
  curve.push(most(true));
}
await model.close();
