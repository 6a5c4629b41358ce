import { EspalierError } from '../../base/errors.ts';
import { expectInteger } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { ArithmeticRules, ArithmeticState, ArithmeticStep } from './arithmetic.ts';
import { differentSteps, operationsByPair } from './arithmetic-actions.ts';
import { type ArithmeticInstance, expectNumbers, formatNumbers } from './arithmetic-instance.ts';
import { arithmeticNotation } from './arithmetic-notation.ts';
import { tryStep, writeNumbers } from './arithmetic-transition.ts';
import type { Puzzle, PuzzleEnvironment } from './puzzle.ts';
import { replay } from './replay.ts';

/** The parts of an arithmetic puzzle that follow from its rules. */
export function arithmeticPuzzle<Value>(
  rules: ArithmeticRules<Value>,
): Pick<
  Puzzle<ArithmeticInstance, ArithmeticState<Value>, ArithmeticStep<Value>>,
  'check' | 'environment' | 'format' | 'name' | 'render' | 'title'
> {
  const { name, title } = rules;
  return {
    name,
    title,
    environment: (instance) => environment(rules, instance),
    format: formatNumbers,
    check: (instance, actions) =>
      replay(environment(rules, instance), actions, (state) =>
        rules.solved(state)
          ? undefined
          : `Expected ${rules.wanted(state.target)}, got \`${writeNumbers(rules, state)}\`.`,
      ),
    render: (state) => renderNumbers(rules, state),
  };
}

function environment<Value>(
  rules: ArithmeticRules<Value>,
  instance: ArithmeticInstance,
): PuzzleEnvironment<ArithmeticState<Value>, ArithmeticStep<Value>> {
  expectOptions(rules.name, instance, 'numbers target');
  expectNumbers(instance);
  const { numbers, target = rules.usualTarget } = instance;
  expectInteger('target', target, { min: 1 });
  const sorted = numbers.toSorted((a, b) => a - b);
  const start = {
    numbers: sorted.map((number) => ({ value: rules.of(number), expression: `${number}` })),
    target: target as number,
  };
  return {
    name: rules.name,
    reset: () => ({ state: start, ...(rules.solved(start) && { reward: 1, terminal: true }) }),
    step(state, action) {
      const outcome = tryStep(rules, state, action);
      if ('problem' in outcome) {
        throw new EspalierError('usage', outcome.problem, { scope: 'item' });
      }
      const next = outcome.state;
      if (rules.solved(next)) return { state: next, reward: 1, terminal: true };
      return isDeadEnd(rules, next) ? { state: next, reward: 0, terminal: true } : { state: next };
    },
    actions: (state) => (rules.solved(state) ? [] : differentSteps(rules, state)),
    key: (state) => writeNumbers(rules, state),
    notation: arithmeticNotation(rules),
  };
}

/** Whether no step is possible in a state that is not solved. */
export function isDeadEnd<Value>(
  rules: ArithmeticRules<Value>,
  state: ArithmeticState<Value>,
): boolean {
  for (const operations of operationsByPair(rules, state)) if (operations.length > 0) return false;
  return true;
}

/** A state for a terminal: its numbers, and how the computed ones were made. */
function renderNumbers<Value>(
  rules: ArithmeticRules<Value>,
  state: ArithmeticState<Value>,
): string {
  const made = state.numbers
    .filter(({ expression }) => expression.startsWith('('))
    .map(({ value, expression }) => `${rules.write(value)} = ${expression.slice(1, -1)}`);
  return [`${writeNumbers(rules, state)} -> ${state.target}`, ...made].join('\n');
}
