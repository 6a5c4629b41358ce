import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import type { ProposeRequest } from '../../src/contracts/policy.ts';
import { uniform } from '../../src/policies/index.ts';
import { callContext } from '../support/call-context.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, proposedNode, rootNode } from '../support/nodes.ts';

const letters = ['a', 'b', 'c', 'd'];
const policy = uniform((state: number) => letters.slice(0, state));

function request(count: number, seed: string | number = 0): ProposeRequest {
  const context = callContext({ random: seededRandom(seed) });
  return { environment: environmentOf(), context, count, offset: 0, remaining: noSpend };
}

describe('the uniform policy', () => {
  it('lists all actions in their order with equal priors', () => {
    const all = letters.map((action) => ({ action, prior: 0.25 }));
    expect(policy.propose(rootNode(4), request(Number.POSITIVE_INFINITY))).toEqual(all);
    expect(policy.propose(rootNode(4), request(4))).toEqual(all);
    expect(policy.propose(rootNode(0), request(4))).toEqual([]);
  });

  it('draws different actions, each set of two equally often', () => {
    const counts = new Map<string, number>();
    for (let seed = 0; seed < 6_000; seed++) {
      const drawn = JSON.stringify(policy.propose(rootNode(4), request(2, seed)));
      const actions = [...drawn.matchAll(/"action":"(.)","prior":0\.25/g)].map(([, name]) => name);
      expect(new Set(actions).size).toBe(2);
      const pair = actions.toSorted().join('');
      counts.set(pair, (counts.get(pair) ?? 0) + 1);
    }
    // Six pairs, 1,000 times each; four standard deviations are 115.
    expect(counts.size).toBe(6);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(115);
  });

  it('walks fairly when asked for one action at a time', () => {
    const counts = new Map<string, number>();
    for (let seed = 0; seed < 4_000; seed++) {
      const drawn = JSON.stringify(policy.propose(rootNode(4), request(1, seed)));
      counts.set(drawn, (counts.get(drawn) ?? 0) + 1);
    }
    expect(counts.size).toBe(4);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(110);
  });

  it('does not propose again what the node has, until nothing is left', () => {
    const widening = uniform(() => [{ to: 1 }, { to: 2 }, { to: 3 }]);
    const children: { to: number }[] = [];
    for (let asked = 0; asked < 3; asked++) {
      const [first] = widening.propose(rootNode(0, children), request(1, asked)) as [
        { action: { to: number }; prior: number },
      ];
      expect(first.prior).toBeCloseTo(1 / 3, 12);
      children.push({ ...first.action });
    }
    expect(children.map(({ to }) => to).toSorted()).toEqual([1, 2, 3]);
    expect(widening.propose(rootNode(0, children), request(1))).toEqual([]);
  });

  it('refuses what it cannot work with', () => {
    expect(() => uniform(letters as never)).toThrow(
      'Expected `actions` to be a function, got an array of 4.',
    );
    expect(() => policy.propose(proposedNode(4, 'a'), request(1))).toThrow(
      'Expected a node with a state, got a proposed one.',
    );
  });
});
