import { expectNumbers } from './arithmetic-instance.ts';
import {
  add,
  compareRationals,
  divide,
  multiply,
  type Rational,
  rational,
  subtract,
} from './rational.ts';

type Solvable = Readonly<Record<'numbers', readonly number[]> & Record<'difficulty', number>>;

/**
 * An expression in canonical form: a number, or a sum or product flattened as far as it goes, with its
 * terms in order. No value is negative.
 */
interface Form {
  readonly kind: 'number' | 'sum' | 'product';
  readonly value: Rational;
  readonly text: string;
  /** The terms that are added, or the factors. */
  readonly direct: readonly Form[];
  /** The terms that are subtracted, or the divisors. */
  readonly inverse: readonly Form[];
}

/** Forms computed earlier, by list of numbers. */
type Memory = Map<string, readonly Form[]>;

/**
 * The distinct solutions of a puzzle as text, for example `(10 - 4) * (13 - 9)`, in alphabetical order.
 *
 * A solution uses every number once. Two solutions are the same if they have the same canonical form:
 *
 * - A sum is a multiset of terms added and a multiset of terms subtracted; a product is a multiset of factors and a
 *   multiset of divisors. So `a + (b - c)`, `(b + a) - c` and `a - (c - b)` are one solution, and so are `a * (b / c)`
 *   and `b / (c / a)`.
 * - Signs are carried outward until no value within is negative: `(a - b) * (c - d)` and `(b - a) * (d - c)` are one
 *   solution. A product of 0 loses its sign.
 * - Equal numbers are interchangeable.
 *
 * Nothing else is identified: `a * 1` and `a / 1` are two solutions, and so are `a * (b + c)` and `a * b + a * c`.
 *
 * @param target - The number to make. @defaultValue 24
 * @throws EspalierError `usage` if the numbers are not 2 to 8 integers from 1 to 1,000,000.
 */
export function solutions(numbers: readonly number[], target = 24): readonly string[] {
  expectNumbers({ numbers, target });
  return findSolutions(ascending(numbers), target, new Map());
}

/**
 * All sets of four numbers from 1 to 13 from which 24 can be made, in ascending order of their numbers. There are
 * 1,362. The `difficulty` of one is its number of distinct solutions, from 1 up: the fewer, the harder.
 */
export function solvablePuzzles(): readonly Solvable[] {
  const memory: Memory = new Map();
  const puzzles: Solvable[] = [];
  for (const numbers of multisets(4, 1, 13)) {
    const difficulty = findSolutions(numbers, 24, memory).length;
    if (difficulty > 0) puzzles.push({ numbers, difficulty });
  }
  return puzzles;
}

function* multisets(size: number, min: number, max: number): Generator<readonly number[]> {
  if (size === 0) yield [];
  else {
    for (let first = min; first <= max; first++) {
      for (const rest of multisets(size - 1, first, max)) yield [first, ...rest];
    }
  }
}

function findSolutions(
  numbers: readonly number[],
  target: number,
  memory: Memory,
): readonly string[] {
  const goal = rational(target);
  const isGoal = (value: Rational) => compareRationals(value, goal) === 0;
  return combineForms(numbers, memory, isGoal)
    .map(({ text }) => text)
    .toSorted();
}

/** All forms that use every one of the numbers, each once. */
function allForms(numbers: readonly number[], memory: Memory): readonly Form[] {
  const [only, ...others] = numbers;
  if (only !== undefined && others.length === 0) {
    return [{ kind: 'number', value: rational(only), text: `${only}`, direct: [], inverse: [] }];
  }
  const name = numbers.join(' ');
  const known = memory.get(name);
  if (known !== undefined) return known;
  const forms = combineForms(numbers, memory, () => true);
  memory.set(name, forms);
  return forms;
}

