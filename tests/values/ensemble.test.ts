import { describe, expect, it } from 'vitest';
import { EspalierError } from '../../src/base/errors.ts';
import type { Evaluation } from '../../src/contracts/evaluation.ts';
import type { Evaluator } from '../../src/contracts/evaluator.ts';
import type { Failed } from '../../src/contracts/failure.ts';
import type { Oracle } from '../../src/contracts/verifier.ts';
import { ensemble } from '../../src/values/combine/ensemble.ts';
import { hybridWeight } from '../../src/values/combine/hybrid-weight.ts';
import { callContext } from '../support/call-context.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, realisedNode } from '../support/nodes.ts';

/** Equal but for rounding. */
const near = (value: number): unknown => expect.closeTo(value, 12);

const request = { environment: environmentOf(), context: callContext(), remaining: noSpend };
const failure: Failed = { failure: { kind: 'parse', message: 'No number.' } };
const nodes = [realisedNode(0, 0), realisedNode(1, 1)];

/** Says of state `s` what stands at place `s`. */
function says(
  verdicts: readonly (Evaluation | Failed | number)[],
  changes: Partial<Evaluator<number, number>> = {},
): Evaluator<number, number> {
  return {
    needs: 'realised',
    evaluate: (asked) =>
      asked.map(({ state = 0 }) => {
        const verdict = verdicts[state] ?? failure;
        return typeof verdict === 'number' ? { value: verdict } : verdict;
      }),
    ...changes,
  };
}

const a = { name: 'a', evaluator: says([0.2, 1]) };
const b = { name: 'b', evaluator: says([0.8, 0.5]) };

function valuesOf(options: Parameters<typeof ensemble<number, number>>[0]): readonly unknown[] {
  const verdicts = ensemble(options).evaluate(nodes, request) as readonly (Evaluation | Failed)[];
  return verdicts.map((verdict) => ('failure' in verdict ? verdict : verdict.value));
}

describe('an ensemble', () => {
  it('is the weighted mean of its parts, whatever the weights sum to', () => {
    const parts = [{ ...a, weight: 3 }, b];
    // (3 · 0.2 + 0.8) / 4 and (3 · 1 + 0.5) / 4.
    expect(ensemble({ parts }).evaluate(nodes, request)).toEqual([
      { value: near(0.35), parts: { a: 0.2, b: 0.8 } },
      { value: 0.875, parts: { a: 1, b: 0.5 } },
    ]);
    expect(valuesOf({ parts: [a, b] })).toEqual([0.5, 0.75]);
  });

  it('may be the least, the greatest, or the product', () => {
    expect(valuesOf({ parts: [a, b], combine: 'min' })).toEqual([0.2, 0.5]);
    expect(valuesOf({ parts: [a, b], combine: 'max' })).toEqual([0.8, 1]);
    expect(valuesOf({ parts: [a, b], combine: 'product' })).toEqual([near(0.16), 0.5]);
  });

  it('takes weights from the node', () => {
    const visited = [realisedNode(0, 0, { visits: 0 }), realisedNode(0, 0, { visits: 2 })];
    const weight = hybridWeight({ c: 0.5 });
    const parts = [
      { ...a, weight: ({ visits }: { visits: number }) => weight(visits) },
      { ...b, weight: ({ visits }: { visits: number }) => 1 - weight(visits) },
    ];
    // w(0) = 1 and w(2) = 0.5 / 2.5 = 0.2: 0.2 · 0.2 + 0.8 · 0.8.
    const verdicts = ensemble({ parts }).evaluate(visited, request) as readonly Evaluation[];
    expect(verdicts.map(({ value }) => value)).toEqual([0.2, near(0.68)]);
  });

  it('fails a node whose weights are no weights, and no other', () => {
    const weight = ({ state }: { state?: number | undefined }) => (state === 0 ? -1 : 1);
    expect(valuesOf({ parts: [{ ...a, weight }, b] })).toEqual([
      {
        failure: {
          kind: 'invalid',
          message: 'Expected the weight of a to be a number from 0 up, got `-1`.',
        },
      },
      0.75,
    ]);
    const [first] = valuesOf({ parts: [{ ...a, weight: 0 }] });
    expect(first).toMatchObject({ failure: { kind: 'invalid' } });
    const thrown = () => {
      throw new Error('no weight');
    };
    expect(valuesOf({ parts: [{ ...a, weight: thrown }] })[0]).toEqual({
      failure: {
        kind: 'invalid',
        message: 'no weight',
      },
    });
  });

  it('keeps what its parts were made of, why, and what they could not read', () => {
    const inner = says([
      { value: 0.5, parts: { x: 0.1, y: 0.9 }, rationale: 'so so', unscored: 2 },
    ]);
    const outer = says([{ value: 1, rationale: 'fine', unscored: 1 }]);
    const parts = [
      { name: 'inner', evaluator: inner },
      { name: 'outer', evaluator: outer },
    ];
    expect(ensemble({ parts }).evaluate(nodes.slice(0, 1), request)).toEqual([
      {
        value: 0.75,
        parts: { inner: 0.5, 'inner/x': 0.1, 'inner/y': 0.9, outer: 1 },
        rationale: 'inner: so so\nouter: fine',
        unscored: 3,
      },
    ]);
  });
});

