import { describe, expect, it } from 'vitest';
import type { Evaluation } from '../../src/contracts/evaluation.ts';
import type { Evaluator } from '../../src/contracts/evaluator.ts';
import type { Failed } from '../../src/contracts/failure.ts';
import { type StagedOptions, staged } from '../../src/values/combine/staged.ts';
import { heuristic } from '../../src/values/heuristic.ts';
import { callContext } from '../support/call-context.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, realisedNode } from '../support/nodes.ts';

const request = { environment: environmentOf(), context: callContext(), remaining: noSpend };
const nodes = [0.5, 0.1, 0.9, 0.5].map((state, index) => realisedNode(index, state));

/** Half the state, and who was asked about. */
function halving(changes: Partial<Evaluator<number, number>> = {}) {
  const asked: number[] = [];
  const evaluator: Evaluator<number, number> = {
    needs: 'realised',
    evaluate: (batch) =>
      batch.map(({ state = 0 }) => {
        asked.push(state);
        return { value: state / 2, rationale: 'halved', raw: { score: state, range: [0, 2] } };
      }),
    ...changes,
  };
  return { asked, accurate: { name: 'accurate', evaluator } };
}

const fast = { name: 'fast', evaluator: heuristic((state: number) => state) };

function verdictsOf(
  options: StagedOptions<number, number>,
  batch: typeof nodes = nodes,
): readonly (Evaluation | Failed)[] {
  return staged(options).evaluate(batch, request) as readonly (Evaluation | Failed)[];
}

describe('a staged evaluation', () => {
  it('asks the accurate part about what reaches the threshold', () => {
    const { asked, accurate } = halving();
    expect(verdictsOf({ fast, accurate })).toEqual([
      {
        value: 0.25,
        parts: { fast: 0.5, accurate: 0.25 },
        rationale: 'accurate: halved',
        raw: { score: 0.5, range: [0, 2] },
      },
      { value: 0.1, parts: { fast: 0.1 } },
      {
        value: 0.45,
        parts: { fast: 0.9, accurate: 0.45 },
        rationale: 'accurate: halved',
        raw: { score: 0.9, range: [0, 2] },
      },
      expect.objectContaining({ value: 0.25 }),
    ]);
    expect(asked).toEqual([0.5, 0.9, 0.5]);
  });

  it('asks it about the best of the batch, the earlier of equal ones', () => {
    const two = halving();
    expect(
      verdictsOf({ fast, accurate: two.accurate, best: 2 }).map(
        (one) => 'parts' in one && one.parts,
      ),
    ).toEqual([
      { fast: 0.5, accurate: 0.25 },
      { fast: 0.1 },
      { fast: 0.9, accurate: 0.45 },
      { fast: 0.5 },
    ]);
    expect(two.asked).toEqual([0.5, 0.9]);

    const few = halving();
    verdictsOf({ fast, accurate: few.accurate, best: 3, threshold: 0.6 });
    expect(few.asked).toEqual([0.9]);
    const lowest = halving();
    verdictsOf({ fast, accurate: lowest.accurate, best: 1 }, nodes.slice(1, 2));
    expect(lowest.asked).toEqual([0.1]);
  });
});

describe('the parts of a staged evaluation', () => {
  it('fails a node for which a part fails, or does without the part', () => {
    const failing = (at: number) =>
      heuristic((state: number) => {
        if (state === at) throw new Error('unknown');
        return state;
      });
    const none = { name: 'accurate', evaluator: failing(0.9) };
    expect(verdictsOf({ fast, accurate: none })[2]).toEqual({
      failure: {
        kind: 'invalid',
        message: 'accurate: unknown',
      },
    });
    expect(verdictsOf({ fast, accurate: none, onFailure: 'leave-out' })[2]).toEqual({
      value: 0.9,
      parts: { fast: 0.9 },
      rationale: 'accurate failed: unknown',
    });

    const blind = { name: 'fast', evaluator: failing(0.1) };
    const unasked = halving();
    expect(verdictsOf({ fast: blind, accurate: unasked.accurate })[1]).toMatchObject({
      failure: { kind: 'invalid' },
    });
    expect(unasked.asked).toEqual([0.5, 0.9, 0.5]);
    const alone = halving();
    expect(
      verdictsOf({ fast: blind, accurate: alone.accurate, onFailure: 'leave-out' })[1],
    ).toMatchObject({
      value: 0.05,
      parts: { accurate: 0.05 },
    });
    const neither = { name: 'accurate', evaluator: failing(0.1) };
    expect(verdictsOf({ fast: blind, accurate: neither, onFailure: 'leave-out' })[1]).toEqual({
      failure: {
        kind: 'invalid',
        message: 'fast: unknown',
      },
    });
  });

  it('simulates where a part does: the accurate one for promising nodes', () => {
    expect(staged({ fast, accurate: halving().accurate }).simulate).toBeUndefined();
    const simulate = (batch: readonly unknown[]) => batch.map(() => ({ value: 1 }));
    const { accurate } = halving({ simulate });
    const some = staged({ fast, accurate, threshold: 0.6 });
    const returns = some.simulate?.(nodes, request) as readonly Evaluation[];
    expect(returns.map(({ value }) => value)).toEqual([0.5, 0.1, 1, 0.5]);

    const playing = { name: 'fast', evaluator: { ...fast.evaluator, simulate } };
    const both = staged({ fast: playing, accurate: halving().accurate, threshold: 0.6 });
    const others = both.simulate?.(nodes, request) as readonly Evaluation[];
    expect(others.map(({ value }) => value)).toEqual([1, 1, 0.45, 1]);
  });

  it('tells of the stamps of its parts, and refuses what does not fit', () => {
    const { accurate } = halving({ stamps: ['x'] });
    expect(staged({ fast, accurate }).stamps).toEqual(['x']);
    const proposed = halving({ needs: 'proposed' }).accurate;
    expect(() => staged({ fast, accurate: proposed })).toThrow('needs of accurate');
    expect(() => staged({ fast, accurate: { ...accurate, name: 'fast' } })).toThrow(
      'no other part',
    );
    expect(() => staged({ fast, accurate, threshold: 2 })).toThrow('`threshold`');
    expect(() => staged({ fast, accurate, best: 0 })).toThrow('`best`');
    const oracle = { label: () => ({ correct: true }) };
    // @ts-expect-error An oracle is no evaluator.
    expect(() => staged({ fast, accurate: { name: 'gold', evaluator: oracle } })).toThrow('oracle');
  });
});
