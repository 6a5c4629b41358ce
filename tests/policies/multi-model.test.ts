import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import type { Policy, Proposal, ProposeRequest } from '../../src/contracts/policy.ts';
import type { ReasoningState } from '../../src/environments/index.ts';
import { mcts, search } from '../../src/index.ts';
import { fromModel } from '../../src/policies/from-model/from-model.ts';
import { multiModel } from '../../src/policies/multi-model.ts';
import { uniform } from '../../src/policies/uniform.ts';
import { describePolicy, plainContext, scriptedModel } from '../../src/testing/index.ts';
import { heuristic } from '../../src/values/heuristic.ts';
import { rootNode } from '../support/nodes.ts';
import {
  asking,
  describeConduct,
  environment,
  game,
  knowing,
  outcomes,
  priors,
  question,
} from './conduct.ts';

const all = Number.POSITIVE_INFINITY;
const root = rootNode<null, string>(null);

/** A policy that proposes its name and the index of the sample, `has` of them at most. */
function arm(name: string, has = all, prior?: number) {
  const requests: ProposeRequest[] = [];
  const policy: Policy<null, string> = {
    stamps: [name],
    prompts: { [name]: '1 abc' },
    propose(_node, request) {
      requests.push(request);
      const count = Math.min(has, Number.isFinite(request.count) ? request.count : 2);
      return Array.from({ length: count }, (_, place): Proposal<string> => {
        const action = `${name}${request.offset + place}`;
        return prior === undefined ? { action } : { action, prior };
      });
    },
  };
  return { policy, requests };
}

/** Arms a, b, c, …, one for each. */
function together(
  parts: readonly { readonly policy: Policy<null, string> }[],
  options: Pick<Parameters<typeof multiModel<null, string>>[0], 'weights'> = {},
) {
  const arms = Object.fromEntries(parts.map(({ policy }, place) => ['abc'[place] ?? '', policy]));
  return multiModel({ arms, ...options });
}

describe('several policies', () => {
  test('take turns, each with a part of the samples to itself', async () => {
    const parts = [arm('a'), arm('b'), arm('c')];
    const policy = together(parts);
    // Sample i is at arm i mod 3: 4 at b, 5 at c, 6 at a, 7 at b.
    expect(outcomes(await policy.propose(root, asking(4, 4)))).toEqual(['b5', 'c7', 'a4', 'b6']);
    expect(
      parts.map(({ requests }) => requests.map(({ count, offset }) => [count, offset])),
    ).toEqual([[[1, 4]], [[2, 5]], [[1, 7]]]);
  });

  test('are all asked for all they have', async () => {
    const parts = [arm('a'), arm('b')];
    expect(outcomes(await together(parts).propose(root, asking(all)))).toEqual([
      'a0',
      'a1',
      'b0',
      'b1',
    ]);
    expect(parts[0]?.requests).toMatchObject([{ count: all, offset: 0 }]);
  });

  test('are told by name which one is to propose', async () => {
    const parts = [arm('a', all, 0.5), arm('b')];
    const policy = together(parts);
    expect(await policy.propose(root, { ...asking(2, 3), arm: 'a', independent: true })).toEqual([
      { action: 'a3', prior: 0.5 },
      { action: 'a4', prior: 0.5 },
    ]);
    expect(parts[0]?.requests).toMatchObject([{ independent: true }]);
    expect(parts[0]?.requests[0]).not.toHaveProperty('arm');
    expect(parts[1]?.requests).toEqual([]);
    await expect(policy.propose(root, { ...asking(1), arm: 'd' })).rejects.toThrow(
      'Expected `arm` to be one of a, b, got `"d"`.',
    );
  });

  test('pass on what they tell of themselves', () => {
    expect(together([arm('a'), arm('b')])).toMatchObject({
      stamps: ['a', 'b'],
      prompts: { a: '1 abc', b: '1 abc' },
    });
  });
});

describe('weights', () => {
  /** How many of 4,000 samples each arm has. */
  async function dealt(weights: Readonly<Record<string, number>>) {
    const context = plainContext({ random: seededRandom('weights') });
    const policy = together([arm('a'), arm('b'), arm('c')], { weights });
    const proposals = await policy.propose(root, { ...asking(4000), context });
    const names = outcomes(proposals).map((action) => String(action)[0]);
    return ['a', 'b', 'c'].map((name) => names.filter((other) => other === name).length);
  }

  test('say how often an arm is drawn, in any proportion', async () => {
    const [a = 0, b = 0, c = 0] = await dealt({ a: 6, b: 2 });
    // Four standard deviations of 4,000 draws at 3/4 are 110.
    expect(Math.abs(a - 3000)).toBeLessThan(110);
    expect([a + b, c]).toEqual([4000, 0]);
    expect(await dealt({ a: 6, b: 2 })).toEqual([a, b, c]);
    expect(await dealt({ c: 0.1 })).toEqual([0, 0, 4000]);
  });

  test('leave out an arm without one where all actions are wanted', async () => {
    const policy = together([arm('a'), arm('b')], { weights: { b: 2 } });
    expect(outcomes(await policy.propose(root, asking(all)))).toEqual(['b0', 'b1']);
  });

  test.each<[Record<string, number>, string]>([
    [{ d: 1 }, 'Expected `weights` to be arms among a, b, got `"d"`.'],
    [{ a: -1 }, 'Expected `weights.a` to be a finite number from 0 up'],
    [{ a: 0, b: 0 }, 'Expected `weights` to be numbers of which one is above 0'],
  ])('that are odd are usage errors: %j', (weights, message) => {
    expect(() => together([arm('a'), arm('b')], { weights })).toThrow(message);
  });

  test('and arms that are missing are usage errors', () => {
    expect(() => together([])).toThrow('Expected `arms` to be one policy or more');
    expect(() => multiModel({ arms: { x: {} as never } })).toThrow('Expected `arms.x`');
  });
});

