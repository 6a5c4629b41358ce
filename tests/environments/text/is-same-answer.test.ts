import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSameAnswer } from '../../../src/environments/index.ts';
import { property } from '../../support/property.ts';

const same: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  integers: [
    ['42', '42.'],
    ['007', '7'],
    ['+5', '5'],
    ['−5', '-5'],
    ['- 5', '-5'],
    ['(5)', '5'],
    ['-0', '0'],
    ['12345678901234567890', '12,345,678,901,234,567,890'],
  ],
  decimals: [
    ['0.5', '.5'],
    ['5.', '5.00'],
    ['100000000000000000001', '100000000000000000001.0'],
  ],
  'thousands separators': [
    ['1,000', '1000'],
    ['1{,}000', '1000'],
    ['1\\,000', '1000'],
    ['1\\!,000', '1000'],
    ['1\u202f234\u202f567', '1234567'],
    ['1,234.50', '1234.5'],
  ],
  fractions: [
    ['1/2', '0.5'],
    ['2/4', '1/2'],
    ['-3 / 4', '-0.75'],
    ['-3/-4', '3/4'],
    ['\\frac{1}{2}', '1/2'],
    ['\\dfrac{3}{4}', '\\frac34'],
    ['\\tfrac{-1}{2}', '-0.5'],
    ['-\\frac{1}{2}', '\\frac{1}{-2}'],
    ['½', '\\frac{1}{2}'],
    ['1/10', '0.1'],
    ['0.3/0.1', '3'],
  ],
  'mixed numbers': [
    ['1 1/2', '1.5'],
    ['1\\frac{1}{2}', '3/2'],
    ['1½', '3/2'],
    ['-2 3/4', '-11/4'],
  ],
  percent: [
    ['50%', '0.5'],
    ['50\\%', '1/2'],
    ['50 percent', '50 %'],
    ['12.5%', '1/8'],
    ['0.5 per cent', '0.5%'],
    ['50%', '50'],
    ['18', '18 %'],
    ['-3', '-3%'],
  ],
  'scientific notation': [
    ['1.2e5', '120000'],
    ['1.2E+5', '120,000'],
    ['1.2 \\times 10^{5}', '120000'],
    ['1.2×10⁵', '120000'],
    ['3*10^-2', '0.03'],
    ['10^{-3}', '0.001'],
    ['6.02 \\cdot 10^{23}', '602000000000000000000000'],
  ],
  'units and currency signs': [
    ['$18', '18'],
    ['\\$18', '18 dollars'],
    ['$\\$18$', '$18.00'],
    ['-$5', '$-5'],
    ['€5', '5 euros'],
    ['18€', '18'],
    ['42 apples', '42'],
    ['42 Apples', '42 apple'],
    ['5\\text{ cm}', '5cm'],
    ['5 cm^2', '5 cm²'],
    ['5 cm^{2}', '5'],
    ['5 km/h', '5 km per hour'],
    ['60 miles per hour', '60'],
    ['3 hrs', '3 hours'],
    ['90^\\circ', '90 degrees'],
    ['90^{\\circ}', '90°'],
    ['90°', '90'],
    ['5 million', '5,000,000'],
    ['$2.5 million', '2500000 dollars'],
    ['$5 per hour', '5'],
  ],
  'LaTeX wrappers': [
    ['$42$', '42'],
    ['$$42$$', '42'],
    ['\\(42\\)', '42'],
    ['\\[ 42 \\]', '42'],
    ['\\boxed{42}', '42'],
    ['\\text{Paris}', 'Paris'],
    ['\\mathrm{Paris}', 'paris'],
    ['\\left(\\frac{1}{2}, 3\\right)', '(0.5, 3)'],
    ['\\frac{\\sqrt{3}}{2}', '\\dfrac{\\sqrt3}{2}'],
    ['2\\pi', '2π'],
    ['x = 5', '5'],
    ['$x=\\frac{1}{2}$', '0.5'],
  ],
  'sets, tuples and lists': [
    ['(1,2)', '( 1 , 2 )'],
    ['(1, \\frac{1}{2})', '(1, 0.5)'],
    ['\\{1,2,3\\}', '{1, 2, 3}'],
    ['\\{1,2,3\\}', '1, 2, 3'],
    ['1, 2 and 3', '1,2,3'],
    ['1, 2, and 3', '(1, 2, 3)'],
    ['2 and 3', '2, 3'],
    ['x = 2 or x = 3', '2, 3'],
    ['[0, \\infty)', '[0,∞)'],
    ['{5}', '5'],
    ['((1,2),(3,4))', '((1, 2), (3, 4))'],
    ['(1,000, 2,000)', '(1000, 2000)'],
    ['(1,234)', '(1, 234)'],
    ['Alice, Bob', 'alice,bob'],
  ],
  'choice letters': [
    ['(B)', 'B'],
    ['(b)', 'B.'],
    ['B)', 'Option B'],
    ['\\text{(B)}', 'B'],
    ['(B) Paris', 'B'],
    ['B. Paris', '(B)'],
    ['**C**', 'choice (C)'],
  ],
  words: [
    ['Paris', ' PARIS. '],
    ['the Eiffel  Tower', 'Eiffel tower'],
    ['"Paris"', 'Paris'],
    ['Done!', 'done'],
    ['É', 'E\u0301'],
  ],
  truths: [
    ['Yes.', 'yes'],
    ['True', 'yes'],
    ['no', 'False'],
    ['No, it is not', 'no'],
  ],
  formulas: [
    ['2x + 1', '2x+1'],
    ['x^2 - 1', 'x^2-1'],
    ['5!', '5 !'],
  ],
};

