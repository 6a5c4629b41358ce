import { describe, expect, test } from 'vitest';
import type { Policy, Proposal } from '../../src/contracts/policy.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { actionShare, selfConsistency } from '../../src/values/agreement/self-consistency.ts';
import { realisedNode, rootNode } from '../support/nodes.ts';
import { answering, proposals, request, told } from './judge-fixtures.ts';

const root = rootNode<string, string>('s');
const unread: Proposal<string> = { failure: { kind: 'parse', message: 'Expected a step.' } };

/** A policy that proposes the same whenever it is asked, and notes where. */
function proposing(...list: readonly (string | Proposal<string>)[]) {
  const asked: { readonly at: string; readonly count: number; readonly offset: number }[] = [];
  const policy: Policy<string, string> = {
    stamps: ['sampled'],
    propose(node, { count, offset, independent }) {
      expect(independent).toBe(true);
      asked.push({ at: String(node.state), count, offset });
      return list.map((one) => (typeof one === 'string' ? { action: one } : one));
    },
  };
  return { policy, asked };
}

describe('the agreement of samples of a policy', () => {
  test('is the share of those that agree most', async () => {
    const { policy, asked } = proposing('a', 'b', 'a', 'c', 'a', 'b', 'd', 'a');
    const evaluator = selfConsistency({ policy });
    expect(evaluator).toMatchObject({ needs: 'realised', stamps: ['sampled'] });
    expect(await evaluator.evaluate([root], request)).toEqual([
      { value: 0.5, rationale: '4 of 8 agree on `do a`.' },
    ]);
    expect(asked).toEqual([{ at: 's', count: 8, offset: 0 }]);
  });

  test('is about what a key tells; what cannot be read agrees with none', async () => {
    const { policy } = proposing('1.0', '1', '?', '2', unread);
    const key = (action: string) => (action === '?' ? undefined : String(Number(action)));
    const evaluator = selfConsistency({ policy, samples: 5, key });
    // 1 and 1.0 agree: 2 of 5.
    expect(await evaluator.evaluate([root], request)).toEqual([
      { value: 0.4, rationale: '2 of 5 agree on `1`.', unscored: 2 },
    ]);
  });

  test('with an action is the share that proposed it, drawn once a parent', async () => {
    const { policy, asked } = proposing('a', 'b', 'a', 'a');
    const evaluator = selfConsistency({ policy, about: 'action', samples: 4 });
    expect(evaluator.needs).toBe('proposed');
    expect(await evaluator.evaluate(proposals('s', 'a', 'b', 'z'), request)).toMatchObject([
      { value: 0.75 },
      { value: 0.25 },
      { value: 0 },
    ]);
    expect(asked).toHaveLength(1);
  });

  test.each([
    [
      'nothing is proposed',
      [],
      { failure: { kind: 'empty', message: 'Expected samples, got none.' } },
    ],
    [
      'nothing can be read',
      [unread, unread],
      { failure: { kind: 'parse', message: 'Expected a step.' } },
    ],
  ])('fails where %s', async (_what, list, failure) => {
    const { policy } = proposing(...list);
    expect(await selfConsistency({ policy }).evaluate([root], request)).toEqual([failure]);
  });

  test('fails alone', async () => {
    const policy: Policy<string, string> = {
      propose({ state }) {
        if (state === 't') throw new Error('Out of order.');
        return [{ action: 'a' }];
      },
    };
    const nodes = [root, rootNode<string, string>('t'), rootNode<string, string>('u')];
    expect(await selfConsistency({ policy }).evaluate(nodes, request)).toMatchObject([
      { value: 1 },
      { failure: { kind: 'call', message: 'Out of order.' } },
      { value: 1 },
    ]);
  });
});

describe('the agreement of texts of a model', () => {
  const key = (text: string) => /Answer: (\d+)/.exec(text)?.[1];

  test('is about the answers in which they end', async () => {
    const model = answering('So. Answer: 7', 'Answer: 7', 'Hm.', 'Answer: 8', 'Answer: 7');
    const evaluator = selfConsistency({ model, key, samples: 5 });
    expect(evaluator.prompts).toHaveProperty('self-consistency');
    expect(await evaluator.evaluate([root], request)).toEqual([
      { value: 0.6, rationale: '3 of 5 agree on `7`.', unscored: 1 },
    ]);
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]).toMatchObject({ samples: 5, temperature: 1, maxTokens: 512 });
    expect(told(model.requests[0] as never)).toMatch(/^Work: s\.\n\nDo not stop after one step/);
  });

  test('votes for an answer that is given, among those drawn where it was given', async () => {
    const model = answering('Answer: 7', 'Answer: 8', 'Answer: 7', 'Answer: 7');
    const evaluator = selfConsistency({ model, key, samples: 4, about: 'action' });
    const node = realisedNode('Answer: 8', 'done', { parent: root });
    const odd = realisedNode('jump', 'done', { parent: root });
    expect(await evaluator.evaluate([node, odd], request)).toEqual([
      { value: 0.25, about: 'action', rationale: '1 of 4 agree on `8`.' },
      {
        failure: {
          kind: 'invalid',
          message: 'Expected `key` to read the action of the node, got `undefined`.',
        },
      },
    ]);
    expect(told(model.requests[0] as never)).toBe('Work: s.');
    expect(model.requests).toHaveLength(1);
  });

  test('fails where no text has an answer, and only there', async () => {
    const model = scriptedModel({
      answer: (asked) => (told(asked).startsWith('Work: s.') ? 'Hm.' : 'Answer: 1'),
    });
    const nodes = [root, rootNode<string, string>('t')];
    expect(await selfConsistency({ model, key }).evaluate(nodes, request)).toMatchObject([
      { failure: { kind: 'parse', message: 'Expected a text with a key, got `Hm.`.' } },
      { value: 1 },
    ]);
  });

  test('says what is wrong with its options', () => {
    const model = answering('');
    const { policy } = proposing();
    const wrong = [
      { model, key: undefined },
      { model, policy, key },
      { policy, samples: 0 },
      { policy: {} },
      { policy, about: 'path' },
    ];
    const names = ['key', 'policy', 'samples', 'policy', 'about'];
    for (const [place, options] of wrong.entries()) {
      expect(() => selfConsistency({ ...options } as never)).toThrow(`\`${names[place]}\``);
    }
  });
});

describe('the share of an action', () => {
  test('is its prior, for nothing', async () => {
    const evaluator = actionShare();
    expect(evaluator.needs).toBe('proposed');
    const nodes = [0.6, 0, 1.5].map((prior) => realisedNode('a', 's', { prior }));
    expect(await evaluator.evaluate(nodes, request)).toEqual([
      { value: 0.6 },
      { value: 0 },
      {
        failure: { kind: 'invalid', message: expect.stringContaining('prior of a node') as string },
      },
    ]);
  });
});
