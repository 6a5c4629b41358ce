import { describe, expect, test } from 'vitest';
import { extractAnswer } from '../../../src/environments/index.ts';

describe('an answer in a box', () => {
  test.each([
    ['So \\boxed{42}.', '42'],
    ['\\boxed{\\frac{1}{2}}', '\\frac{1}{2}'],
    ['\\boxed{\\sqrt{\\frac{a}{b}}} holds', '\\sqrt{\\frac{a}{b}}'],
    ['\\boxed{1} is wrong, it is \\boxed{2}', '2'],
    ['\\boxed{1}, and \\boxed{2', '1'],
    ['\\boxed {7}', '7'],
    ['\\boxed{\\{1,2\\}}', '\\{1,2\\}'],
    ['\\boxed{} The answer is 5.', '5'],
    ['The answer is \\boxed{5} apples.', '5'],
    ['The answer is 4. \\boxed{5}', '5'],
  ])('%j states %j', (text, answer) => {
    expect(extractAnswer(text)).toBe(answer);
  });
});

describe('an answer behind ####', () => {
  test.each([
    ['She has 3.\n#### 18', '18'],
    ['#### $1,000', '$1,000'],
    ['#### -3.5', '-3.5'],
    ['#### 1\n#### 2', '2'],
    ['#### B', 'B'],
  ])('%j states %j', (text, answer) => {
    expect(extractAnswer(text)).toBe(answer);
  });
  test.each(['#### Step 3', '#### Adding up', '##### 18', 'see #### 18'])('%j is none', (text) => {
    expect(extractAnswer(text)).toBeUndefined();
  });
});

describe('an answer in JSON', () => {
  test.each([
    ['{"step": "x", "answer": "42"}', '42'],
    ['{"answer": -7.5}', '-7.5'],
    ['{"answer": true}', 'true'],
    ['{"answer": "a \\"b\\""}', 'a "b"'],
    ['{"answer": "\\frac{1}{2}"}', '\\frac{1}{2}'],
    ['{"answer": null} {"answer": "5"}', '5'],
  ])('%j states %j', (text, answer) => {
    expect(extractAnswer(text)).toBe(answer);
  });
  test.each(['{"answer": null}', '{"answer": ""}', '{"answer": "4'])('%j states none', (text) => {
    expect(extractAnswer(text)).toBeUndefined();
  });
});

describe('an answer in words', () => {
  test.each([
    ['The answer is 42.', '42'],
    ['the final answer is: 3.14.', '3.14'],
    ['Therefore, the answer is $\\frac{1}{2}$.', '$\\frac{1}{2}$'],
    ['The answer to the question is: 1,000 dollars.', '1,000 dollars'],
    ['My answer is **12**.', '12'],
    ['Hence the correct answer would be 5', '5'],
    ['The answer is yes.', 'yes'],
    ['The answer is St. Louis.', 'St. Louis'],
    ['The answer is 3.5 miles. That is all.', '3.5 miles'],
    ['The answer is 5 because 2 + 3 = 5.', '5'],
    ['The answer is 12 apples, so we are done.', '12 apples'],
    ['The answer is 5. Wait, the answer is 6.', '6'],
    ['The answer is:\n\n12', '12'],
    ['If she sells 9 eggs, the answer is 18.', '18'],
    ['We check that 2 + 3 = 5, so the answer is 5.', '5'],
    ['Answer: 42', '42'],
    ['**Answer:** 42', '42'],
    ['**Final Answer**: (B)', '(B)'],
    ['The work is done.\nFinal answer: 7 kg.', '7 kg'],
    ['# Answer\n29', '29'],
    ['The correct option is (B) Paris.', '(B) Paris'],
    ['The best choice is C.', 'C'],
    ['(B)', 'B'],
    [' **(C)** ', 'C'],
  ])('%j states %j', (text, answer) => {
    expect(extractAnswer(text)).toBe(answer);
  });

  test.each([
    '',
    'We add 3 and 4.',
    'There are 42 of them.',
    'This is the answer.',
    'The answer is not 5.',
    'The answer is found by adding 2 and 3.',
    'The answer is the sum of 3 and 4.',
    'The answer is to be found.',
    'Is the answer 5?',
    'So the answer is 5?',
    'If the answer is 5, then x is 2.',
    'Suppose that the answer is 5.',
    'Check whether the answer is 7.',
    'We answer: this is easy',
    '(B) or (C)',
    `The answer is ${'long '.repeat(60)}`,
  ])('%j states none', (text) => {
    expect(extractAnswer(text)).toBeUndefined();
  });
});

test('texts that are made to take long are read within the time of a test', () => {
  // Some 40 ms; what takes quadratic time takes minutes.
  for (const text of [
    '\\boxed{',
    'the answer ',
    '"answer": "',
    '\n# ',
    'answer is ',
    '{"answer":',
  ]) {
    expect(extractAnswer(text.repeat(20_000))).toBeUndefined();
  }
});