describe('the priors of several policies', () => {
  test('are those of the mixture, with equal shares where an arm gives none', async () => {
    const policy = together([arm('a', all, 0.4), arm('b')]);
    // a has two of three samples: 2/3 · 0.4. b has one, its only one: 1/3 · 1.
    const given = priors(await policy.propose(root, asking(3)));
    expect(given.map((prior) => prior?.toFixed(9))).toEqual(
      [0.8 / 3, 1 / 3, 0.8 / 3].map((prior) => prior.toFixed(9)),
    );
    // Asked for all, each arm is one half, and b's two actions share it.
    expect(priors(await policy.propose(root, asking(all)))).toEqual([0.2, 0.2, 0.25, 0.25]);
    const weighted = together([arm('a', all, 0.5), arm('b', all, 0.5)], {
      weights: { a: 3, b: 1 },
    });
    expect(priors(await weighted.propose(root, asking(all)))).toEqual([0.375, 0.375, 0.125, 0.125]);
  });

  test('are left out where no arm gives any', async () => {
    const proposals = await together([arm('a'), arm('b')]).propose(root, asking(2));
    expect(proposals).toEqual([{ action: 'a0' }, { action: 'b1' }]);
  });
});

describe('an arm that has too little', () => {
  const lacks = (name: string, has: number, count: number) =>
    `The arm \`${name}\` has ${has} of ${count} actions.`;

  test('lacks it as failures, so that the others may still be asked', async () => {
    const policy = together([arm('a', 1), arm('b')]);
    expect(outcomes(await policy.propose(root, asking(4)))).toEqual([
      'a0',
      'b2',
      lacks('a', 1, 2),
      'b3',
    ]);
    expect(outcomes(await policy.propose(root, { ...asking(2), arm: 'a' }))).toEqual([
      'a0',
      lacks('a', 1, 2),
    ]);
    // Arm b was not asked.
    expect(await together([arm('a', 0), arm('b')]).propose(root, asking(1))).toEqual([
      { failure: { kind: 'empty', message: lacks('a', 0, 1) } },
    ]);
  });

  test('ends the branch together with all others', async () => {
    const policy = together([arm('a', 1), arm('b', 0)]);
    expect(outcomes(await policy.propose(root, asking(4)))).toEqual(['a0']);
  });

  test('or fails, fails alone', async () => {
    const gone: Policy<null, string> = {
      propose: () => {
        throw new Error('It is gone.');
      },
    };
    const parts = [{ policy: gone }, arm('b')];
    expect(outcomes(await together(parts).propose(root, asking(3)))).toEqual([
      'It is gone.',
      'b2',
      'It is gone.',
    ]);
    expect(outcomes(await together(parts).propose(root, asking(all)))).toEqual([
      'It is gone.',
      'b0',
      'b1',
    ]);
    await expect(together([{ policy: gone }]).propose(root, asking(1))).rejects.toThrow('gone');
  });
});

describe('the model of a node', () => {
  const state: ReasoningState = { question, steps: [] };
  const model = (modelId: string) =>
    scriptedModel({
      modelId,
      provider: 'lab',
      answer: (_request, index) => `${modelId} ${index}.`,
    });
  const arms = () => ({
    large: fromModel({ model: model('large') }),
    small: fromModel({ model: model('small') }),
    local: uniform<ReasoningState, string>(() => ['Wait.']),
  });

  test('is told by each completion, in a search too', async () => {
    const { tree, spend } = await search(environment, {
      policy: multiModel({ arms: arms() }),
      evaluator: heuristic<ReasoningState>(() => 0.5),
      algorithm: mcts({ width: 3 }),
      budget: { simulations: 1 },
    });
    expect(tree.root.children.map(({ action, completion }) => [action, completion?.model])).toEqual(
      [
        ['large 0.', 'lab:large'],
        ['small 1.', 'lab:small'],
        ['Wait.', undefined],
      ],
    );
    expect(spend.calls).toBe(2);
    expect(tree.root.children[0]?.completion?.callId).toBe('0');
  });

  test('is told of each item of a list, and as the model itself tells it, where it does', async () => {
    const node = rootNode<ReasoningState, string>(state);
    const told = async (from: { readonly model?: string }) => {
      const text = '{"steps": ["Add.", "Count."]}';
      const list = scriptedModel({ modelId: 'list', answer: () => ({ text, ...from }) });
      const policy = fromModel({ model: list, form: 'several' });
      return multiModel({ arms: { list: policy } }).propose(node, asking(2));
    };
    const by = (model: string) => [
      { action: 'Add.', completion: { model } },
      { action: 'Count.', completion: { model } },
    ];
    expect(await told({})).toMatchObject(by('scripted:list'));
    expect(await told({ model: 'lab:inner' })).toMatchObject(by('lab:inner'));
  });

  test('equal arms do not draw the same samples', async () => {
    const one = fromModel({ model: model('one') });
    const node = rootNode<ReasoningState, string>(state);
    const proposals = await multiModel({ arms: { a: one, b: one } }).propose(node, asking(4));
    expect(new Set(outcomes(proposals)).size).toBe(4);
  });
});

describePolicy(
  'multiModel',
  {
    create: () => {
      const one = fromModel({ model: knowing() });
      return multiModel({ arms: { one, two: uniform(game.actions) }, weights: { one: 2, two: 1 } });
    },
    environment: game,
  },
  { describe, test },
);

describeConduct('multiModel', (model) => {
  const [a, b] = [0.5, 1].map((temperature) => fromModel({ model, temperature }));
  if (a === undefined || b === undefined) throw new Error('There are two.');
  return multiModel({ arms: { a, b } });
});
