import { describe, expect, it } from 'vitest';
import type { Evaluation } from '../../src/contracts/evaluation.ts';
import type { Evaluator } from '../../src/contracts/evaluator.ts';
import type { Failure } from '../../src/contracts/failure.ts';
import { type StagedOptions, staged } from '../../src/values/combine/staged.ts';
import { heuristic } from '../../src/values/heuristic.ts';
import { callContext } from '../support/call-context.ts';
import { noSpend, realisedNode } from '../support/nodes.ts';

const request = { context: callContext(), remaining: noSpend };
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
  return { asked, dear: { name: 'dear', evaluator } };
}

const cheap = { name: 'cheap', evaluator: heuristic((state: number) => state) };

function verdictsOf(
  options: StagedOptions<number, number>,
  batch: typeof nodes = nodes,
): readonly (Evaluation | Failure)[] {
  return staged(options).evaluate(batch, request) as readonly (Evaluation | Failure)[];
}

describe('a staged evaluation', () => {
  it('asks the dear part about what reaches the threshold', () => {
    const { asked, dear } = halving();
    expect(verdictsOf({ cheap, dear })).toEqual([
      {
        value: 0.25,
        parts: { cheap: 0.5, dear: 0.25 },
        rationale: 'dear: halved',
        raw: { score: 0.5, range: [0, 2] },
      },
      { value: 0.1, parts: { cheap: 0.1 } },
      {
        value: 0.45,
        parts: { cheap: 0.9, dear: 0.45 },
        rationale: 'dear: halved',
        raw: { score: 0.9, range: [0, 2] },
      },
      expect.objectContaining({ value: 0.25 }),
    ]);
    expect(asked).toEqual([0.5, 0.9, 0.5]);
  });

  it('asks it about the best of the batch, the earlier of equal ones', () => {
    const two = halving();
    expect(
      verdictsOf({ cheap, dear: two.dear, best: 2 }).map((one) => 'parts' in one && one.parts),
    ).toEqual([
      { cheap: 0.5, dear: 0.25 },
      { cheap: 0.1 },
      { cheap: 0.9, dear: 0.45 },
      { cheap: 0.5 },
    ]);
    expect(two.asked).toEqual([0.5, 0.9]);

    const few = halving();
    verdictsOf({ cheap, dear: few.dear, best: 3, threshold: 0.6 });
    expect(few.asked).toEqual([0.9]);
    const lowest = halving();
    verdictsOf({ cheap, dear: lowest.dear, best: 1 }, nodes.slice(1, 2));
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
    const none = { name: 'dear', evaluator: failing(0.9) };
    expect(verdictsOf({ cheap, dear: none })[2]).toEqual({
      kind: 'invalid',
      message: 'dear: unknown',
    });
    expect(verdictsOf({ cheap, dear: none, onFailure: 'leave-out' })[2]).toEqual({
      value: 0.9,
      parts: { cheap: 0.9 },
      rationale: 'dear failed: unknown',
    });

    const blind = { name: 'cheap', evaluator: failing(0.1) };
    const unasked = halving();
    expect(verdictsOf({ cheap: blind, dear: unasked.dear })[1]).toMatchObject({ kind: 'invalid' });
    expect(unasked.asked).toEqual([0.5, 0.9, 0.5]);
    const alone = halving();
    expect(verdictsOf({ cheap: blind, dear: alone.dear, onFailure: 'leave-out' })[1]).toMatchObject(
      {
        value: 0.05,
        parts: { dear: 0.05 },
      },
    );
    const neither = { name: 'dear', evaluator: failing(0.1) };
    expect(verdictsOf({ cheap: blind, dear: neither, onFailure: 'leave-out' })[1]).toEqual({
      kind: 'invalid',
      message: 'cheap: unknown',
    });
  });

  it('simulates where a part does: the dear one for promising nodes', () => {
    expect(staged({ cheap, dear: halving().dear }).simulate).toBeUndefined();
    const simulate = (batch: readonly unknown[]) => batch.map(() => ({ value: 1 }));
    const { dear } = halving({ simulate });
    const some = staged({ cheap, dear, threshold: 0.6 });
    const returns = some.simulate?.(nodes, request) as readonly Evaluation[];
    expect(returns.map(({ value }) => value)).toEqual([0.5, 0.1, 1, 0.5]);

    const playing = { name: 'cheap', evaluator: { ...cheap.evaluator, simulate } };
    const both = staged({ cheap: playing, dear: halving().dear, threshold: 0.6 });
    const others = both.simulate?.(nodes, request) as readonly Evaluation[];
    expect(others.map(({ value }) => value)).toEqual([1, 1, 0.45, 1]);
  });

  it('tells of the stamps of its parts, and refuses what does not fit', () => {
    const { dear } = halving({ stamps: ['x'] });
    expect(staged({ cheap, dear }).stamps).toEqual(['x']);
    const proposed = halving({ needs: 'proposed' }).dear;
    expect(() => staged({ cheap, dear: proposed })).toThrow('needs of dear');
    expect(() => staged({ cheap, dear: { ...dear, name: 'cheap' } })).toThrow('no other part');
    expect(() => staged({ cheap, dear, threshold: 2 })).toThrow('`threshold`');
    expect(() => staged({ cheap, dear, best: 0 })).toThrow('`best`');
    const oracle = { label: () => ({ correct: true }) };
    // @ts-expect-error An oracle is no evaluator.
    expect(() => staged({ cheap, dear: { name: 'gold', evaluator: oracle } })).toThrow('oracle');
  });
});
