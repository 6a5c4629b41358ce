import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import type { Proposal } from '../../src/contracts/policy.ts';
import { greedy } from '../../src/policies/index.ts';
import { callContext } from '../support/call-context.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, rootNode } from '../support/nodes.ts';

type Letter = 'a' | 'b' | 'c';

const letters: readonly Letter[] = ['a', 'b', 'c'];

/** A policy over three letters with the given scores, and what it proposes. */
function propose(
  scores: readonly number[],
  options: { temperature?: number; count?: number; seed?: number; children?: readonly Letter[] },
) {
  const { temperature, count = Number.POSITIVE_INFINITY, seed = 0, children = [] } = options;
  const policy = greedy({
    actions: () => letters,
    score: (_state: null, action) => scores[letters.indexOf(action)] ?? Number.NaN,
    ...(temperature !== undefined && { temperature }),
  });
  const context = callContext({ random: seededRandom(seed) });
  const request = { environment: environmentOf(), context, count, offset: 0, remaining: noSpend };
  return policy.propose(rootNode(null, children), request) as readonly Proposal<Letter>[];
}

function priors(proposals: readonly Proposal<Letter>[]): readonly number[] {
  return proposals.map((proposal) => ('action' in proposal ? (proposal.prior ?? -1) : -1));
}

function actions(proposals: readonly Proposal<Letter>[]): string {
  return proposals.map((proposal) => ('action' in proposal ? proposal.action : '!')).join('');
}

describe('the priors of the greedy policy', () => {
  it('are the softmax of the scores', () => {
    // e⁰ : e^ln 2 : e^ln 5 = 1 : 2 : 5
    const scores = [0, Math.log(2), Math.log(5)];
    const proposals = propose(scores, { temperature: 1 });
    expect(actions(proposals)).toBe('abc');
    for (const [index, expected] of [1 / 8, 2 / 8, 5 / 8].entries()) {
      expect(priors(proposals)[index]).toBeCloseTo(expected, 12);
    }
    // At temperature 1/2 the weights are squared: 1 : 4 : 25.
    expect(priors(propose(scores, { temperature: 0.5 }))[2]).toBeCloseTo(25 / 30, 12);
  });

  it('are all on the best actions at temperature 0, which is the default', () => {
    expect(priors(propose([1, 3, 2], {}))).toEqual([0, 1, 0]);
    expect(priors(propose([3, 1, 3], { temperature: 0 }))).toEqual([0.5, 0, 0.5]);
  });

  it('stay numbers for extreme scores and temperatures', () => {
    expect(priors(propose([1e300, -1e300, 0], { temperature: 1e-300 }))).toEqual([1, 0, 0]);
    expect(priors(propose([Number.NEGATIVE_INFINITY, 0, 0], { temperature: 1 }))).toEqual([
      0, 0.5, 0.5,
    ]);
    const never = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const prior of priors(propose(never, { temperature: 1 }))) {
      expect(prior).toBeCloseTo(1 / 3, 12);
    }
    expect(priors(propose([Number.POSITIVE_INFINITY, 5, 1], { temperature: 1 }))).toEqual([
      1, 0, 0,
    ]);
  });
});

describe('the draws of the greedy policy', () => {
  it('come with their priors, without putting back', () => {
    // Priors 1/8, 2/8, 5/8: the chance of c then b is 5/8 · 2/3, of a then b 1/8 · 2/7.
    const scores = [0, Math.log(2), Math.log(5)];
    const counts = new Map<string, number>();
    for (let seed = 0; seed < 8_000; seed++) {
      const drawn = actions(propose(scores, { temperature: 1, count: 2, seed }));
      counts.set(drawn, (counts.get(drawn) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    for (const [order, chance] of [
      ['cb', (5 / 8) * (2 / 3)],
      ['ca', (5 / 8) * (1 / 3)],
      ['bc', (2 / 8) * (5 / 6)],
      ['ab', (1 / 8) * (2 / 7)],
    ] as const) {
      const deviation = Math.sqrt(8_000 * chance * (1 - chance));
      expect(Math.abs((counts.get(order) ?? 0) - 8_000 * chance)).toBeLessThan(4 * deviation);
    }
    const [prior] = priors(propose(scores, { temperature: 1, count: 1, seed: 3 }));
    expect([1 / 8, 2 / 8, 5 / 8].some((chance) => Math.abs(chance - (prior ?? 0)) < 1e-12)).toBe(
      true,
    );
  });

  it('follow the scores at temperature 0, with ties in random order', () => {
    const orders = new Set<string>();
    for (let seed = 0; seed < 100; seed++) {
      orders.add(actions(propose([3, 3, 5], { count: 2, seed })));
    }
    expect([...orders].toSorted()).toEqual(['ca', 'cb']);
  });

  it('leave out what the node has, at unchanged priors', () => {
    const scores = [0, Math.log(2), Math.log(5)];
    const rest = propose(scores, { temperature: 1, children: ['c'] });
    expect(actions(rest)).toBe('ab');
    expect(priors(rest)[1]).toBeCloseTo(2 / 8, 12);
  });
});

describe('the options of the greedy policy', () => {
  it('are checked', () => {
    expect(() => propose([1, 2, 3], { temperature: -1 })).toThrow(
      'Expected `temperature` to be a finite number from 0 up, got `-1`.',
    );
    expect(() => propose([1, 2, 3], { temperature: Number.NaN })).toThrow('`temperature`');
    const score = () => 0;
    expect(() => greedy({ actions: undefined as never, score })).toThrow(
      'Expected `actions` to be a function, got `undefined`.',
    );
    expect(() => greedy({ actions: () => [], score: 1 as never })).toThrow('`score`');
    expect(() => propose([1, Number.NaN, 3], {})).toThrow(
      'Expected `score` to be a function that returns a number, got `NaN`.',
    );
  });
});
