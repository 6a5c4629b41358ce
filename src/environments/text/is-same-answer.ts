import { expectNumber, expectText } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { AnswerValue, NumberValue } from './answer-value.ts';
import { type ExactNumber, isSameNumber, readNumber, scale } from './exact-number.ts';
import { readAnswer } from './read-answer.ts';

/**
 * Whether two answers are equivalent.
 *
 * Numbers may differ by `tolerance`, relative to the larger one: from 0 to 1, default 0, so that 0.333 is not 1/3. They
 * are compared exactly, as fractions: `0.5`, `1/2`, `\frac{1}{2}`, `5e-1`; `1,000` and `1000`; `1 1/2` and `1.5`.
 * Lists, tuples and sets are compared element by element, in order; brackets may be missing on one side. A choice is
 * its letter: `(B)`, `B.`, `(B) Paris`. `yes` is `true` and `no` is `false`. Words are compared without regard to case,
 * spaces and a leading article, formulas without regard to spaces; nothing is computed or rearranged: `x + 1` is not `1
 * + x`.
 *
 * Parts missing from one answer count as agreed: `5` is the same as `5 cm` and as `x = 5`, while `5 cm` is
 * neither `5 kg` nor `5 m`. So the relation is not transitive. `50%` is
 * `0.5` and `50`, because nobody who means 5000% writes 50, while `0.5%` is not `0.5`. Additional text is ignored: `18
 * (since 9*2=18)`, `about 18` and `9 * 2 = 18` are `18`.
 */
export function isSameAnswer(
  left: string,
  right: string,
  options: { readonly tolerance?: number } = {},
): boolean {
  expectText('left', left);
  expectText('right', right);
  expectOptions('isSameAnswer', options, 'tolerance');
  const { tolerance = 0 } = options;
  expectNumber('tolerance', tolerance, { min: 0, max: 1 });
  const allowed = tolerance === 0 ? undefined : readNumber(String(tolerance));
  return isSameText(left, right, { tolerance: allowed, isSignOptional: false });
}

/**
 * {@link isSameAnswer} for answers to one question: if it asks for a percentage, `0.5` is also `0.5%`, because GSM8K
 * has gold answers without the sign.
 */
export function sameAnswerTo(question: string): (left: string, right: string) => boolean {
  const isSignOptional = /%|per\s?cent|prozent|pour\s?cent|百分/i.test(question);
  return (left, right) => isSameText(left, right, { tolerance: undefined, isSignOptional });
}

interface Rules {
  readonly tolerance: ExactNumber | undefined;
  /** Whether the percent sign may be left out. */
  readonly isSignOptional: boolean;
}

function isSameText(left: string, right: string, rules: Rules): boolean {
  return left.trim() === right.trim() || isSame(readAnswer(left), readAnswer(right), rules);
}

function isSame(left: AnswerValue, right: AnswerValue, rules: Rules): boolean {
  if (left.kind === 'list' || right.kind === 'list') return isSameList(left, right, rules);
  if (left.kind === 'number' && right.kind === 'number') {
    return isSameQuantity(left, right, rules);
  }
  // The remaining kinds can be compared directly: a letter, a truth value, a text.
  return left.kind === right.kind && JSON.stringify(left) === JSON.stringify(right);
}

function isSameList(left: AnswerValue, right: AnswerValue, rules: Rules): boolean {
  const [first, second] = [listOf(left), listOf(right)];
  const agree = first.brackets === '' || second.brackets === '';
  if (!agree && first.brackets !== second.brackets) return false;
  if (first.items.length !== second.items.length) return false;
  return first.items.every((item, place) => {
    const other = second.items[place];
    return other !== undefined && isSame(item, other, rules);
  });
}

function listOf(value: AnswerValue) {
  return value.kind === 'list' ? value : { brackets: '', items: [value] };
}

function isSameQuantity(left: NumberValue, right: NumberValue, rules: Rules): boolean {
  if (!mayAgree(left.unit, right.unit) || !mayAgree(left.variable, right.variable)) return false;
  const { tolerance, isSignOptional } = rules;
  const bare = left.percent ? right : left;
  const isWritten =
    left.percent === right.percent ||
    isSignOptional ||
    (bare.unit === '' && isAboveOne(bare.value));
  if (isWritten && isSameNumber(left.value, right.value, tolerance)) return true;
  const [first, second] = [left, right].map(({ value, percent }) =>
    percent ? (scale(value, -2) ?? value) : value,
  );
  return first !== undefined && second !== undefined && isSameNumber(first, second, tolerance);
}

/** Nobody who means 1800% writes 18, but 0.18 may mean 18%. */
function isAboveOne({ numerator, denominator }: ExactNumber): boolean {
  return numerator > denominator || -numerator > denominator;
}

/** A missing part agrees with anything. */
function mayAgree(left: string, right: string): boolean {
  return left === '' || right === '' || left === right;
}
