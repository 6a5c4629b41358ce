import { describe, expect, it } from 'vitest';
import { EspalierError } from '../../src/base/errors.ts';
import { seededRandom } from '../../src/base/random.ts';
import type { Environment } from '../../src/contracts/environment.ts';
import type { Evaluation } from '../../src/contracts/evaluation.ts';
import type { EvaluateRequest } from '../../src/contracts/evaluator.ts';
import type { SearchNode } from '../../src/contracts/node.ts';
import type { Policy } from '../../src/contracts/policy.ts';
import { uniform } from '../../src/policies/index.ts';
import { heuristic, rollout } from '../../src/values/index.ts';
import { callContext } from '../support/call-context.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { noSpend, proposedNode, realisedNode, rootNode } from '../support/nodes.ts';

/** A corridor from 0 to 5 with a reward at its right end and none at the left one. */
const corridor: Environment<number, number> = {
  name: 'corridor',
  reset: () => ({ state: 2 }),
  step(state, action) {
    const next = state + action;
    if (next === 5) return { state: next, reward: 1, terminal: true };
    return next === 0 ? { state: next, reward: 0, terminal: true } : { state: next };
  },
};
const rightward: Policy<number, number> = { propose: () => [{ action: 1 }] };
const wandering = uniform((_state: number) => [-1, 1]);

function start(state: number, children: readonly number[] = []): SearchNode<number, number> {
  return rootNode(state, children);
}

function request(seed: number | string = 0, environment = corridor): EvaluateRequest {
  return {
    environment,
    context: callContext({ random: seededRandom(seed) }),
    remaining: noSpend,
  };
}

describe('a rollout', () => {
  it('tells each step what its action was read from', async () => {
    const seen: unknown[] = [];
    const watching: Environment<number, number> = {
      ...corridor,
      step(state, action, { completion }) {
        seen.push(completion);
        return corridor.step(state, action, callContext({ random: seededRandom(0) }));
      },
    };
    const completion = { text: '1' };
    const saying: Policy<number, number> = { propose: () => [{ action: 1, completion }] };
    await rollout({ policy: saying }).evaluate([start(3)], request(0, watching));
    expect(seen).toEqual([completion, completion]);
  });

  it('shows its policy nodes that JSON holds without their parents', async () => {
    const seen: string[] = [];
    const noting: Policy<number, number> = {
      propose(node) {
        seen.push(JSON.stringify(node.toJSON()), JSON.stringify(node));
        return [{ action: 1 }];
      },
    };
    await rollout({ policy: noting }).evaluate([start(3)], request());
    const root = '{"id":0,"depth":0,"state":3,"terminal":false}';
    const child = '{"id":0,"depth":1,"action":1,"state":4,"terminal":false}';
    expect(seen).toEqual([root, root, child, child]);
  });

  it('returns the discounted sum of rewards', () => {
    // From 2 the reward comes with the third action: 0.5².
    const evaluator = rollout({ policy: rightward, discount: 0.5 });
    expect(evaluator.needs).toBe('realised');
    expect(evaluator.evaluate([start(2), realisedNode(1, 4)], request())).toEqual([
      { value: 0.25 },
      { value: 1 },
    ]);

    const paying: Environment<number, number> = {
      ...corridor,
      step: (state) => ({ state: state + 1, reward: 0.1, terminal: state === 3 }),
    };
    const [evaluation] = rollout({
      policy: rightward,
      discount: 0.5,
    }).evaluate([start(0)], request(0, paying)) as readonly Evaluation[];
    expect(evaluation?.value).toBeCloseTo(0.1 * (1 + 0.5 + 0.25 + 0.125), 12);
  });

  it('comes to the chance of winning that theory gives', () => {
    // A fair walk from 2 reaches 5 before 0 with chance 2/5; the standard deviation of 4,000 is 0.0077.
    const options = { policy: wandering, rollouts: 4_000, maxDepth: 1_000 };
    const [evaluation] = rollout(options).evaluate([start(2)], request()) as [Evaluation];
    expect(Math.abs(evaluation.value - 2 / 5)).toBeLessThan(0.031);
    expect(Object.keys(evaluation.parts ?? {})).toHaveLength(4_000);
  });

  it('is worth what the evaluator says, discounted, where it is cut off', () => {
    const options = { policy: rightward, maxDepth: 2, discount: 0.5 };
    const evaluator = heuristic((state: number) => state / 5);
    // Two steps from 1 lead to 3.
    expect(rollout({ ...options, evaluator }).evaluate([start(1)], request())).toEqual([
      { value: 0.25 * (3 / 5) },
    ]);
    expect(rollout(options).evaluate([start(1)], request())).toEqual([{ value: 0 }]);
  });

  it('is also valued where it ends without a reward, but not where the environment gave one', () => {
    const evaluator = heuristic(() => 0.5);
    const silent = { ...corridor, step: (state: number) => ({ state, terminal: true }) };
    const stuck: Policy<number, number> = { propose: () => [] };
    const value = (changes: object, environment = corridor) =>
      rollout({ policy: rightward, evaluator, ...changes }).evaluate(
        [start(4)],
        request(0, environment),
      );
    expect(value({}, silent)).toEqual([{ value: 0.5 }]);
    expect(value({ policy: stuck })).toEqual([{ value: 0.5 }]);
    expect(value({})).toEqual([{ value: 1 }]);
    const lost = realisedNode(-1, 0, { terminal: true, reward: 0 });
    expect(rollout({ policy: rightward, evaluator }).evaluate([lost], request())).toEqual([
      { value: 0 },
    ]);
  });
});

