import { describe, expect, it } from 'vitest';
import type { CallContext } from '../../src/contracts/context.ts';
import type { JsonValue } from '../../src/contracts/json.ts';
import type { Policy } from '../../src/contracts/policy.ts';
import { journaled, uniform } from '../../src/policies/index.ts';
import { callContext } from '../support/call-context.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, rootNode } from '../support/nodes.ts';

const policy = uniform((state: number) => [state + 1, state * 2]);
const key = (state: number) => ({ number: state });

/** A context that writes effects down as JSON and answers equal ones from what it wrote. */
function recording() {
  const calls: unknown[] = [];
  const results = new Map<string, Promise<string>>();
  const effect: CallContext['effect'] = async (name, input, run) => {
    const id = JSON.stringify([name, input]);
    const known = results.get(id);
    if (known !== undefined) return JSON.parse(await known);
    calls.push([name, input]);
    const context = callContext();
    const result = run(context).then((value) => JSON.stringify(value));
    results.set(id, result);
    return JSON.parse(await result);
  };
  return { context: callContext({ effect }), calls };
}

function request(context: CallContext, count: number, arm?: string) {
  return {
    environment: environmentOf(),
    context,
    count,
    offset: 0,
    remaining: noSpend,
    ...(arm !== undefined && { arm }),
  };
}

describe('a journaled policy', () => {
  it('proposes what the policy proposes, in one repeatable effect', async () => {
    const { context, calls } = recording();
    const metered = journaled(policy, { name: 'steps', key });
    expect(await metered.propose(rootNode(3), request(context, Number.POSITIVE_INFINITY))).toEqual([
      { action: 4, prior: 0.5 },
      { action: 6, prior: 0.5 },
    ]);
    expect(calls).toEqual([
      [
        { name: 'policy:steps', repeatable: true, pure: true },
        { state: { number: 3 }, count: null, offset: 0, independent: false, arm: null },
      ],
    ]);
  });

  it('passes on what the policy tells of itself', () => {
    const told = { stamps: ['a'], prompts: { b: '1 c' }, propose: () => [] };
    expect(journaled(told, { name: 'steps', key: () => 0 })).toMatchObject({
      stamps: ['a'],
      prompts: { b: '1 c' },
    });
  });

  it('is asked once for equal states, and again for another count, offset or arm', async () => {
    const { context, calls } = recording();
    const metered = journaled(policy, { name: 'steps', key });
    const first = await metered.propose(rootNode(3), request(context, 1));
    expect(await metered.propose(rootNode(3), request(context, 1))).toEqual(first);
    expect(calls).toHaveLength(1);
    await metered.propose(rootNode(3), request(context, 2));
    await metered.propose(rootNode(3), { ...request(context, 1), offset: 1 });
    await metered.propose(rootNode(3), request(context, 1, 'wide'));
    await metered.propose(rootNode(4), request(context, 1));
    expect(calls).toHaveLength(5);
  });

  it('writes actions down by their codec, and failures as they are', async () => {
    const failure = { kind: 'empty', message: 'Nothing came.' } as const;
    const dates: Policy<number, Date> = {
      propose: () => [{ action: new Date(0), prior: 1 }, { failure }],
    };
    const codec = {
      encode: (date: Date): JsonValue => date.getTime(),
      decode: (json: JsonValue) => new Date(Number(json)),
    };
    const { context } = recording();
    const metered = journaled(dates, { name: 'dates', key, codec });
    expect(await metered.propose(rootNode(0), request(context, 2))).toEqual([
      { action: new Date(0), prior: 1 },
      { failure },
    ]);
  });

  it('refuses options of the wrong kind', () => {
    expect(() => journaled(policy, { name: '', key })).toThrow(
      'Expected `name` to be a text that is not empty, got `""`.',
    );
    expect(() => journaled(policy, { name: 'steps', key: 'state' as never })).toThrow(
      'Expected `key` to be a function',
    );
    expect(() => journaled({} as never, { name: 'steps', key })).toThrow(
      'Expected `policy` to be an object with a method `propose`, got one without it.',
    );
  });
});
