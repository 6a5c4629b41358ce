import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { unobserved, virtualLoss } from '../../src/tree/in-flight.ts';
import { puct, thompson, uct } from '../../src/tree/selection.ts';
import { noRandom, stats } from './grow.ts';

describe('uct', () => {
  test('adds √2 · √(ln N(parent) / N(child)) to Q by default', () => {
    const score = uct()(stats({ visits: 10 }), noRandom);

    // 0.5 + 1.4142135623730951 · √(2.302585092994046 / 3)
    expect(score(stats({ visits: 3, value: 0.5 }))).toBeCloseTo(1.7389740629499464, 14);
  });

  test('weighs exploration by c', () => {
    const score = uct({ c: 0.7 })(stats({ visits: 16 }), noRandom);

    // 0.25 + 0.7 · √(2.772588722239781 / 4)
    expect(score(stats({ visits: 4, value: 0.25 }))).toBeCloseTo(0.8327882278103883, 14);
  });

  test('ranks an unvisited child above every visited one', () => {
    const score = uct()(stats({ visits: 1_000_000 }), noRandom);

    expect(score(stats())).toBe(Number.POSITIVE_INFINITY);
    expect(score(stats({ visits: 1, value: 1 }))).toBeLessThan(Number.POSITIVE_INFINITY);
  });

  test('scores an unvisited child as `unvisited` says', () => {
    const score = uct({ unvisited: ({ prior }) => 10 * prior })(stats({ visits: 4 }), noRandom);

    expect(score(stats({ prior: 0.3 }))).toBe(3);
  });

  test('reads no logarithm below zero from a parent that was never visited', () => {
    const score = uct()(stats(), noRandom);

    expect(score(stats({ visits: 2, value: 0.25 }))).toBe(0.25);
  });

  test('can count simulations under way as visits and leave Q alone', () => {
    const score = uct({ inFlight: unobserved })(stats({ visits: 8, inFlight: 2 }), noRandom);

    // 0.4 + 1.4142135623730951 · √(ln(8 + 2) / (2 + 1)) = 0.4 + 1.2389740629499464
    expect(score(stats({ visits: 2, inFlight: 1, value: 0.4 }))).toBeCloseTo(
      1.6389740629499463,
      14,
    );
  });

  test('no longer puts an unvisited child first once a simulation is under way there', () => {
    const score = uct()(stats({ visits: 8, inFlight: 2 }), noRandom);

    // 0 + 1.4142135623730951 · √(2.302585092994046 / 1)
    expect(score(stats({ inFlight: 1 }))).toBeCloseTo(2.1459660262893472, 14);
  });

  test('counts simulations under way as visits that returned 0 by default', () => {
    const score = uct()(stats({ visits: 8, inFlight: 2 }), noRandom);

    // Q = (2 · 0.4 + 1 · 0) / 3 = 0.26666666666666666; the exploration term is 1.2389740629499464
    expect(score(stats({ visits: 2, inFlight: 1, value: 0.4 }))).toBeCloseTo(1.505640729616613, 14);
  });

  test('puts the transformed value in place of Q', () => {
    const rule = uct({ c: 0, qtransform: () => (child) => child.value / 10 });

    expect(rule(stats({ visits: 5 }), noRandom)(stats({ visits: 1, value: 7 }))).toBeCloseTo(0.7);
  });
});