const different: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  numbers: [
    ['5', '-5'],
    ['1/3', '0.333'],
    ['1/3', '0.3333333333333333'],
    ['0.1', '0.10000000000000001'],
    ['100000000000000000001', '100000000000000000000'],
    ['1.234', '1,234'],
    ['1 2/3', '12/3'],
    ['1/0', '0'],
    ['1/0', '2/0'],
    ['1e5', '1e6'],
    ['1e999999999', '1'],
    ['3:4', '3/4'],
    ['12:30', '12'],
    ['', '0'],
    ['5', 'five'],
  ],
  percent: [
    ['0.5%', '0.5'],
    ['1', '1%'],
    ['$18', '18%'],
    ['50%', '5000%'],
    ['50%', '5'],
    ['50%', '51'],
  ],
  'what is no unit': [
    ['2x', '2'],
    ['2 x', '2'],
    ['5m', '5'],
    ['2\\pi', '2'],
    ['2 pi', '2'],
    ['5!', '5'],
    ['2\\sqrt{3}', '2'],
    ['5 million', '5'],
    ['5 dozen', '5'],
    ['2 thirds', '2'],
    ['5 more than x', '5'],
    ['5 less', '5'],
    ['3 squared', '3'],
    ['3 or more', '3'],
    ['5 of them were never seen again', '5'],
  ],
  units: [
    ['5 cm', '5 kg'],
    ['5 cm', '5 m'],
    ['5 cm', '5 cm^2'],
    ['$5', '5 cents'],
    ['$5', '€5'],
    ['5 am', '5 pm'],
    ['42 apples', '42 pears'],
  ],
  'sets, tuples and lists': [
    ['(1,2)', '(2,1)'],
    ['(1,2)', '[1,2]'],
    ['(0,1]', '[0,1)'],
    ['{1,2}', '(1,2)'],
    ['(1,2)', '(1,2,3)'],
    ['(1,2)', '1'],
    ['1, 2', '12'],
    ['2 and 3', '2'],
    ['[]', ''],
    ['((1,2),3)', '(1,(2,3))'],
  ],
  'choice letters': [
    ['A', 'B'],
    ['(A) Paris', '(B) Paris'],
    ['(A) or (B)', 'A'],
    ['A', 'An apple'],
    ['B', 'Paris'],
  ],
  words: [
    ['Paris', 'London'],
    ['no solution', 'no'],
    ['yes', 'no'],
    ['true', 'no'],
    ['truly', 'true'],
  ],
  'what says another thing': [
    ['not 18', '18'],
    ['more than 18', '18'],
    ['18 or 19', '18'],
    ['between 17 and 19', '17'],
    ['18 (mod 7)', '18'],
    ['2 (3 + 4)', '2'],
    ['2x + 3 = 7', '7'],
    ['18 percent more', '18'],
    ['18多', '18'],
    ['3万', '3'],
    ['1 23', '123'],
    ['1.23,4', '123.4'],
  ],
  formulas: [
    ['x + 1', '1 + x'],
    ['x = 5', 'y = 5'],
    ['x^2', 'x^3'],
    ['ab + c', 'AB + c'],
  ],
};

describe.each(Object.entries(same))('%s are the same', (_group, pairs) => {
  test.each(pairs)('%j and %j', (left, right) => {
    expect(isSameAnswer(left, right)).toBe(true);
    expect(isSameAnswer(right, left)).toBe(true);
  });
});

