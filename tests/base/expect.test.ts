import { describe, expect, test } from 'vitest';
import {
  describeValue,
  expectation,
  expectFunction,
  expectInteger,
  expectMethods,
  expectNumber,
  expectOneOf,
} from '../../src/base/expect.ts';

test('an expectation is a usage error in one sentence', () => {
  const error = expectation('budget.usd', 'a finite number', 'much');

  expect(error.code).toBe('usage');
  expect(error.message).toBe('Expected `budget.usd` to be a finite number, got `"much"`.');
});

test.each<[unknown, string]>([
  [undefined, '`undefined`'],
  [null, '`null`'],
  [1.5, '`1.5`'],
  [Number.NaN, '`NaN`'],
  [12n, '`12`'],
  [true, '`true`'],
  ['a "word"', '`"a \\"word\\""`'],
  [[1, 2, 3], 'an array of 3'],
  [{ a: 1 }, 'an object'],
  [() => 1, 'a function'],
  [Symbol('s'), 'a symbol'],
])('%s is described as %s', (value, description) => {
  expect(describeValue(value)).toBe(description);
});

test('a long text is described by its first 57 characters', () => {
  expect(describeValue('x'.repeat(61))).toBe(`\`"${'x'.repeat(57)}…"\``);
  expect(describeValue('x'.repeat(60))).toBe(`\`"${'x'.repeat(60)}"\``);
});

describe('expectInteger', () => {
  test('takes the integers of its range, both ends included', () => {
    for (const value of [1, 5, 10]) expectInteger('n', value, { min: 1, max: 10 });
    expectInteger('n', -3);
    expect(() => expectInteger('n', 0, { min: 1, max: 10 })).toThrow(
      'Expected `n` to be an integer from 1 to 10, got `0`.',
    );
    expect(() => expectInteger('n', 11, { min: 1, max: 10 })).toThrow('got `11`');
  });

  test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, '3', null, undefined])(
    'refuses %s',
    (value) => {
      expect(() => expectInteger('n', value, { min: 1 })).toThrow(
        `Expected \`n\` to be an integer from 1 up, got ${describeValue(value)}.`,
      );
    },
  );

  test('takes Infinity only where the greatest is Infinity', () => {
    expectInteger('n', Number.POSITIVE_INFINITY, { min: 1, max: Number.POSITIVE_INFINITY });
    expect(() => expectInteger('n', 1.5, { min: 1, max: Number.POSITIVE_INFINITY })).toThrow(
      'an integer from 1 up',
    );
  });
});

describe('expectNumber', () => {
  test('takes finite numbers of its range', () => {
    for (const value of [0, 0.5, 1]) expectNumber('c', value, { min: 0, max: 1 });
    expect(() => expectNumber('c', 1.01, { min: 0, max: 1 })).toThrow(
      'Expected `c` to be a finite number from 0 to 1, got `1.01`.',
    );
    expect(() => expectNumber('c', 2, { max: 1 })).toThrow('a finite number up to 1, got `2`');
    expect(() => expectNumber('c', Number.NaN)).toThrow('a finite number, got `NaN`');
    expect(() => expectNumber('c', '1')).toThrow('got `"1"`');
  });
});

test('expectOneOf lists the options', () => {
  expectOneOf('order', 'issued', ['arrival', 'issued']);
  expect(() => expectOneOf('order', 'random', ['arrival', 'issued'])).toThrow(
    "Expected `order` to be 'arrival' or 'issued', got `\"random\"`.",
  );
});

test('expectFunction takes functions and nothing else', () => {
  expectFunction('rule', () => 1);
  expect(() => expectFunction('rule', {})).toThrow(
    'Expected `rule` to be a function, got an object.',
  );
});

test('expectMethods names the first method that is missing', () => {
  expectMethods('policy', { propose: () => [] }, ['propose']);
  expect(() => expectMethods('policy', { propose: 1 }, ['propose'])).toThrow(
    'Expected `policy` to be an object with a method `propose`, got one without it.',
  );
  expect(() => expectMethods('policy', null, ['propose'])).toThrow('got `null`');
});

test('a promise is named, with what to do', () => {
  const { message } = expectation('model', 'a language model', Promise.resolve(1));
  expect(message).toBe(
    'Expected `model` to be a language model, got a promise. Put `await` before it.',
  );
});
