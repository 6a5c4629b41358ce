import { describe, expect, test } from 'vitest';
import type { Policy, Proposal, ProposeRequest } from '../../src/contracts/policy.ts';
import { fromModel } from '../../src/policies/from-model/from-model.ts';
import { mostFrequent } from '../../src/policies/most-frequent.ts';
import { describePolicy } from '../../src/testing/index.ts';
import { rootNode } from '../support/nodes.ts';
import { asking, describeConduct, game, knowing, outcomes, priors } from './conduct.ts';

const failure = { kind: 'parse', message: 'Expected a letter.' } as const;
const all = Number.POSITIVE_INFINITY;

/** A policy that proposes these letters, a failure for `!`, and what it was asked for. */
function letters(...batches: readonly string[]) {
  const requests: ProposeRequest[] = [];
  const policy: Policy<null, string> = {
    stamps: ['spelled'],
    prompts: { letters: '1 abc' },
    propose(_node, request) {
      const letter = [...(batches[requests.length] ?? '')];
      requests.push(request);
      return letter.map(
        (action, place): Proposal<string> =>
          action === '!' ? { failure } : { action, completion: { text: `${action}${place}` } },
      );
    },
  };
  return { requests, policy };
}

describe('the most frequent actions', () => {
  test('of 20 samples are 5, with their shares among those as priors', async () => {
    // a 9, b 5, c 3, d, e and f 1 each: f came last of the single ones.
    const { policy, requests } = letters('abcabcabcababaaaadef');
    const counts = { a: 9, b: 5, c: 3, d: 1, e: 1 };
    const proposals = await mostFrequent(policy).propose(rootNode(null), asking(all));
    expect(outcomes(proposals)).toEqual(Object.keys(counts));
    expect(priors(proposals)).toEqual([9 / 19, 5 / 19, 3 / 19, 1 / 19, 1 / 19]);
    expect(requests).toMatchObject([{ count: 20, offset: 0, independent: false }]);
  });

  test('come in the order of their counts, equally frequent ones in that of their first samples', async () => {
    const { policy } = letters('abbcc');
    const proposals = await mostFrequent(policy, { keep: 2 }).propose(rootNode(null), asking(all));
    expect(proposals).toEqual([
      { action: 'b', prior: 0.5, completion: { text: 'b1' } },
      { action: 'c', prior: 0.5, completion: { text: 'c3' } },
    ]);
  });

  test('are no more than were asked for, and share all of the prior', async () => {
    const { policy } = letters('aaabbc');
    const proposals = await mostFrequent(policy).propose(rootNode(null), asking(2));
    expect(outcomes(proposals)).toEqual(['a', 'b']);
    expect(priors(proposals)).toEqual([3 / 5, 2 / 5]);
  });

  test('are told apart by a key', async () => {
    const { policy } = letters('aAbA');
    const key = (action: string) => action.toLowerCase();
    const proposals = await mostFrequent(policy, { key }).propose(rootNode(null), asking(all));
    expect(outcomes(proposals)).toEqual(['a', 'b']);
    expect(priors(proposals)).toEqual([3 / 4, 1 / 4]);
  });
});

describe('samples that came to nothing', () => {
  test('are failures behind the actions, and count in no prior', async () => {
    const { policy } = letters('!ab!a');
    const proposals = await mostFrequent(policy).propose(rootNode(null), asking(all));
    expect(outcomes(proposals)).toEqual(['a', 'b', failure.message, failure.message]);
    expect(priors(proposals)).toEqual([2 / 3, 1 / 3]);
  });

  test('are left out where there is no room for them', async () => {
    const { policy } = letters('!!a!', '!!!!');
    const most = mostFrequent(policy);
    expect(outcomes(await most.propose(rootNode(null), asking(2)))).toEqual(['a', failure.message]);
    expect(await most.propose(rootNode(null), asking(2))).toEqual([{ failure }, { failure }]);
  });
});

describe('asked again, the most frequent actions', () => {
  test('are new ones, from samples of their own, with their share among new and known ones', async () => {
    const { policy, requests } = letters('caabbbb');
    const known = rootNode<null, string>(null, ['a']);
    const proposals = await mostFrequent(policy, { samples: 7, keep: 1 }).propose(
      known,
      asking(3, 3),
    );
    // a came twice and is there, b four times; c is not kept.
    expect(proposals).toMatchObject([{ action: 'b', prior: 4 / 6 }]);
    expect(requests).toMatchObject([{ count: 7, offset: 21 }]);
  });

  test('may come again where independent samples are wanted', async () => {
    const { policy, requests } = letters('aab');
    const known = rootNode<null, string>(null, ['a']);
    const request = { ...asking(all), independent: true, arm: 'wide' };
    const proposals = await mostFrequent(policy).propose(known, request);
    expect(priors(proposals)).toEqual([2 / 3, 1 / 3]);
    expect(requests).toMatchObject([{ independent: true, arm: 'wide' }]);
  });
});

test('what a policy tells of itself is passed on, and options are checked', () => {
  const { policy } = letters();
  expect(mostFrequent(policy)).toMatchObject({
    stamps: ['spelled'],
    prompts: { letters: '1 abc' },
  });
  expect(() => mostFrequent(policy, { samples: 0 })).toThrow(
    'Expected `samples` to be an integer from 1 up, got `0`.',
  );
  expect(() => mostFrequent(policy, { keep: 1.5 })).toThrow('Expected `keep`');
  expect(() => mostFrequent({} as never)).toThrow('a method `propose`');
});

describePolicy(
  'mostFrequent',
  {
    create: () => mostFrequent(fromModel({ model: knowing() })),
    environment: game,
  },
  { describe, test },
);

describeConduct('mostFrequent', (model) =>
  mostFrequent(fromModel({ model }), { samples: 6, keep: 3 }),
);