/** The forms with an accepted value whose outermost operation joins two parts of the numbers. */
function combineForms(
  numbers: readonly number[],
  memory: Memory,
  accept: (value: Rational) => boolean,
): readonly Form[] {
  const forms = new Map<string, Form>();
  for (const [part, rest] of partitions(numbers)) {
    for (const left of allForms(part, memory)) {
      for (const right of allForms(rest, memory)) {
        for (const form of joinForms(left, right, accept)) forms.set(form.text, form);
      }
    }
  }
  return [...forms.values()];
}

/** The ways to split an ordered list in two, in either order. */
function partitions(
  numbers: readonly number[],
): readonly (readonly [readonly number[], readonly number[]])[] {
  const parts = new Map<string, readonly [readonly number[], readonly number[]]>();
  // The last number always stays in the rest, so that no partition appears twice.
  for (let chosen = 1; chosen < 2 ** (numbers.length - 1); chosen++) {
    const isChosen = (_number: number, index: number) => (chosen & (1 << index)) !== 0;
    const part = numbers.filter(isChosen);
    const rest = numbers.filter((number, index) => !isChosen(number, index));
    parts.set(part.join(' '), [part, rest]);
  }
  return [...parts.values()];
}

function* joinForms(
  left: Form,
  right: Form,
  accept: (value: Rational) => boolean,
): Generator<Form> {
  const isAccepted = (value: Rational | undefined): value is Rational =>
    value !== undefined && accept(value);

  const sum = add(left.value, right.value);
  if (isAccepted(sum)) yield join('sum', sum, { direct: [left, right], inverse: [] });
  const order = compareRationals(left.value, right.value);
  const [larger, smaller] = order >= 0 ? [left, right] : [right, left];
  const difference = subtract(larger.value, smaller.value);
  if (isAccepted(difference)) {
    const forms = [
      join('sum', difference, { direct: [larger], inverse: [smaller] }),
      // A difference of 0 has no sign to carry outward, so only one of its two forms is used.
      ...(order === 0 ? [join('sum', difference, { direct: [smaller], inverse: [larger] })] : []),
    ];
    yield* forms.toSorted((a, b) => compareTexts(a.text, b.text)).slice(0, 1);
  }

  const product = multiply(left.value, right.value);
  if (isAccepted(product)) yield join('product', product, { direct: [left, right], inverse: [] });
  for (const [over, under] of [
    [left, right],
    [right, left],
  ] as const) {
    const quotient = divide(over.value, under.value);
    if (isAccepted(quotient)) yield join('product', quotient, { direct: [over], inverse: [under] });
  }
}

function join(
  kind: 'sum' | 'product',
  value: Rational,
  parts: { readonly direct: readonly Form[]; readonly inverse: readonly Form[] },
): Form {
  const direct: Form[] = [];
  const inverse: Form[] = [];
  const place = (form: Form, isDirect: boolean) => {
    // A product of 0 is its own negative, so adding and subtracting it are the same.
    const isAdded = isDirect || (kind === 'sum' && form.value.numerator === 0);
    (isAdded ? direct : inverse).push(form);
  };
  const flatten = (form: Form, isDirect: boolean) => {
    if (form.kind !== kind) return place(form, isDirect);
    for (const term of form.direct) place(term, isDirect);
    for (const term of form.inverse) place(term, !isDirect);
  };
  for (const form of parts.direct) flatten(form, true);
  for (const form of parts.inverse) flatten(form, false);
  direct.sort(compareForms);
  inverse.sort(compareForms);

  const write = (form: Form) =>
    kind === 'product' && form.kind === 'sum' ? `(${form.text})` : form.text;
  const [joint, inverseJoint] = kind === 'sum' ? [' + ', ' - '] : [' * ', ' / '];
  const text = [direct.map(write).join(joint), ...inverse.map(write)].join(inverseJoint);
  return { kind, value, text, direct, inverse };
}

/** Larger values first, so that a sum reads `10 - 4` and a product `8 * 3`. */
function compareForms(left: Form, right: Form): number {
  return compareRationals(right.value, left.value) || compareTexts(left.text, right.text);
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function ascending(numbers: readonly number[]): readonly number[] {
  return numbers.toSorted((a, b) => a - b);
}
