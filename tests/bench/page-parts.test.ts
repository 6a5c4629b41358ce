import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { paretoFront } from '../../src/bench/page/pareto.ts';
import {
  compact,
  roundValues,
  shareDomain,
  shortLimit,
  ticksThatFit,
} from '../../src/bench/page/scales.ts';
import { style } from '../../src/bench/page/style.ts';
import { property } from '../support/property.ts';

interface Choice {
  readonly cost: number;
  readonly gain: number;
}
const same = (choice: Choice) => choice;

describe('paretoFront', () => {
  test('keeps what nothing beats, the cheapest first', () => {
    const choices = [
      { cost: 3, gain: 0.7 },
      { cost: 1, gain: 0.4 },
      { cost: 2, gain: 0.3 },
      { cost: 4, gain: 0.7 },
      { cost: 3, gain: 0.6 },
    ];
    expect(paretoFront(choices, same)).toEqual([
      { cost: 1, gain: 0.4 },
      { cost: 3, gain: 0.7 },
    ]);
  });

  const choice = fc.record({
    cost: fc.integer({ min: 0, max: 6 }),
    gain: fc.integer({ min: 0, max: 6 }),
  });
  property([fc.array(choice, { maxLength: 12 })])(
    'is what each other choice fails to beat',
    (choices) => {
      const beats = (a: Choice, b: Choice) =>
        a.cost <= b.cost && a.gain >= b.gain && (a.cost < b.cost || a.gain > b.gain);
      const text = (kept: readonly Choice[]) =>
        [...new Set(kept.map(({ cost, gain }) => `${cost}/${gain}`))].sort();
      const unbeaten = choices.filter((one) => !choices.some((other) => beats(other, one)));
      const front = paretoFront(choices, same);
      expect(text(front)).toEqual(text(unbeaten));
      expect(front).toHaveLength(text(front).length);
    },
  );
});

describe('the axes', () => {
  test('label only what has room', () => {
    const label = compact;
    // On 400 units from 1,000 to 32,000 a doubling is 80 wide: 1,024 is 2.7 beside 1,000.
    expect(ticksThatFit([32_000, 1_000, 1_024, 2_000], { width: 400, label })).toEqual([
      1_000, 2_000, 32_000,
    ]);
    expect(ticksThatFit([5], { width: 400, label })).toEqual([5]);
    expect(ticksThatFit([], { width: 400, label })).toEqual([]);
  });

  test('have round values within their limits', () => {
    expect(roundValues(0.03, 0.6)).toEqual([0.05, 0.1, 0.2, 0.5]);
    expect(roundValues(1, 10)).toEqual([1, 2, 5, 10]);
    expect(roundValues(113, 188)).toEqual([]);
  });

  test('hold all shares, in whole tenths, with some width', () => {
    expect(shareDomain([0.142, 0.971])).toEqual([0.1, 1]);
    expect(shareDomain([0.5, 0.5])).toEqual([0.4, 0.6]);
    expect(shareDomain([0, 0])).toEqual([0, 0.2]);
    expect(shareDomain([1, 1])).toEqual([0.8, 1]);
    expect(shareDomain([0.41, 0.42])).toEqual([0.3, 0.6]);
  });

  test('say limits in few letters', () => {
    expect(shortLimit({ unit: 'tokens', limit: 2_000 })).toBe('2k');
    expect(shortLimit({ unit: 'tokens', limit: 1_500_000 })).toBe('1.5M');
    expect(shortLimit({ unit: 'usd', limit: 0.05 })).toBe('$0.05');
    expect(shortLimit({ unit: 'usd', limit: 0.001 })).toBe('$0.001');
    expect(shortLimit({ unit: 'usd', limit: 2.5 })).toBe('$2.5');
    expect(shortLimit({ unit: 'ms', limit: 200 })).toBe('200 ms');
    expect(shortLimit({ unit: 'ms', limit: 1_500 })).toBe('1.5 s');
  });
});

describe('the colours', () => {
  const [light = '', dark = ''] = style.split('@media (prefers-color-scheme: dark)');
  const [darkOnly = '', print = ''] = dark.split('@media print');

  test.each([
    ['light', light],
    ['dark', darkOnly],
    ['print', print],
  ])(
    'of methods stand out from the page and from each other, however one sees them: %s',
    (_, sheet) => {
      const colour = (name: string) =>
        new RegExp(`--${name}: #([0-9a-f]{6})`).exec(sheet)?.[1] ?? '';
      const page = linear(colour('page'));
      const marks = ['baseline', ...Array.from({ length: 6 }, (_none, at) => `series-${at}`)].map(
        colour,
      );
      expect(new Set(marks).size).toBe(7);
      for (const mark of marks) expect(contrast(linear(mark), page)).toBeGreaterThanOrEqual(3);
      for (const sight of Object.values(sights)) {
        const seen = marks.map((mark) => lab(sight.map((row) => dot(row, linear(mark)))));
        for (const [at, one] of seen.entries()) {
          for (const other of seen.slice(at + 1)) {
            expect(
              Math.hypot(...one.map((value, axis) => value - (other[axis] ?? 0))),
            ).toBeGreaterThan(20);
          }
        }
      }
    },
  );
});

/** What people see of linear RGB: Machado, Oliveira and Fernandes, 2009, severity 1, and usual sight. */
const sights = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
} as const;

function linear(hex: string): readonly number[] {
  return [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
}

function dot(row: readonly number[], colour: readonly number[]): number {
  return row.reduce((sum, value, at) => sum + value * (colour[at] ?? 0), 0);
}

/** WCAG 2.2's contrast. */
function contrast(a: readonly number[], b: readonly number[]): number {
  const [one, other] = [a, b].map((colour) => dot([0.2126, 0.7152, 0.0722], colour) + 0.05);
  return Math.max(one ?? 0, other ?? 0) / Math.min(one ?? 1, other ?? 1);
}

/** CIE 1976 L*a*b* at D65. */
function lab(colour: readonly number[]): readonly number[] {
  const within = colour.map((part) => Math.min(1, Math.max(0, part)));
  const curve = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = curve(dot([0.4124, 0.3576, 0.1805], within) / 0.95047);
  const y = curve(dot([0.2126, 0.7152, 0.0722], within));
  const z = curve(dot([0.0193, 0.1192, 0.9505], within) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
