import { describe, expect, test } from 'vitest';
import {
  byMinMax,
  byParentAndSiblings,
  completedByMixValue,
  descend,
  flat,
  gumbel,
  maxBackup,
  meanBackup,
  mixedWithEvaluation,
  puct,
  search,
  uct,
  virtualLoss,
} from '../../src/index.ts';

/** What callers without types may write. */
type Loose = never;
type Refused = readonly (readonly [text: string, call: () => unknown, sentence: string])[];

const loose = (value: unknown) => value as Loose;

async function expectRefused(call: () => unknown, sentence: string): Promise<void> {
  const refused = expect(async () => await call()).rejects;
  await refused.toThrow(sentence);
  await refused.toMatchObject({ code: 'usage' });
}

describe('a rule of the tree', () => {
  const refused: Refused = [
    ...[puct, uct].flatMap((rule): Refused => {
      const name = rule.name;
      const withOption = (option: object) => () => rule(loose(option));
      return [
        [`${name} qtransform: 'x'`, withOption({ qtransform: 'x' }), '`qtransform` to be a func'],
        [`${name} unvisited: 'x'`, withOption({ unvisited: 'x' }), '`unvisited` to be a function'],
        [
          `${name} inFlight: 'unobserved'`,
          withOption({ inFlight: 'unobserved' }),
          '`inFlight` to be an object with a method `visits`, got `"unobserved"`.',
        ],
        [
          `${name} inFlight: virtualLoss`,
          withOption({ inFlight: virtualLoss }),
          'got a function. Call it, as in `inFlight: virtualLoss()`.',
        ],
      ];
    }),
    ['puct parentVisits: 5', () => puct(loose({ parentVisits: 5 })), '`parentVisits` to be a func'],
    ['byParentAndSiblings()', () => loose(byParentAndSiblings)(), 'not `byParentAndSiblings()`'],
    ['meanBackup()', () => loose(meanBackup)(), 'write `meanBackup`, not `meanBackup()`'],
    ['maxBackup({})', () => loose(maxBackup)({}), 'write `maxBackup`, not `maxBackup()`'],
    ['byMinMax min', () => byMinMax(loose({ min: 'a', max: {} })), '`min` to be a finite number'],
    ['byMinMax order', () => byMinMax({ min: 1, max: 0 }), '`max` to be above `min`, which is `1`'],
    [
      "mixedWithEvaluation('0.5')",
      () => mixedWithEvaluation(loose('0.5')),
      '`weight` to be a finite number from 0 to 1, got `"0.5"`',
    ],
    ['scored', () => completedByMixValue(loose({ scored: 'no' })), '`scored` to be true or false'],
    ['rescale', () => completedByMixValue(loose({ rescale: 0 })), '`rescale` to be true or false'],
    ['gumbel scored', () => gumbel(loose({ scored: 'no' })), '`scored` to be true or false'],
    ['revisit', () => descend(uct(), loose({ revisit: 'no' })), '`revisit` to be true or false'],
    ['ties', () => flat(() => 0, loose({ ties: 'rand' })), "`ties` to be 'first' or 'random'"],
    ['widening', () => descend(uct(), loose({ widening: 3 })), '`widening` to be a function'],
  ];
  test.each(refused)('refuses %s', async (_text, call, sentence) => {
    await expectRefused(call, sentence);
  });
});

test('a search refuses `retryFailed` that is neither true nor false', async () => {
  const environment = { name: 'one', reset: () => ({ state: 0 }), step: () => ({ state: 1 }) };
  const options = { policy: () => [{ action: 1 }], evaluator: () => 0.5, retryFailed: 'no' };
  await expectRefused(
    () => search(environment, loose(options)),
    '`retryFailed` to be true or false, got `"no"`',
  );
});
