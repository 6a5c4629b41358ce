import { describe, expect, test } from 'vitest';
import {
  type Failure,
  mcts,
  type Policy,
  type Proposal,
  search,
  valueWidening,
} from '../../src/index.ts';
import { banditTree } from '../../src/testing/index.ts';

const { environment, evaluator } = banditTree();
const failure: Failure = { kind: 'parse', message: 'Expected an action, got a poem.' };

/** Writes nothing but poems for so many samples, and then its first action. */
function poet(poems: number): Policy<readonly number[], number> & { asked: number } {
  const policy = {
    asked: 0,
    propose: (_node: unknown, { count, offset }: { count: number; offset: number }) => {
      policy.asked++;
      return Array.from(
        { length: count },
        (_, place): Proposal<number> => (offset + place < poems ? { failure } : { action: 0 }),
      );
    },
  };
  return policy;
}

const widened = (most: number) => mcts({ width: 2, widening: valueWidening({ k: 2, most }) });

describe('a node none of whose samples can be used', () => {
  test('is asked again where its widening allows more', async () => {
    const policy = poet(5);
    const { tree } = await search(environment, {
      policy,
      evaluator,
      algorithm: widened(24),
      budget: { simulations: 3 },
    });
    const { root } = tree;
    // Two samples a simulation: the sixth is the first that can be used.
    expect(policy.asked).toBe(3);
    expect(root).toMatchObject({ status: 'open', samples: 6 });
    expect(root.children.map(({ action }) => action)).toEqual([0]);
    expect(root.failedProposals).toMatchObject([{ count: 5 }]);
    // The first two simulations had nothing to evaluate.
    expect(root.visits).toBe(1);
  });

  test('fails with the first reason once its widening refuses more', async () => {
    const policy = poet(100);
    const {
      tree,
      stopReason,
      failure: why,
    } = await search(environment, {
      policy,
      evaluator,
      algorithm: widened(6),
      budget: { simulations: 50 },
    });
    expect(policy.asked).toBe(3);
    expect(tree.root).toMatchObject({ status: 'failed', samples: 6, failure });
    expect({ stopReason, why }).toEqual({ stopReason: 'failed', why: failure });
  });

  test('fails at once where nothing widens it', async () => {
    const policy = poet(5);
    const { tree } = await search(environment, {
      policy,
      evaluator,
      algorithm: mcts({ width: 2 }),
      budget: { simulations: 3 },
    });
    expect(policy.asked).toBe(1);
    expect(tree.root.status).toBe('failed');
  });

  test('fails at once where the call itself failed: retries are for the model', async () => {
    const policy: Policy<readonly number[], number> = {
      propose: () => Promise.reject(new Error('The line is dead.')),
    };
    const { tree } = await search(environment, {
      policy,
      evaluator,
      algorithm: widened(24),
      budget: { simulations: 3 },
    });
    expect(tree.root).toMatchObject({
      status: 'failed',
      failure: { kind: 'call', message: 'The line is dead.' },
    });
  });
});
