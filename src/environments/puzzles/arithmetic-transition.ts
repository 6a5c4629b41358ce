import type {
  ArithmeticRules,
  ArithmeticState,
  ArithmeticStep,
  Operand,
  Operator,
} from './arithmetic.ts';
import { replace } from './arithmetic-actions.ts';
import { solvedMessage } from './words.ts';

/** A step as a model or a person states it, with its numbers in any order; omitted parts are not checked. */
export type StepClaim<Value> = Pick<ArithmeticStep<Value>, 'left' | 'operator' | 'right'> &
  Partial<ArithmeticStep<Value>>;

/** A complete step and the state it leads to, or what is wrong with it in one sentence. */
export type Outcome<Value> =
  | { readonly step: ArithmeticStep<Value>; readonly state: ArithmeticState<Value> }
  | { readonly problem: string };

/** Takes a step after checking everything that it states. */
export function tryStep<Value>(
  rules: ArithmeticRules<Value>,
  state: ArithmeticState<Value>,
  claim: StepClaim<Value>,
): Outcome<Value> {
  const { compare, compute, write } = rules;
  const operands = findOperands(rules, state.numbers, claim);
  const written = `${write(claim.left)} ${claim.operator} ${write(claim.right)}`;
  if (rules.solved(state)) return { problem: solvedMessage(written) };
  if (operands === undefined) {
    return problem(`a step on two of the numbers ${writeNumbers(rules, state)}`, written);
  }
  const result = compute(claim.operator, claim.left, claim.right);
  if (result === undefined) return problem(rules.allowed, written);
  if (claim.result !== undefined && compare(claim.result, result) !== 0) {
    return problem(`\`${written} = ${write(result)}\``, write(claim.result));
  }

  const [left, right] = operands;
  const made = { value: result, expression: `(${join(left, claim.operator, right)})` };
  const numbers = replace(rules, state.numbers, { without: operands, made });
  const remaining = numbers.map(({ value }) => value);
  if (claim.remaining !== undefined && !areEqual(rules, claim.remaining, remaining)) {
    const [expected, got] = [remaining, claim.remaining].map((values) =>
      values.map(write).join(' '),
    );
    return problem(`the numbers left to be \`${expected}\``, got ?? '');
  }
  const { operator } = claim;
  const step = { left: left.value, operator, right: right.value, result, remaining };
  return { step, state: { numbers, target: state.target } };
}

/** The numbers of a state as text, in ascending order. */
export function writeNumbers<Value>(
  { write }: ArithmeticRules<Value>,
  { numbers }: ArithmeticState<Value>,
): string {
  return numbers.map(({ value }) => write(value)).join(' ');
}

function findOperands<Value>(
  { compare }: ArithmeticRules<Value>,
  numbers: readonly Operand<Value>[],
  claim: StepClaim<Value>,
): readonly [Operand<Value>, Operand<Value>] | undefined {
  const left = numbers.find(({ value }) => compare(value, claim.left) === 0);
  const right = numbers.find(
    (operand) => operand !== left && compare(operand.value, claim.right) === 0,
  );
  return left === undefined || right === undefined ? undefined : [left, right];
}

function join<Value>(left: Operand<Value>, operator: Operator, right: Operand<Value>): string {
  return `${left.expression} ${operator} ${right.expression}`;
}

function areEqual<Value>(
  { compare }: ArithmeticRules<Value>,
  unordered: readonly Value[],
  ordered: readonly Value[],
): boolean {
  if (unordered.length !== ordered.length) return false;
  const values = unordered.toSorted(compare);
  return ordered.every((value, index) => compare(value, values[index] as Value) === 0);
}

function problem(expected: string, got: string): { readonly problem: string } {
  return { problem: `Expected ${expected}, got \`${got}\`.` };
}
