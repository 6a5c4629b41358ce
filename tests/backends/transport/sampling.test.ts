import { describe, expect, test } from 'vitest';
import { Downgrades } from '../../../src/backends/transport/downgrades.ts';
import { askForSamples, cutAtStop } from '../../../src/backends/transport/sampling.ts';
import { sumOfUsages } from '../../../src/calls/usage.ts';
import type { GenerateRequest, Generation } from '../../../src/index.ts';
import { notedCall, rejectionOf } from './stub-fetch.ts';

const messages = [{ role: 'user', content: 'Hi' }] as const;

/** Answers with the index of each sample; `most` in one request. */
function server(most: number) {
  const requests: (readonly [number, number])[] = [];
  const ask = async ({ samples = 1, offset = 0 }: GenerateRequest): Promise<Generation> => {
    requests.push([offset, samples]);
    const count = Math.min(samples, most);
    return {
      completions: Array.from({ length: count }, (_, place) => ({ text: `${offset + place}` })),
      usage: { inputTokens: 5, outputTokens: count },
      requestId: `r${offset}`,
    };
  };
  return { ask, requests };
}

function textsOf({ completions }: Generation): string {
  return completions.map(({ text }) => text).join(' ');
}

describe('samples', () => {
  test('come from one request where the server gives several', async () => {
    const { ask, requests } = server(9);
    const call = notedCall();
    const downgrades = new Downgrades('m', { n: true });
    const generation = await askForSamples(
      ask,
      { messages, samples: 3, offset: 4 },
      { call, downgrades },
    );
    expect(textsOf(generation)).toBe('4 5 6');
    expect(requests).toEqual([[4, 3]]);
    expect(generation.usage).toEqual({ inputTokens: 5, outputTokens: 3 });
    expect(call.furthers).toEqual([]);
  });

  test('come one by one where it gives one, the first ahead of the others', async () => {
    const { ask, requests } = server(9);
    const call = notedCall();
    const downgrades = new Downgrades('m', {});
    const generation = await askForSamples(ask, { messages, samples: 3 }, { call, downgrades });
    expect(textsOf(generation)).toBe('0 1 2');
    expect(requests).toEqual([
      [0, 1],
      [1, 1],
      [2, 1],
    ]);
    expect(generation.usage).toEqual({ inputTokens: 15, outputTokens: 3, requests: 3 });
    expect(generation.requestId).toBe('r0');
    expect(call.furthers).toHaveLength(2);
    expect(call.warnings).toEqual([]);
  });

  test('are asked for again where the server took no notice of their number, and that is remembered', async () => {
    const { ask, requests } = server(1);
    const call = notedCall();
    const downgrades = new Downgrades('m', { n: true });
    const generation = await askForSamples(ask, { messages, samples: 3 }, { call, downgrades });
    expect(textsOf(generation)).toBe('0 1 2');
    expect(requests).toEqual([
      [0, 3],
      [1, 1],
      [2, 1],
    ]);
    expect(call.warnings.map(({ about }) => about)).toEqual(['n']);
    await askForSamples(ask, { messages, samples: 2, offset: 7 }, { call, downgrades });
    expect(requests.slice(3)).toEqual([
      [7, 1],
      [8, 1],
    ]);
  });
});

describe('samples that are asked for one by one', () => {
  test('come so on demand, and nothing is learnt from that', async () => {
    const { ask, requests } = server(9);
    const call = notedCall();
    const downgrades = new Downgrades('m', { n: true });
    const surroundings = { call, downgrades, oneByOne: true };
    await askForSamples(ask, { messages, samples: 2 }, surroundings);
    expect(requests).toEqual([
      [0, 1],
      [1, 1],
    ]);
    expect(downgrades.capabilities.n).toBe(true);
    expect(call.warnings).toEqual([]);
  });
});

describe('samples, where something goes wrong,', () => {
  test('are dropped where there are more than were asked for', async () => {
    const ask = async () => ({
      completions: [{ text: 'a' }, { text: 'b' }, { text: 'c' }],
      usage: {},
    });
    const downgrades = new Downgrades('m', { n: true });
    const generation = await askForSamples(
      ask,
      { messages, samples: 2 },
      { call: notedCall(), downgrades },
    );
    expect(textsOf(generation)).toBe('a b');
  });

  test('fail together, once none of them is under way', async () => {
    let underWay = 0;
    const ask = async ({ offset = 0 }: GenerateRequest): Promise<Generation> => {
      underWay++;
      for (let turns = 0; turns < offset; turns++) await new Promise(setImmediate);
      underWay--;
      if (offset === 1) throw new Error('The second fails.');
      return { completions: [{ text: 'a' }], usage: {} };
    };
    const downgrades = new Downgrades('m', {});
    const asking = askForSamples(ask, { messages, samples: 4 }, { call: notedCall(), downgrades });
    expect((await rejectionOf(asking)).message).toBe('The second fails.');
    expect(underWay).toBe(0);
  });

  test('that the budget does not allow are not asked for', async () => {
    const { ask, requests } = server(1);
    const call = notedCall({
      requestExtraCall: () => Promise.reject(new Error('No budget left.')),
    });
    const downgrades = new Downgrades('m', {});
    const asking = askForSamples(ask, { messages, samples: 2 }, { call, downgrades });
    expect((await rejectionOf(asking)).message).toBe('No budget left.');
    expect(requests).toEqual([[0, 1]]);
  });
});

test('a usage that one request does not tell is unknown for all', () => {
  expect(
    sumOfUsages([
      { inputTokens: 1, outputTokens: 2, cachedTokens: 3 },
      { inputTokens: 10, reasoningTokens: 4, cachedTokens: 0 },
    ]),
  ).toEqual({ inputTokens: 11, cachedTokens: 3, requests: 2 });
});

describe('a stop text', () => {
  const completion = { text: 'one. two. three', finishReason: 'length' } as const;

  test('ends an answer where the first of them begins', () => {
    expect(cutAtStop(completion, ['three', '. '])).toEqual({ text: 'one', finishReason: 'stop' });
  });

  test('that is not there changes nothing', () => {
    expect(cutAtStop(completion, ['four', ''])).toBe(completion);
    expect(cutAtStop(completion)).toBe(completion);
  });

  test('takes the tokens with it that begin behind it', () => {
    const logprobs = ['on', 'e.', ' two', '. three'].map((token) => ({ token, logprob: -1 }));
    expect(cutAtStop({ ...completion, logprobs }, ['.']).logprobs).toEqual([
      { token: 'on', logprob: -1 },
      { token: 'e.', logprob: -1 },
    ]);
  });
});
