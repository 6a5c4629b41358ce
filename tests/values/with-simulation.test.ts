import { describe, expect, it } from 'vitest';
import type { Evaluation } from '../../src/contracts/evaluation.ts';
import type { Evaluator } from '../../src/contracts/evaluator.ts';
import { heuristic } from '../../src/values/heuristic.ts';
import { withSimulation } from '../../src/values/rollout/with-simulation.ts';
import { callContext } from '../support/call-context.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, realisedNode } from '../support/nodes.ts';

/** Equal but for rounding. */
const near = (value: number): unknown => expect.closeTo(value, 12);

const request = { environment: environmentOf(), context: callContext(), remaining: noSpend };
const value = heuristic((state: number) => state);
const always = (z: number): Evaluator<number, unknown> => ({
  ...heuristic(() => z),
  stamps: ['played'],
});

function returnsOf(
  evaluator: Evaluator<number, unknown>,
  rawValues: readonly (number | undefined)[],
) {
  const nodes = rawValues.map((rawValue, index) => realisedNode(index, 0.4, { rawValue }));
  return evaluator.simulate?.(nodes, request) as readonly Evaluation[];
}

describe('a value with a simulation', () => {
  it('values by the first, and returns what the second says', () => {
    const both = withSimulation(value, always(0.9));
    expect(both.needs).toBe('realised');
    expect(both.stamps).toEqual(['played']);
    expect(both.evaluate([realisedNode(0, 0.4)], request)).toEqual([{ value: 0.4 }]);
    expect(returnsOf(both, [0.4])).toEqual([{ value: 0.9 }]);
  });

  it('mixes them: (1 − α) v + α z, with v as the node was valued', () => {
    const half = withSimulation(value, always(0.9), { alpha: 0.5 });
    // v is 0.1 here, whatever the evaluator would say now: (0.1 + 0.9) / 2.
    expect(returnsOf(half, [0.1])).toEqual([
      { value: 0.5, parts: { value: 0.1, simulation: 0.9 } },
    ]);
    const quarter = withSimulation(value, always(0.9), { alpha: 0.25 });
    // 0.75 · 0.1 + 0.25 · 0.9, and 0.75 · 0.4 + 0.25 · 0.9 where nobody has valued the node.
    expect(returnsOf(quarter, [0.1, undefined]).map((one) => one.value)).toEqual([
      near(0.3),
      near(0.525),
    ]);
  });

  it('fails where one of the two does', () => {
    const failing = heuristic((): number => {
      throw new Error('unknown');
    });
    const failure = { failure: { kind: 'invalid', message: 'unknown' } };
    expect(returnsOf(withSimulation(value, failing), [0.1])).toEqual([failure]);
    expect(returnsOf(withSimulation(value, failing, { alpha: 0.5 }), [0.1])).toEqual([failure]);
    const unvalued = withSimulation(failing, always(1), { alpha: 0.5 });
    expect(returnsOf(unvalued, [undefined, 0])).toEqual([
      failure,
      { value: 0.5, parts: { value: 0, simulation: 1 } },
    ]);
  });

  it('may value actions before they are taken', () => {
    const critic: Evaluator<number, unknown> = { ...value, needs: 'proposed' };
    expect(withSimulation(critic, always(1)).needs).toBe('proposed');
  });

  it('refuses a share that is none, and an oracle', () => {
    for (const alpha of [-0.1, 1.1, Number.NaN]) {
      expect(() => withSimulation(value, value, { alpha })).toThrow('`alpha`');
    }
    const oracle = { label: () => ({ correct: true }) };
    // @ts-expect-error An oracle is no evaluator.
    expect(() => withSimulation(value, oracle)).toThrow('Expected `simulation`');
    // @ts-expect-error An oracle is no evaluator.
    expect(() => withSimulation(oracle, value)).toThrow('got an oracle');
  });
});
