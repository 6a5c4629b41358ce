import type {
  ArithmeticRules,
  ArithmeticState,
  ArithmeticStep,
  Operand,
  Operator,
} from './arithmetic.ts';

/** An operation on two numbers of a state. Operands are distinguished by identity, not by value. */
interface Operation<Value> extends Pick<ArithmeticStep<Value>, 'operator' | 'result'> {
  readonly left: Operand<Value>;
  readonly right: Operand<Value>;
}

/** All allowed operations on two numbers of a state, pair by pair. */
export function* operationsByPair<Value>(
  rules: ArithmeticRules<Value>,
  { numbers }: ArithmeticState<Value>,
): Generator<readonly Operation<Value>[]> {
  for (const [index, low] of numbers.entries()) {
    for (const high of numbers.slice(index + 1)) yield operations(rules, low, high);
  }
}

/**
 * One step for each multiset of numbers that can follow.
 *
 * Two steps lead to the same numbers only if both take the same values and have the same result, or if the result of
 * each equals one of its operands and both lose operands of the same value.
 */
export function differentSteps<Value>(
  rules: ArithmeticRules<Value>,
  { numbers }: ArithmeticState<Value>,
): readonly ArithmeticStep<Value>[] {
  const steps: ArithmeticStep<Value>[] = [];
  const lost: Value[] = [];
  for (const [low, high] of differentPairs(rules, numbers)) {
    const seen: Value[] = [];
    for (const operation of operations(rules, low, high)) {
      if (isAmong(rules, seen, operation.result)) continue;
      seen.push(operation.result);

      const loss = lostOperand(rules, operation);
      if (loss !== undefined && isAmong(rules, lost, loss)) continue;
      if (loss !== undefined) lost.push(loss);
      steps.push(toStep(rules, numbers, operation));
    }
  }
  return steps;
}

/** `numbers` without two of them and with another one, in order. */
export function replace<Value>(
  { compare }: ArithmeticRules<Value>,
  numbers: readonly Operand<Value>[],
  change: { readonly without: readonly Operand<Value>[]; readonly made: Operand<Value> },
): readonly Operand<Value>[] {
  const replaced: Operand<Value>[] = [];
  let placed = false;
  for (const operand of numbers) {
    if (change.without.includes(operand)) continue;
    if (!placed && compare(operand.value, change.made.value) > 0) {
      replaced.push(change.made);
      placed = true;
    }
    replaced.push(operand);
  }
  if (!placed) replaced.push(change.made);
  return replaced;
}

function operations<Value>(
  { compute }: ArithmeticRules<Value>,
  low: Operand<Value>,
  high: Operand<Value>,
): readonly Operation<Value>[] {
  const found: Operation<Value>[] = [];
  const attempt = (left: Operand<Value>, operator: Operator, right: Operand<Value>) => {
    const result = compute(operator, left.value, right.value);
    if (result !== undefined) found.push({ left, operator, right, result });
  };
  attempt(low, '+', high);
  attempt(low, '*', high);
  attempt(high, '-', low);
  attempt(low, '-', high);
  attempt(high, '/', low);
  attempt(low, '/', high);
  return found;
}

/** Two numbers of an ordered list, each pair of values once. */
function* differentPairs<Value>(
  { compare }: ArithmeticRules<Value>,
  numbers: readonly Operand<Value>[],
): Generator<readonly [Operand<Value>, Operand<Value>]> {
  let previousLow: Operand<Value> | undefined;
  for (const [index, low] of numbers.entries()) {
    if (previousLow !== undefined && compare(previousLow.value, low.value) === 0) continue;
    previousLow = low;
    let previousHigh: Operand<Value> | undefined;
    for (const high of numbers.slice(index + 1)) {
      if (previousHigh !== undefined && compare(previousHigh.value, high.value) === 0) continue;
      previousHigh = high;
      yield [low, high];
    }
  }
}

/** The operand that is gone after a step whose result equals the other one, as in `4 * 1 = 4`. */
function lostOperand<Value>(
  { compare }: ArithmeticRules<Value>,
  { left, right, result }: Operation<Value>,
): Value | undefined {
  if (compare(left.value, result) === 0) return right.value;
  return compare(right.value, result) === 0 ? left.value : undefined;
}

function toStep<Value>(
  rules: ArithmeticRules<Value>,
  numbers: readonly Operand<Value>[],
  { left, operator, right, result }: Operation<Value>,
): ArithmeticStep<Value> {
  const made = { value: result, expression: '' };
  const remaining = replace(rules, numbers, { without: [left, right], made });
  return {
    left: left.value,
    operator,
    right: right.value,
    result,
    remaining: remaining.map(({ value }) => value),
  };
}

function isAmong<Value>(
  { compare }: ArithmeticRules<Value>,
  values: readonly Value[],
  value: Value,
): boolean {
  return values.some((other) => compare(other, value) === 0);
}
