import { describe, expect, it } from 'vitest';
import type { Oracle } from '../../src/contracts/verifier.ts';
import { uniform } from '../../src/policies/index.ts';
import { calibrated, fitPlatt } from '../../src/values/calibrate/calibrate.ts';
import { ensemble } from '../../src/values/combine/ensemble.ts';
import { staged } from '../../src/values/combine/staged.ts';
import { goldVerifier } from '../../src/values/gold-verifier.ts';
import { heuristic } from '../../src/values/heuristic.ts';
import { progress } from '../../src/values/reward/progress.ts';
import { rollout } from '../../src/values/rollout/rollout.ts';
import { withSimulation } from '../../src/values/rollout/with-simulation.ts';
import { verifier } from '../../src/values/verifier.ts';
import { callContext } from '../support/call-context.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, rootNode } from '../support/nodes.ts';

const request = { environment: environmentOf(), context: callContext(), remaining: noSpend };
const oracle: Oracle<number> = {
  label: (state) => ({ correct: state === 3, rationale: 'The answer is 3.' }),
};
const policy = uniform((_state: number) => [1]);
const plain = heuristic((state: number) => state / 10);

describe('the gold verifier', () => {
  it('lets an oracle in, and stamps what it guides', () => {
    const evaluator = verifier(goldVerifier(oracle));
    expect(evaluator.stamps).toEqual(['oracle-guided']);
    expect(evaluator.evaluate([rootNode(3), rootNode(4)], request)).toEqual([
      { value: 1, rationale: 'The answer is 3.' },
      { value: 0, rationale: 'The answer is 3.' },
    ]);
  });

  it('leaves its stamp on everything that is made of it', () => {
    const gold = verifier(goldVerifier(oracle));
    const map = fitPlatt([
      { score: 0, correct: false },
      { score: 1, correct: true },
    ]);
    for (const made of [
      ensemble({ parts: [{ name: 'gold', evaluator: gold }] }),
      staged({
        fast: { name: 'plain', evaluator: plain },
        accurate: { name: 'gold', evaluator: gold },
      }),
      withSimulation(plain, gold),
      withSimulation(gold, plain),
      progress({ value: gold }),
      progress({ value: plain, prover: gold }),
      calibrated(gold, map),
      rollout({ policy, evaluator: gold }),
      rollout({ policy: { ...policy, stamps: ['oracle-guided'] } }),
    ]) {
      expect(made.stamps).toEqual(['oracle-guided']);
    }
    expect(rollout({ policy }).stamps).toBeUndefined();
  });

  it('takes nothing else', () => {
    // @ts-expect-error A verifier is no oracle.
    expect(() => goldVerifier({ verify: () => ({ correct: true }) })).toThrow(
      'Expected `oracle` to be an object with a method `label`, got one without it.',
    );
  });
});

describe('an oracle', () => {
  const message =
    'Expected `verifier` to have a method `verify`, got an oracle: gold answers must not guide a search.';

  it('is no verifier, even where it can verify', () => {
    // @ts-expect-error An oracle is no verifier.
    expect(() => verifier(oracle)).toThrow(message);
    const both = { ...oracle, verify: () => ({ correct: true }) };
    // @ts-expect-error What can label is an oracle, whatever else it can do.
    expect(() => verifier(both)).toThrow(message);
  });

  it('is no evaluator, even where it can evaluate', () => {
    const disguised = { ...plain, ...oracle };
    const map = { type: 'platt', slope: 1, intercept: 0 } as never;
    for (const make of [
      () => calibrated(disguised, map),
      () => rollout({ policy, evaluator: disguised }),
      () => progress({ value: disguised }),
      () => withSimulation(disguised, plain),
    ]) {
      expect(make).toThrow('got an oracle: gold answers must not guide a search.');
    }
    // @ts-expect-error An oracle is no evaluator.
    expect(() => rollout({ policy, evaluator: oracle })).toThrow('oracle');
    // @ts-expect-error An oracle is no evaluator.
    expect(() => calibrated(oracle, map)).toThrow('oracle');
  });
});