describe('puct', () => {
  test('is the formula of AlphaZero with its constants', () => {
    const score = puct()(stats({ visits: 24 }), noRandom);

    // 0.5 + (1.25 + ln((24 + 19652 + 1) / 19652)) · 0.3 · √24 / (1 + 3)
    //   = 0.5 + (1.25 + 0.0012713266733063) · 0.3 · 4.898979485566356 / 4
    expect(score(stats({ visits: 3, value: 0.5, prior: 0.3 }))).toBeCloseTo(0.9597464420187443, 14);
  });

  test('takes c_init and c_base', () => {
    const score = puct({ cInit: 2, cBase: 10 })(stats({ visits: 9 }), noRandom);

    // 0 + (2 + ln(20 / 10)) · 0.5 · 3 / 1 = 1.5 · 2.6931471805599454
    expect(score(stats({ prior: 0.5 }))).toBeCloseTo(4.039720770839918, 14);
  });

  test('gives an unvisited child the value it is told to', () => {
    const rule = puct({ unvisited: () => 0.4, cInit: 2, cBase: 10 });

    expect(rule(stats({ visits: 9 }), noRandom)(stats({ prior: 0.5 }))).toBeCloseTo(
      4.439720770839918,
      14,
    );
  });

  test('counts simulations under way as visits that returned 0 by default', () => {
    const score = puct()(stats({ visits: 6, inFlight: 3 }), noRandom);

    // (1 · 0.8 + 1 · 0) / 2 + (1.25 + ln(19662 / 19652)) · 0.25 · √9 / (1 + 1 + 1)
    const child = stats({ visits: 1, inFlight: 1, value: 0.8, prior: 0.25 });
    expect(score(child)).toBeCloseTo(0.7126271811595827, 14);
  });

  test('can count simulations under way as visits and leave Q alone', () => {
    const score = puct({ inFlight: unobserved })(stats({ visits: 6, inFlight: 3 }), noRandom);

    // 0.8 + (1.25 + ln(19662 / 19652)) · 0.25 · √9 / (1 + 1 + 1)
    const child = stats({ visits: 1, inFlight: 1, value: 0.8, prior: 0.25 });
    expect(score(child)).toBeCloseTo(1.1126271811595827, 14);
  });

  test('keeps the value of an unvisited child while a simulation is under way there', () => {
    const rule = puct({ unvisited: () => 0.5, inFlight: unobserved });
    const score = rule(stats({ visits: 3, inFlight: 1 }), noRandom);

    // 0.5 + (1.25 + ln(19657 / 19652)) · 0.5 · √4 / (1 + 0 + 1)
    expect(score(stats({ inFlight: 1, prior: 0.5 }))).toBeCloseTo(1.12512719733463, 14);
  });

  test('sees an unvisited child under a virtual loss as that loss', () => {
    const rule = puct({ unvisited: () => 0.5, inFlight: virtualLoss({ loss: -1 }) });
    const score = rule(stats({ visits: 3, inFlight: 1 }), noRandom);

    // −1 + 0.62512719733463
    expect(score(stats({ inFlight: 1, prior: 0.5 }))).toBeCloseTo(-0.37487280266537, 14);
  });

  test('falls back on unvisited values alone before the first visit of the parent', () => {
    const score = puct()(stats(), noRandom);

    expect(score(stats({ prior: 0.9 }))).toBe(0);
  });

  test('takes what is known of an unvisited child, its reward and its evaluation, by default', () => {
    const score = puct()(stats(), noRandom);

    expect(score(stats({ reward: 0.25, rawValue: 0.5 }))).toBe(0.75);
    expect(score(stats({ rawValue: 0.5 }))).toBe(0.5);
    expect(score(stats({ reward: 0.25 }))).toBe(0.25);
    expect(score(stats({ visits: 1, value: 0.125, rawValue: 0.5 }))).toBe(0.125);
  });

  test('puts the transformed value in place of Q for unvisited children too', () => {
    const rule = puct({ unvisited: () => 5, qtransform: () => () => 0.125 });

    expect(rule(stats(), noRandom)(stats({ prior: 0.5 }))).toBe(0.125);
  });
});

describe('thompson', () => {
  test('draws from Beta(1 + N·Q, 1 + N·(1 − Q))', () => {
    const score = thompson()(stats(), seededRandom('thompson'));
    const draws = Array.from({ length: 20_000 }, () => score(stats({ visits: 5, value: 0.6 })));
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
    const variance = draws.reduce((sum, draw) => sum + (draw - mean) ** 2, 0) / draws.length;

    // Beta(4, 3): mean 4 / 7, variance 12 / (49 · 8)
    expect(Math.abs(mean - 0.5714285714285714)).toBeLessThan(0.005);
    expect(Math.abs(variance - 0.030612244897959183)).toBeLessThan(0.0012);
  });

  test('starts from its pseudo-counts', () => {
    const rule = thompson({ pseudoCounts: [9, 1] });
    const score = rule(stats(), seededRandom('pseudo'));
    const draws = Array.from({ length: 20_000 }, () => score(stats()));
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;

    // Beta(9, 1) has mean 0.9 and standard deviation 0.0905, so the mean of 20 000 varies by 0.00064.
    expect(Math.abs(mean - 0.9)).toBeLessThan(0.003);
  });

  test('prefers the better of two children about as often as it is the better one', () => {
    const score = thompson()(stats(), seededRandom('duel'));
    const good = stats({ visits: 1, value: 1 });
    const bad = stats({ visits: 1, value: 0 });
    let wins = 0;
    for (let duel = 0; duel < 10_000; duel++) if (score(good) > score(bad)) wins++;

    // P(X > Y) for X ~ Beta(2, 1), Y ~ Beta(1, 2): ∫ 2x · (1 − (1 − x)²) dx = 4/3 − 1/2 = 5/6
    expect(Math.abs(wins / 10_000 - 0.8333333333333334)).toBeLessThan(0.015);
  });
});