describe.each(Object.entries(different))('%s are not the same', (_group, pairs) => {
  test.each(pairs)('%j and %j', (left, right) => {
    expect(isSameAnswer(left, right)).toBe(false);
    expect(isSameAnswer(right, left)).toBe(false);
  });
});

describe('a tolerance', () => {
  test.each([
    // 1/3 − 0.333 = 1/3000, which is 0.001 of 1/3.
    { pair: ['1/3', '0.333'], tolerance: 0.001, expected: true },
    { pair: ['1/3', '0.333'], tolerance: 0.0009, expected: false },
    // The larger one counts, whatever its sign and its place: 10/110 is 0.0909…, 10/100 is 0.1.
    { pair: ['100', '110'], tolerance: 0.091, expected: true },
    { pair: ['-110', '-100'], tolerance: 0.091, expected: true },
    { pair: ['100', '110'], tolerance: 0.09, expected: false },
    { pair: ['0', '0.001'], tolerance: 0.5, expected: false },
    { pair: ['(1, 2)', '(1.01, 2)'], tolerance: 0.01, expected: true },
    { pair: ['0.9999999', '1'], tolerance: 1e-7, expected: true },
    { pair: ['0.9999998', '1'], tolerance: 1e-7, expected: false },
    { pair: ['Paris', 'London'], tolerance: 1, expected: false },
  ])('of $tolerance makes $pair the same: $expected', ({ pair, tolerance, expected }) => {
    const [left = '', right = ''] = pair;
    expect(isSameAnswer(left, right, { tolerance })).toBe(expected);
    expect(isSameAnswer(right, left, { tolerance })).toBe(expected);
  });

  test('is a number from 0 to 1', () => {
    expect(() => isSameAnswer('1', '1', { tolerance: 2 })).toThrow(
      'Expected `tolerance` to be a finite number from 0 to 1, got `2`.',
    );
  });
});

test('texts longer than answers are compared as they are', () => {
  const long = '1 '.repeat(600);
  expect(isSameAnswer(long, ` ${long}`)).toBe(true);
  expect(isSameAnswer(long, `${long}2`)).toBe(false);
});

const pieces = fc.constantFrom(
  ...'0 1 2 . , / % $ ( ) [ ] { } - + e ^ \\ = A b x cm and yes'.split(' '),
  ' ',
  '\\frac',
  '\\text{',
  '\\boxed{',
);
const answer = fc.oneof(
  fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join('')),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);
const whole = fc.integer({ min: -400, max: 400 });
const part = fc.integer({ min: 1, max: 60 });

property([answer, answer])('it does not matter which answer comes first', (left, right) => {
  expect(isSameAnswer(left, right)).toBe(isSameAnswer(right, left));
});

property([answer])('every answer is the same as itself, spaces around it or not', (text) => {
  expect(isSameAnswer(text, text)).toBe(true);
  expect(isSameAnswer(` ${text}`, `${text}\n`)).toBe(true);
});

property([fc.stringMatching(/^[A-Za-z0-9 ,()./+-]{0,10}$/)])(
  'LaTeX around an answer makes no other of it',
  (text) => {
    for (const wrapped of [
      `$${text}$`,
      `\\(${text}\\)`,
      `\\text{${text}}`,
      `\\boxed{\\mbox{${text}}}`,
    ]) {
      expect(isSameAnswer(wrapped, text), wrapped).toBe(true);
    }
  },
);

property([fc.tuple(whole, part), fc.tuple(whole, part)])(
  'two fractions are the same just when their products across are',
  ([top, bottom], [otherTop, otherBottom]) => {
    const expected = top * otherBottom === otherTop * bottom;
    expect(isSameAnswer(`${top}/${bottom}`, `${otherTop}/${otherBottom}`)).toBe(expected);
    const latex = `\\frac{${otherTop}}{${otherBottom}}`;
    expect(isSameAnswer(`${top}/${bottom}`, latex)).toBe(expected);
  },
);

property([whole, fc.integer({ min: 0, max: 6 })])(
  'a decimal is its digits over a power of 10',
  (digits, places) => {
    const written = (digits / 10 ** places).toFixed(places);
    const fraction = `${digits}/1${'0'.repeat(places)}`;
    expect(isSameAnswer(written, fraction)).toBe(true);
    expect(isSameAnswer(written, `${digits}e-${places}`)).toBe(true);
    expect(isSameAnswer(written, `${digits + 1}/1${'0'.repeat(places)}`)).toBe(false);
  },
);
