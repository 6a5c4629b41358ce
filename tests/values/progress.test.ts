import { describe, expect, it } from 'vitest';
import type { Evaluation } from '../../src/contracts/evaluation.ts';
import type { Evaluator } from '../../src/contracts/evaluator.ts';
import type { Failed } from '../../src/contracts/failure.ts';
import type { SearchNode } from '../../src/contracts/node.ts';
import { heuristic } from '../../src/values/heuristic.ts';
import { type ProgressOptions, progress } from '../../src/values/reward/progress.ts';
import { callContext } from '../support/call-context.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, realisedNode, rootNode } from '../support/nodes.ts';

/** Equal but for rounding. */
const near = (value: number): unknown => expect.closeTo(value, 12);

const request = { environment: environmentOf(), context: callContext(), remaining: noSpend };

type Verdict = Evaluation | Failed;

/** Q is the state itself; remembers what it was asked, batch by batch. */
function listening() {
  const asked: number[][] = [];
  const value: Evaluator<number, number> = {
    needs: 'realised',
    evaluate(nodes) {
      asked.push(nodes.map(({ state = -1 }) => state));
      return nodes.map(
        ({ state = 0 }): Verdict =>
          state < 0 ? { failure: { kind: 'empty', message: 'No step.' } } : { value: state },
      );
    },
  };
  return { asked, value };
}

/** A child with value `q` of a parent with value `before`. */
function step(before: number, q: number): SearchNode<number, number> {
  return below(rootNode(before), q);
}

function below(parent: SearchNode<number, number>, q: number): SearchNode<number, number> {
  return realisedNode<number, number>(0, q, { parent });
}

function measure(
  options: Partial<ProgressOptions<number, number>>,
  nodes: readonly SearchNode<number, number>[],
): readonly Verdict[] {
  const { value } = listening();
  return progress({ value, ...options }).evaluate(nodes, request) as readonly Verdict[];
}

describe('progress', () => {
  it('is Q + α (V after − V before), with V at the best of four', () => {
    // 1 − 0.5⁴ = 0.9375 after, 1 − 0.75⁴ = 0.68359375 before: 0.5 + 0.5 · 0.25390625 = 0.626953125,
    // of the range from −0.5 to 1.5: 1.126953125 / 2.
    expect(measure({}, [step(0.25, 0.5)])).toEqual([
      {
        value: 0.5634765625,
        raw: { score: 0.626953125, range: [-0.5, 1.5] },
        parts: { value: 0.5, before: 0.68359375, after: 0.9375 },
      },
    ]);
  });

  it('takes α and K as they are given', () => {
    // K = 1: 0.2 + 0.2 · (0.2 − 0.6) = 0.12, of the range from −0.2 to 1.2: 0.32 / 1.4.
    const [verdict] = measure({ alpha: 0.2, bestOf: 1 }, [step(0.6, 0.2)]);
    expect(verdict).toMatchObject({
      value: near(0.32 / 1.4),
      raw: { score: near(0.12), range: [-0.2, 1.2] },
    });
    expect(measure({ alpha: 0 }, [step(0.9, 0.2)])).toMatchObject([
      { value: 0.2, raw: { score: 0.2, range: [-0, 1] } },
    ]);
  });

  it('reaches both ends of its range', () => {
    expect(measure({ bestOf: 1 }, [step(0, 1), step(1, 0)])).toMatchObject([
      { value: 1, raw: { score: 1.5 } },
      { value: 0, raw: { score: -0.5 } },
    ]);
  });

  it('is that of the value alone at the root', () => {
    // 0.4, of the range from −0.5 to 1.5: 0.9 / 2.
    expect(measure({}, [rootNode(0.4)])).toMatchObject([
      { value: near(0.45), raw: { score: 0.4 } },
    ]);
  });

  it('may be that of another prover', () => {
    const prover = heuristic((state: number) => state / 2);
    // 0.8 + 0.5 · (0.4 − 0.1) = 0.95.
    expect(measure({ prover }, [step(0.2, 0.8)])).toMatchObject([
      { raw: { score: near(0.95) }, parts: { value: 0.8, before: 0.1, after: 0.4 } },
    ]);
  });
});

describe('the state before a step', () => {
  it('is asked about in the same batch, once, and not again', async () => {
    const { asked, value } = listening();
    const evaluator = progress({ value });
    const parent = step(0.3, 0.5);
    const children = [0.6, 0.7].map((q) => below(parent, q));
    await evaluator.evaluate(children, request);
    expect(asked).toEqual([[0.6, 0.7, 0.5]]);
    const grandchild = below(children[0] ?? parent, 0.9);
    await evaluator.evaluate([grandchild], request);
    expect(asked.at(-1)).toEqual([0.9]);
    await evaluator.evaluate([parent], request);
    expect(asked.at(-1)).toEqual([0.5, 0.3]);

    const together = listening();
    await progress({ value: together.value }).evaluate([parent, ...children], request);
    expect(together.asked).toEqual([[0.5, 0.6, 0.7, 0.3]]);
  });

  it('may be told where nothing can be said of the root', () => {
    const first = step(-1, 0.5);
    expect(measure({}, [first, step(0.5, 0.5)])).toMatchObject([
      { failure: { kind: 'empty', message: 'before the step: No step.' } },
      { raw: { score: 0.5 } },
    ]);
    const { asked, value } = listening();
    // V after is 0.9375, before 1 − 0.5⁴ as well.
    expect(progress({ value, start: 0.5 }).evaluate([first], request)).toMatchObject([
      { raw: { score: 0.5 } },
    ]);
    expect(asked).toEqual([[0.5]]);
  });

  it('fails nobody else', () => {
    expect(measure({}, [step(0.5, -1), step(0.5, 0.5)])).toMatchObject([
      { failure: { kind: 'empty', message: 'No step.' } },
      { raw: { score: 0.5 } },
    ]);
    const prover = heuristic((state: number) => (state === 1 ? Number.NaN : state));
    expect(measure({ prover }, [step(0.5, 1)])).toMatchObject([{ failure: { kind: 'invalid' } }]);
  });
});

describe('the parts of progress', () => {
  it('pass on what they tell', () => {
    const simulate = () => [{ value: 0.125 }];
    const value = { ...listening().value, stamps: ['x'], simulate };
    const told = { ...value, evaluate: () => [{ value: 0.5, rationale: 'so so', unscored: 1 }] };
    const evaluator = progress({ value: told, start: 0.5 });
    expect(evaluator.stamps).toEqual(['x']);
    expect(evaluator.simulate?.([step(0.5, 0.5)], request)).toEqual([{ value: 0.125 }]);
    expect(evaluator.evaluate([step(0.5, 0.5)], request)).toMatchObject([
      { rationale: 'value: so so', unscored: 1 },
    ]);
    expect(progress({ value: listening().value }).simulate).toBeUndefined();
  });

  it('must fit together', () => {
    const { value } = listening();
    const proposed: Evaluator<number, number> = { ...value, needs: 'proposed' };
    expect(() => progress({ value, prover: proposed })).toThrow('`prover.needs`');
    expect(() => progress({ value, prover: value, bestOf: 2 })).toThrow('`bestOf`');
    expect(() => progress({ value, bestOf: 0 })).toThrow('`bestOf`');
    expect(() => progress({ value, alpha: -1 })).toThrow('`alpha`');
    expect(() => progress({ value, start: 2 })).toThrow('`start`');
    const oracle = { label: () => ({ correct: true }) };
    // @ts-expect-error An oracle is no evaluator.
    expect(() => progress({ value: oracle })).toThrow('oracle');
  });
});
