import { describe, expect, it } from 'vitest';
import { heuristic } from '../../src/values/index.ts';
import { callContext } from '../support/call-context.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, proposedNode, realisedNode, rootNode } from '../support/nodes.ts';

const request = { environment: environmentOf(), context: callContext(), remaining: noSpend };

describe('the heuristic evaluator', () => {
  it('values states by a function, at once', () => {
    const evaluator = heuristic((state: number) => state / 10);
    expect(evaluator.needs).toBe('realised');
    const nodes = [rootNode(0), realisedNode('a', 7), rootNode(10)];
    expect(evaluator.evaluate(nodes, request)).toEqual([
      { value: 0 },
      { value: 0.7 },
      { value: 1 },
    ]);
    expect(evaluator.evaluate([], request)).toEqual([]);
  });

  it.each([
    [Number.NaN, '`NaN`'],
    [1.5, '`1.5`'],
    [-0.1, '`-0.1`'],
    [Number.POSITIVE_INFINITY, '`Infinity`'],
    ['1', '`"1"`'],
    [undefined, '`undefined`'],
  ])('fails only the node whose value is %s', (value, got) => {
    const evaluator = heuristic((state: number) => (state === 1 ? (value as number) : 0.5));
    expect(evaluator.evaluate([rootNode(0), rootNode(1), rootNode(2)], request)).toEqual([
      { value: 0.5 },
      {
        failure: {
          kind: 'invalid',
          message: `Expected the result of \`estimate\` to be a number from 0 to 1, got ${got}.`,
        },
      },
      { value: 0.5 },
    ]);
  });

  it('puts sums that rounding carried over a bound on the bound', () => {
    const evaluator = heuristic((state: number) => state);
    expect(evaluator.evaluate([rootNode(1 + 1e-12), rootNode(-1e-12)], request)).toEqual([
      { value: 1 },
      { value: 0 },
    ]);
  });

  it('fails only the node for which the function throws', () => {
    const evaluator = heuristic((state: number) => {
      if (state === 0) throw new Error('No idea.');
      return 1;
    });
    expect(evaluator.evaluate([rootNode(0), rootNode(1), proposedNode(2, 'a')], request)).toEqual([
      { failure: { kind: 'invalid', message: 'No idea.' } },
      { value: 1 },
      {
        failure: { kind: 'invalid', message: 'Expected a node with a state, got a proposed one.' },
      },
    ]);
  });

  it('refuses anything but a function', () => {
    expect(() => heuristic(0.5 as never)).toThrow(
      'Expected `estimate` to be a function, got `0.5`.',
    );
  });
});