describe('several rollouts', () => {
  /** Wins in the second rollout only. */
  const second: Policy<number, number> = {
    propose: (_node, { offset }) => [{ action: offset === 1 ? 1 : -1 }],
  };

  it('are averaged, or the best one counts', () => {
    const options = { policy: second, rollouts: 4 };
    const parts = { 'rollout 1': 0, 'rollout 2': 1, 'rollout 3': 0, 'rollout 4': 0 };
    expect(rollout(options).evaluate([start(2)], request())).toEqual([{ value: 0.25, parts }]);
    expect(rollout({ ...options, aggregate: 'max' }).evaluate([start(2)], request())).toEqual([
      { value: 1, parts },
    ]);
  });

  it('have their own random numbers: the first ones stay the same when others follow', () => {
    const play = (rollouts: number, nodes = [start(2)]) =>
      rollout({ policy: wandering, rollouts }).evaluate(
        nodes,
        request('independent'),
      ) as readonly Evaluation[];
    const few = Object.entries(play(5)[0]?.parts ?? {});
    const many = Object.entries(play(50)[0]?.parts ?? {});
    expect(few).toHaveLength(5);
    expect(many.slice(0, 5)).toEqual(few);
    expect(new Set(many.map(([, value]) => value))).toEqual(new Set([0, 1]));
    // Whatever else is in the batch, a node plays the same.
    expect(play(5, [realisedNode(1, 2), start(2)])[1]).toEqual(play(5)[0]);
    expect(play(50, [realisedNode(1, 2)])[0]).not.toEqual(play(50)[0]);
  });

  it('leave the tree alone, and do not mind the children that a node has', () => {
    const node = deepFreeze(start(2, [1]));
    const evaluator = rollout({ policy: wandering, rollouts: 50 });
    expect(evaluator.evaluate([node], request('tree'))).toEqual(
      evaluator.evaluate([start(2)], request('tree')),
    );
  });

  it('show the policy the path that led to a state', () => {
    const seen: unknown[] = [];
    const watching: Policy<number, number> = {
      propose(node, { count, offset }) {
        seen.push([node.kind, node.depth, node.action, node.parent?.depth, count, offset]);
        return [{ action: 1 }];
      },
    };
    const evaluator = rollout({ policy: watching });
    expect(evaluator.evaluate([start(3)], request())).toEqual([{ value: 1 }]);
    expect(seen).toEqual([
      ['root', 0, undefined, undefined, 1, 0],
      ['realised', 1, 1, 0, 1, 0],
    ]);
  });
});

describe('failures in rollouts', () => {
  const failure = { kind: 'parse', message: 'Nothing to read.' } as const;

  it('leave out a rollout and say so, as long as others come to an end', () => {
    const policy: Policy<number, number> = {
      propose: (_node, { offset }) => [offset === 0 ? { failure } : { action: 1 }],
    };
    const evaluator = rollout({ policy, rollouts: 3 });
    expect(evaluator.evaluate([start(2)], request())).toEqual([
      {
        value: 1,
        parts: { 'rollout 1': 1, 'rollout 2': 1 },
        rationale: '1 of 3 rollouts failed: Nothing to read.',
      },
    ]);
    const alone = rollout({ policy });
    expect(alone.evaluate([start(2)], request())).toEqual([{ failure }]);
  });

  it('fail one node and no other', () => {
    const throwing: Environment<number, number> = {
      ...corridor,
      step(state, action, context) {
        if (state === 1) throw new Error('The floor gave way.');
        return corridor.step(state, action, context);
      },
    };
    const evaluator = rollout({ policy: rightward });
    const nodes = [start(1), start(2), proposedNode(2, 1)];
    expect(evaluator.evaluate(nodes, request(0, throwing))).toEqual([
      { failure: { kind: 'environment', message: 'The floor gave way.' } },
      { value: 1 },
      {
        failure: { kind: 'invalid', message: 'Expected a node with a state, got a proposed one.' },
      },
    ]);
  });

  it('include a return that is not in [0, 1]', () => {
    const rich = { ...corridor, step: () => ({ state: 5, reward: 2, terminal: true }) };
    const evaluator = rollout({ policy: rightward });
    expect(evaluator.evaluate([start(2)], request(0, rich))).toEqual([
      {
        failure: {
          kind: 'invalid',
          message: 'Expected the return of a rollout to be a number from 0 to 1, got `2`.',
        },
      },
    ]);
  });

  it('pass on the end of the search, in whichever rollout it comes', async () => {
    const budget = new EspalierError('budget', 'Nothing is left.');
    const policy: Policy<number, number> = {
      propose(_node, { offset }) {
        if (offset === 1) throw budget;
        return Promise.reject(budget);
      },
    };
    const evaluator = rollout({ policy, rollouts: 2 });
    expect(() => evaluator.evaluate([start(2)], request())).toThrow(budget);
    const one = rollout({ policy });
    await expect(one.evaluate([start(2)], request())).rejects.toBe(budget);
  });
});