describe('an ensemble with a part that fails', () => {
  const broken = { name: 'broken', evaluator: says([failure, 0.1]) };

  it('fails the node, or leaves the part out', () => {
    expect(valuesOf({ parts: [broken, a] })).toEqual([
      { failure: { kind: 'parse', message: 'broken: No number.' } },
      near(0.55),
    ]);
    const left = ensemble({ parts: [{ ...broken, weight: 9 }, a, b], onFailure: 'leave-out' });
    expect(left.evaluate(nodes.slice(0, 1), request)).toEqual([
      { value: 0.5, parts: { a: 0.2, b: 0.8 }, rationale: 'broken failed: No number.' },
    ]);
    expect(valuesOf({ parts: [broken], onFailure: 'leave-out' })).toEqual([
      { failure: { kind: 'parse', message: 'broken: No number.' } },
      0.1,
    ]);
  });

  it('takes a part that throws, or breaks its contract, for one that fails', () => {
    const throwing = says([], {
      evaluate: () => {
        throw new Error('out of order');
      },
    });
    const short = says([], { evaluate: () => [{ value: 1 }] });
    const wild = says([{ value: 1.5 }, { value: Number.NaN }]);
    for (const [evaluator, message] of [
      [throwing, 'x: out of order'],
      [short, 'x: Expected 2 evaluations, got 1.'],
      [wild, 'x: Expected `value` to be a number from 0 to 1, got `1.5`.'],
    ] as const) {
      expect(valuesOf({ parts: [{ name: 'x', evaluator }, a] })[0]).toMatchObject({
        failure: { message },
      });
      const options = { parts: [{ name: 'x', evaluator }, a], onFailure: 'leave-out' } as const;
      expect(valuesOf(options)).toEqual([0.2, 1]);
    }
  });

  it('ends with the search', async () => {
    const spent = new EspalierError('budget', 'Nothing is left.');
    const poor = { name: 'poor', evaluator: says([], { evaluate: () => Promise.reject(spent) }) };
    const both = ensemble({ parts: [a, poor], onFailure: 'leave-out' });
    await expect(both.evaluate(nodes, request)).rejects.toBe(spent);
  });
});

describe('the parts of an ensemble', () => {
  it('are asked side by side, each once about all nodes', async () => {
    const running = { now: 0, most: 0 };
    const slow = (evaluator: Evaluator<number, number>) => {
      const evaluate: typeof evaluator.evaluate = async (asked, given) => {
        running.now += 1;
        running.most = Math.max(running.most, running.now);
        await Promise.resolve();
        running.now -= 1;
        return evaluator.evaluate(asked, given);
      };
      return { ...evaluator, evaluate };
    };
    const parts = [a, b].map(({ name, evaluator }) => ({ name, evaluator: slow(evaluator) }));
    expect(await ensemble({ parts }).evaluate(nodes, request)).toMatchObject([
      { value: 0.5 },
      { value: 0.75 },
    ]);
    expect(running).toEqual({ now: 0, most: 2 });
  });

  it('tell of their stamps and prompts', () => {
    const one = { ...a, evaluator: says([], { stamps: ['x'], prompts: { p: '1' } }) };
    const other = { ...b, evaluator: says([], { stamps: ['x', 'y'] }) };
    expect(ensemble({ parts: [one, other] })).toMatchObject({
      stamps: ['x', 'y'],
      prompts: { p: '1' },
    });
  });

  it('simulate where one of them does, by the same blend', () => {
    expect(ensemble({ parts: [a, b] }).simulate).toBeUndefined();
    const simulate = () => [{ value: 0 }, { value: 0.25 }];
    const parts = [{ ...a, evaluator: says([1, 1], { simulate }) }, b];
    expect(ensemble({ parts }).simulate?.(nodes, request)).toMatchObject([
      { value: 0.4, parts: { a: 0, b: 0.8 } },
      { value: 0.375, parts: { a: 0.25, b: 0.5 } },
    ]);
    expect(valuesOf({ parts })).toEqual([0.9, 0.75]);
  });

  it('must fit together', () => {
    const proposed = { name: 'c', evaluator: says([], { needs: 'proposed' }) };
    expect(() => ensemble({ parts: [a, proposed] })).toThrow(
      'Expected `needs of c` to be \'realised\' as that of a, got `"proposed"`.',
    );
    expect(() => ensemble({ parts: [a, { ...b, name: 'a' }] })).toThrow(
      'Expected `parts[1].name` to be a text that no other part has, got `"a"`.',
    );
    expect(() => ensemble({ parts: [] })).toThrow('one part or more');
    expect(() => ensemble({ parts: [{ ...a, weight: -1 }] })).toThrow('parts[0].weight');
    expect(() => ensemble({ parts: [{ ...a, weight: 1 }], combine: 'min' })).toThrow(
      "Expected `parts[0].weight` to be left out if values are combined by 'min', got `1`.",
    );
    expect(() => ensemble({ parts: [a], combine: 'sum' as never })).toThrow('combine');
  });

  it('are no oracles', () => {
    const oracle: Oracle<number> = { label: () => ({ correct: true }) };
    const disguised = { ...oracle, ...says([1]) };
    // @ts-expect-error An oracle is no evaluator.
    expect(() => ensemble({ parts: [{ name: 'gold', evaluator: oracle }] })).toThrow(
      'Expected `parts[0].evaluator` to have a method `evaluate`, got an oracle: gold answers must not guide a search.',
    );
    expect(() => ensemble({ parts: [{ name: 'gold', evaluator: disguised }] })).toThrow('oracle');
  });
});

describe('the hybrid weight', () => {
  it('is c / (N + c)', () => {
    // 0.2 / 0.2, 0.2 / 1.2, 0.2 / 2.2.
    expect([0, 1, 2].map(hybridWeight())).toEqual([1, near(1 / 6), near(1 / 11)]);
    expect(hybridWeight({ c: 3 })(1)).toBe(0.75);
    for (const c of [0, -1, Number.NaN, Infinity]) expect(() => hybridWeight({ c })).toThrow('`c`');
  });
});
