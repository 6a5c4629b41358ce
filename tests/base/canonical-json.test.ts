import { describe, expect, test } from 'vitest';
import { canonicalJson, contentAddress, expectJson } from '../../src/base/canonical-json.ts';
import { EspalierError } from '../../src/base/errors.ts';

describe('canonicalJson', () => {
  test('sorts keys at every depth, by code unit', () => {
    const value = { b: 1, a: { d: [{ z: 1, y: 2 }], c: null }, B: true, '10': 0, '9': 0 };

    expect(canonicalJson('value', value)).toBe(
      '{"9":0,"10":0,"B":true,"a":{"c":null,"d":[{"y":2,"z":1}]},"b":1}',
    );
  });

  test('is the same text whatever the order of the keys', () => {
    const one = { x: 1, y: [{ a: 'A', b: 'B' }], '2': 'two', '1': 'one' };
    const other = { '1': 'one', y: [{ b: 'B', a: 'A' }], '2': 'two', x: 1 };

    expect(canonicalJson('one', one)).toBe(canonicalJson('other', other));
  });

  test('drops properties that are `undefined`', () => {
    expect(canonicalJson('value', { a: undefined, b: { c: undefined } })).toBe('{"b":{}}');
  });

  test('keeps the order of arrays', () => {
    expect(canonicalJson('value', [3, 1, [2]])).toBe('[3,1,[2]]');
  });

  test('keeps a key that is called `__proto__`', () => {
    const value: unknown = JSON.parse('{"b":1,"__proto__":{"x":1}}');

    expect(canonicalJson('value', value)).toBe('{"__proto__":{"x":1},"b":1}');
  });

  test('takes an object without a prototype', () => {
    const value = Object.assign(Object.create(null) as object, { a: 1 });

    expect(canonicalJson('value', value)).toBe('{"a":1}');
  });

  test.each([null, true, 0, -1.5, '', 'ü "quoted"\n'])('takes the scalar %j', (value) => {
    expect(canonicalJson('value', value)).toBe(JSON.stringify(value));
  });

  test('takes one object in two places, which is no cycle', () => {
    const shared = { a: 1 };

    expect(canonicalJson('value', [shared, shared])).toBe('[{"a":1},{"a":1}]');
  });
});

class Point {
  readonly x = 1;
}

const circle: { inner: { back?: unknown } } = { inner: {} };
circle.inner.back = circle;

describe('a value that JSON cannot hold', () => {
  test.each<[string, unknown, string]>([
    ['`NaN`', { a: [Number.NaN] }, 'value.a.0'],
    ['`Infinity`', { a: Number.POSITIVE_INFINITY }, 'value.a'],
    ['`-Infinity`', Number.NEGATIVE_INFINITY, 'value'],
    ['`undefined`', undefined, 'value'],
    ['`undefined`', [1, undefined], 'value.1'],
    ['a bigint', { deep: { n: 1n } }, 'value.deep.n'],
    ['a function', { run: () => 1 }, 'value.run'],
    ['a symbol', [Symbol('s')], 'value.0'],
    ['a Map', { board: new Map() }, 'value.board'],
    ['a Set', new Set(), 'value'],
    ['a Date', [{ at: new Date(0) }], 'value.0.at'],
    ['a Point', { point: new Point() }, 'value.point'],
    ['a Uint8Array', new Uint8Array(1), 'value'],
    ['a cycle', circle, 'value.inner.back'],
  ])('is named: %s', (what, value, path) => {
    expect(() => canonicalJson('value', value)).toThrow(
      `Expected \`value\` to be JSON, got ${what} at \`${path}\`.`,
    );
  });

  test('is a usage error', () => {
    try {
      expectJson('input', 1n);
      expect.unreachable();
    } catch (error) {
      expect(EspalierError.isInstance(error) && error.code).toBe('usage');
    }
  });
});

test('expectJson gives back what is JSON', () => {
  const value = { a: [1] };

  expect(expectJson('value', value)).toBe(value);
});

describe('contentAddress', () => {
  test('is the SHA-256 of the text in base64url', () => {
    // openssl dgst -sha256 -binary | basenc --base64url
    expect(contentAddress('')).toBe('47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU');
    expect(contentAddress('{"a":1,"b":[true,null,"x"]}')).toBe(
      '7KjPsxq3RTPh6y9MdNLVXf48eaxwR4flS-hkfqd3frE',
    );
  });

  test('is that of the text in UTF-8', () => {
    expect(contentAddress('ü')).toBe('YHR0ykdalyTXNgq6caVtXfd-YTUOP3JM-h9G6Ffi2F8');
  });
});
