// What holds MCTS back: its search, or its value? The same puzzles with the model's own judgement, with that
// judgement free of charge, and with the exact value at the price of a call, beside best-of-N.
import { parseArgs } from 'node:util';
import {
  bestOfN,
  type Evaluator,
  mcts,
  type SearchAlgorithm,
  search,
  solved,
  valueWidening,
} from 'espalier';
import { tiny } from 'espalier/backends/tiny';
import { type ArithmeticState, gameOf24, type Rational } from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { judge } from 'espalier/values';
import { pairedDifference } from '../../src/bench/metrics.ts';
import { unseenGames } from '../../src/bench/tasks/game24.ts';
import { compare, type Method } from './side-by-side.ts';

const { values } = parseArgs({
  options: {
    puzzles: { type: 'string', default: '400' },
    calls: { type: 'string', default: '60' },
    seed: { type: 'string', default: '0' },
  },
});

type GameEvaluator = Evaluator<ArithmeticState<Rational>, never>;
const model = tiny();
const judged = judge({ model });

/** The same judgements, past the ledger. */
const free: GameEvaluator = {
  needs: 'realised',
  evaluate: (nodes, { context, ...request }) =>
    judged.evaluate(nodes, {
      ...request,
      context: {
        ...context,
        signal: context.signal,
        random: context.random,
        clock: context.clock,
        generate: (asked, wanted) => asked.generate(wanted, context),
      },
    }),
};

/** Whether 24 can still be made, by trying everything; each question a call. */
const exact: GameEvaluator = {
  needs: 'realised',
  evaluate: (nodes, { context }) =>
    Promise.all(
      nodes.map(async (node) => {
        const { numbers } = node.kind === 'proposed' ? { numbers: [] } : node.state;
        const shares = numbers.map(({ value }) => [value.numerator, value.denominator] as const);
        const ask = async () => canMake24(shares.map(([over, under]) => over / under));
        const effect = { name: 'exact', repeatable: true };
        return { value: (await context.effect(effect, shares, ask)) ? 1 : 0 };
      }),
    ),
};

function canMake24(numbers: readonly number[]): boolean {
  const [only] = numbers;
  if (numbers.length === 1) return Math.abs((only ?? 0) - 24) < 1e-9;
  return numbers.some((a, i) =>
    numbers.some((b, j) => {
      if (i === j) return false;
      const rest = numbers.filter((_, place) => place !== i && place !== j);
      return [a + b, a - b, a * b, a / b].some((made) => canMake24([...rest, made]));
    }),
  );
}

const guided = mcts({ evaluate: 'all', width: 2, widening: valueWidening() });

function method(
  name: string,
  algorithm: SearchAlgorithm,
  evaluator: GameEvaluator,
): Method<readonly number[]> {
  return {
    name,
    async run(numbers, index) {
      const { solved: isSolved, spend } = await search(gameOf24.environment({ numbers }), {
        policy: fromModel({ model, temperature: 0.7, maxTokens: 48 }),
        evaluator,
        algorithm,
        budget: { calls: Number(values.calls) },
        stopWhen: solved(),
        seed: `${values.seed}/${index}`,
      });
      return { solved: isSolved, ...spend };
    },
  };
}

const problems = unseenGames(Number(values.seed)).slice(0, Number(values.puzzles));

const methods = [
  method('best of N', bestOfN(), judged),
  method('MCTS, judged, each judgement a call', guided, judged),
  method('MCTS, judged, free of charge', guided, free),
  method('MCTS, exact value, each a call', guided, exact),
];
const { rows, solved: outcomes } = await compare({ problems, methods });
await model.close();

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const points = (share: number) => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;
process.stdout.write(
  `${problems.length} puzzles, at most ${values.calls} calls each; less best of N, paired 95 %.\n`,
);
for (const [place, { method: name, solved: count, of, calls }] of rows.entries()) {
  const { difference, low, high } = pairedDifference(outcomes[place] ?? [], outcomes[0] ?? []);
  const less = place === 0 ? '' : `  ${points(difference)} [${points(low)}, ${points(high)}]`;
  const share = percent(count / of).padStart(7);
  process.stdout.write(
    `${name.padEnd(38)} ${share}  ${calls.toFixed(1).padStart(5)} calls${less}\n`,
  );
}
