import { EspalierError } from '../../base/errors.ts';
import type { ArithmeticRules, ArithmeticState, ArithmeticStep } from './arithmetic.ts';
import { differentSteps, operationsByPair } from './arithmetic-actions.ts';
import { arithmeticNotation } from './arithmetic-notation.ts';
import { tryStep, writeNumbers } from './arithmetic-transition.ts';
import type { PuzzleEnvironment } from './puzzle.ts';

/** The environment of an arithmetic puzzle that starts at `start`. */
export function arithmeticEnvironment<Value>(
  rules: ArithmeticRules<Value>,
  start: ArithmeticState<Value>,
): PuzzleEnvironment<ArithmeticState<Value>, ArithmeticStep<Value>> {
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

/** Whether nothing can follow a state that is not solved. */
export function isDeadEnd<Value>(
  rules: ArithmeticRules<Value>,
  state: ArithmeticState<Value>,
): boolean {
  for (const operations of operationsByPair(rules, state)) if (operations.length > 0) return false;
  return true;
}

/** A state for a terminal: its numbers, and how those that were made were made. */
export function renderNumbers<Value>(
  rules: ArithmeticRules<Value>,
  state: ArithmeticState<Value>,
): string {
  const made = state.numbers
    .filter(({ expression }) => expression.startsWith('('))
    .map(({ value, expression }) => `${rules.write(value)} = ${expression.slice(1, -1)}`);
  return [`${writeNumbers(rules, state)} -> ${state.target}`, ...made].join('\n');
}