describe('rollouts that wait', () => {
  it('run side by side and give the same values', async () => {
    const running = { now: 0, most: 0 };
    const slow: Policy<number, number> = {
      async propose(node, asked) {
        running.now += 1;
        running.most = Math.max(running.most, running.now);
        await Promise.resolve();
        running.now -= 1;
        return wandering.propose(node, asked);
      },
    };
    const options = { rollouts: 3, maxDepth: 100 };
    const nodes = [start(2), realisedNode(1, 3)];
    const evaluating = rollout({ ...options, policy: slow }).evaluate(nodes, request());
    expect(evaluating).toBeInstanceOf(Promise);
    expect(await evaluating).toEqual(
      rollout({ ...options, policy: wandering }).evaluate(nodes, request()),
    );
    expect(running.most).toBe(6);
  });

  it('reach the outside through the context that they were given', async () => {
    const effects: unknown[] = [];
    const calling: Policy<number, number> = {
      async propose(_node, { context }) {
        return [{ action: await context.effect('look', null, () => Promise.resolve(1)) }];
      },
    };
    const plain = callContext();
    const context = callContext({
      call: (operation, request) => {
        effects.push(operation.name);
        return plain.call(operation, request);
      },
    });
    const evaluator = rollout({ policy: calling });
    expect(
      await evaluator.evaluate([start(3)], {
        environment: corridor,
        context,
        remaining: noSpend,
      }),
    ).toEqual([{ value: 1 }]);
    expect(effects).toEqual(['look', 'look']);
  });
});

describe('the options of rollouts', () => {
  it.each([
    [{ maxDepth: 0 }, 'Expected `maxDepth` to be an integer from 1 up, got `0`.'],
    [{ maxDepth: Number.POSITIVE_INFINITY }, 'Expected `maxDepth` to be an integer from 1 up'],
    [{ rollouts: 1.5 }, 'Expected `rollouts` to be an integer from 1 up, got `1.5`.'],
    [{ aggregate: 'median' }, "Expected `aggregate` to be 'mean' or 'max', got `\"median\"`."],
    [{ discount: 1.01 }, 'Expected `discount` to be a finite number from 0 to 1, got `1.01`.'],
    [{ policy: {} }, 'Expected `policy` to be an object with a method `propose`'],
    [{ evaluator: () => 1 }, 'Expected `evaluator` to be an object with a method `evaluate`'],
  ])('are checked: %j', (changes, message) => {
    const options = { policy: rightward, ...changes };
    expect(() => rollout(options as never)).toThrow(message);
  });
});

describe('a rollout that is worth the best on its way', () => {
  /** Valued by where it is: 0 → 0.2, 1 → 0.5, 2 → 0.3, 3 → 0.4. */
  const evaluator = heuristic((state: number) => [0.2, 0.5, 0.3, 0.4][state] ?? 0);
  const best = { policy: rightward, evaluator, worth: 'best' as const };
  const value = (options: object, state: number) =>
    rollout({ ...best, ...options }).evaluate([start(state)], request());

  it('takes the greatest value that it met, without that of its start', () => {
    // From 1: 2 is worth 0.3, 3 is worth 0.4.
    expect(value({ maxDepth: 2 }, 1)).toEqual([{ value: 0.4 }]);
    expect(value({ maxDepth: 1 }, 1)).toEqual([{ value: 0.3 }]);
  });

  it('counts the rewards up to a state, and discounts what follows', () => {
    // From 2: 3 is worth γ · 0.4 = 0.2, 4 is worth 0, the end γ² · 1 = 0.25.
    expect(value({ discount: 0.5 }, 2)).toEqual([{ value: 0.25 }]);
    expect(value({ discount: 0.5, maxDepth: 2 }, 2)).toEqual([{ value: 0.2 }]);
  });

  it('is worth its start where it can go nowhere, and goes on as far as it can', () => {
    const failure = { kind: 'parse', message: 'What?' } as const;
    expect(value({ policy: { propose: () => [] } }, 1)).toEqual([{ value: 0.5 }]);
    expect(value({ policy: { propose: () => [{ failure }] } }, 1)).toEqual([{ value: 0.5 }]);
    const stuck: Policy<number, number> = {
      propose: ({ state }) => (state === 2 ? [{ failure }] : [{ action: 1 }]),
    };
    expect(value({ policy: stuck }, 1)).toEqual([{ value: 0.3 }]);
  });

  it('fails where nobody can say what a state is worth', () => {
    const broken = heuristic(() => {
      throw new Error('It broke.');
    });
    expect(value({ evaluator: broken, maxDepth: 2 }, 1)).toMatchObject([
      { failure: { message: 'It broke.' } },
    ]);
  });
});
