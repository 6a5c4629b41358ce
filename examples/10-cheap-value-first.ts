/** A value in two stages: a rule that costs nothing looks first, and the model judges only what the rule leaves open. */
import assert from 'node:assert/strict';
import { descend, type Evaluator, mcts, puct, search, solved, valueWidening } from 'espalier';
import { tiny } from 'espalier/backends/tiny';
import {
  type ArithmeticState,
  gameOf24,
  type Rational,
  solvablePuzzles,
} from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { heuristic, judge, staged } from 'espalier/values';

type State = ArithmeticState<Rational>;
const model = tiny();

const judged: Evaluator<State> = judge({ model });

// With two numbers left the rule knows whether they make 24. With more it rules nothing out.
const rule = heuristic(({ numbers }: State) => {
  const [a = 0, b = 0] = numbers.map(({ value }) => value.numerator / value.denominator);
  const made = [a + b, a - b, b - a, a * b, a / b, b / a];
  return numbers.length > 2 || made.some((number) => Math.abs(number - 24) < 1e-9) ? 1 : 0;
});

const cheapFirst = staged({
  fast: { name: 'rule', evaluator: rule },
  accurate: { name: 'judge', evaluator: judged },
  threshold: 0.5, // below it the value of the rule is final, and the model is not asked
});

/** What a search for solutions spends on every eightieth puzzle. */
async function spendOf(evaluator: Evaluator<State>) {
  const sum = { solved: 0, calls: 0, tokens: 0 };
  for (const { numbers } of solvablePuzzles().filter((_, place) => place % 80 === 0)) {
    const result = await search(gameOf24.environment({ numbers }), {
      policy: fromModel({ model, maxTokens: 48 }),
      evaluator,
      algorithm: mcts({
        selection: descend(puct({ cInit: 0.1 })),
        width: 2,
        evaluate: 'all',
        widening: valueWidening(),
      }),
      budget: { calls: 100 },
      stopWhen: solved(),
    });
    sum.solved += result.solved ? 1 : 0;
    sum.calls += result.spend.calls;
    sum.tokens += result.spend.tokens;
  }
  return sum;
}

const alone = await spendOf(judged);
const inStages = await spendOf(cheapFirst);
console.log('judged always:', alone);
console.log('rule first:   ', inStages);
assert.ok(inStages.solved >= alone.solved);
assert.ok(inStages.tokens < 0.95 * alone.tokens);
