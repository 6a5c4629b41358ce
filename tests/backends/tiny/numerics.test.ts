import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cos, exp, log, sin } from '../../../src/backends/tiny/numerics.ts';
import { property } from '../../support/property.ts';

const angle = fc.double({ min: -1e5, max: 1e5, noNaN: true });

describe('against the functions of V8, which are good to about one unit in the last place', () => {
  property([fc.double({ min: -708, max: 709, noNaN: true })])('exp', (x) => {
    expect(Math.abs(exp(x) / Math.exp(x) - 1)).toBeLessThan(1e-15);
  });

  property([fc.double({ min: Number.MIN_VALUE, noNaN: true, noDefaultInfinity: true })])(
    'log',
    (x) => {
      const wanted = Math.log(x);
      expect(Math.abs(log(x) - wanted)).toBeLessThanOrEqual(1e-15 * Math.abs(wanted));
    },
  );

  property([fc.double({ min: 0.99, max: 1.01, noNaN: true })])('log near 1', (x) => {
    const wanted = Math.log(x);
    expect(Math.abs(log(x) - wanted)).toBeLessThanOrEqual(1e-15 * Math.abs(wanted));
  });

  property([angle])('sin and cos', (x) => {
    expect(Math.abs(sin(x) - Math.sin(x))).toBeLessThan(1e-15);
    expect(Math.abs(cos(x) - Math.cos(x))).toBeLessThan(1e-15);
  });
});

test('fixed points and ends', () => {
  expect([exp(0), log(1), sin(0), cos(0)]).toEqual([1, 0, 0, 1]);
  expect([exp(-800), exp(Number.NEGATIVE_INFINITY)]).toEqual([0, 0]);
  expect([exp(710), exp(Number.POSITIVE_INFINITY)]).toEqual([Infinity, Infinity]);
  expect([log(0), log(Number.POSITIVE_INFINITY)]).toEqual([-Infinity, Infinity]);
  expect([log(-1), log(Number.NaN), exp(Number.NaN)]).toEqual([NaN, NaN, NaN]);
  expect(exp(-745)).toBe(5e-324);
});

test('the bits are fixed', () => {
  // Worked out once; every platform must agree.
  expect(
    [exp(1), exp(-10.5), log(10), log(0.3), sin(1e4), cos(1e4)].map(hex),
  ).toMatchInlineSnapshot(`
    [
      "4005bf0a8b14576a",
      "3efcdfc263f6a0ba",
      "40026bb1bbb55516",
      "bff34378fcbda721",
      "bfd38f2fa75d9289",
      "bfee780e88ec4409",
    ]
  `);
});

function hex(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16).padStart(16, '0');
}
