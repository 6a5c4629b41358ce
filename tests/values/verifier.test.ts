import { describe, expect, it } from 'vitest';
import { EspalierError } from '../../src/base/errors.ts';
import type { Verdict } from '../../src/contracts/verifier.ts';
import { verifier } from '../../src/values/index.ts';
import { callContext } from '../support/call-context.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, proposedNode, rootNode } from '../support/nodes.ts';

const request = { environment: environmentOf(), context: callContext(), remaining: noSpend };

describe('the verifier evaluator', () => {
  it('takes the score of a verdict, or else whether it is correct', () => {
    const verdicts: readonly Verdict[] = [
      { correct: true },
      { correct: false },
      { correct: false, score: 0.25, rationale: 'One of four tests passes.' },
    ];
    const evaluator = verifier({ verify: (state: number) => verdicts[state] as Verdict });
    expect(evaluator.needs).toBe('realised');
    expect(evaluator.evaluate([rootNode(0), rootNode(1), rootNode(2)], request)).toEqual([
      { value: 1 },
      { value: 0 },
      { value: 0.25, rationale: 'One of four tests passes.' },
    ]);
  });

  it('verifies states side by side where that takes time', async () => {
    const running = { now: 0, most: 0 };
    const evaluator = verifier({
      async verify(state: number) {
        running.now += 1;
        running.most = Math.max(running.most, running.now);
        await Promise.resolve();
        running.now -= 1;
        return { correct: state === 1 };
      },
    });
    const evaluating = evaluator.evaluate([rootNode(0), rootNode(1)], request);
    expect(evaluating).toBeInstanceOf(Promise);
    expect(await evaluating).toEqual([{ value: 0 }, { value: 1 }]);
    expect(running.most).toBe(2);
  });

  it('fails only the state on which it throws, or whose score is out of range', async () => {
    const evaluator = verifier({
      async verify(state: number) {
        if (state === 0) throw new Error('The tests did not start.');
        return { correct: true, score: state };
      },
    });
    const nodes = [rootNode(0), rootNode(1), rootNode(2), proposedNode(1, 'a')];
    expect(await evaluator.evaluate(nodes, request)).toEqual([
      { failure: { kind: 'call', message: 'The tests did not start.' } },
      { value: 1 },
      {
        failure: {
          kind: 'invalid',
          message: 'Expected `verifier.verify().score` to be a number from 0 to 1, got `2`.',
        },
      },
      {
        failure: { kind: 'invalid', message: 'Expected a node with a state, got a proposed one.' },
      },
    ]);
  });

  it('does not turn the end of the search into a failure of one state', async () => {
    const budget = new EspalierError('budget', 'Nothing is left.');
    const spent = verifier({ verify: () => Promise.reject(budget) });
    await expect(spent.evaluate([rootNode(0)], request)).rejects.toBe(budget);

    const reason = new Error('stop');
    const aborted = callContext({ signal: AbortSignal.abort(reason) });
    const stopped = verifier({
      verify: () => {
        throw reason;
      },
    });
    const evaluate = () => stopped.evaluate([rootNode(0)], { ...request, context: aborted });
    expect(evaluate).toThrow(reason);
  });

  it('keeps the kind of failures of effects', () => {
    const evaluator = verifier({
      verify(state: 'interrupted' | 'unrecorded') {
        throw new EspalierError(state, 'Unknown.');
      },
    });
    expect(evaluator.evaluate([rootNode('interrupted'), rootNode('unrecorded')], request)).toEqual([
      { failure: { kind: 'interrupted', message: 'Unknown.' } },
      { failure: { kind: 'unrecorded', message: 'Unknown.' } },
    ]);
  });

  it('refuses an oracle, and anything else that cannot verify', () => {
    const oracle = { label: () => ({ correct: true }) };
    expect(() => verifier(oracle as never)).toThrow(
      'Expected `verifier` to have a method `verify`, got an oracle: gold answers must not guide a search.',
    );
    expect(() => verifier(null as never)).toThrow(
      'Expected `verifier` to be an object with a method `verify`, got `null`.',
    );
  });
});
