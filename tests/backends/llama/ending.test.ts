import { describe, expect, test } from 'vitest';
import { turn } from '#platform';
import { bench, sampleByHand, textsOf } from './bench.ts';
import { reciting } from './fake-llama.ts';

describe('requests that wait', () => {
  test('take turns: a large one does not hold up a small one', async () => {
    const { ask } = bench({ logitsAfter: reciting('abcdefgh', 6) }, { sequences: 2 });
    const finished: string[] = [];
    const note = (name: string) => () => void finished.push(name);
    const large = ask({ samples: 20 }).then(note('large'));
    const small = ask({ prompt: 'hallo', samples: 1 }).then(note('small'));
    await Promise.all([large, small]);
    expect(finished).toEqual(['small', 'large']);
  });

  test('are forgotten when they are aborted', async () => {
    const { ask, model } = bench({}, { sequences: 1 });
    const controller = new AbortController();
    const first = ask({ maxTokens: 5 });
    const second = ask({ prompt: 'other' }, controller.signal);
    const outcome = expect(second).rejects.toBe('enough');
    controller.abort('enough');
    await outcome;
    await first;
    expect(model.stats()).toMatchObject({
      requests: 1,
      computed: expect.toSatisfy((n) => n <= 10) as number,
    });
  });
});

describe('giving up', () => {
  test('stops between two tokens, and between two pieces of a prompt', async () => {
    for (const after of [2, 12]) {
      let passes = 0;
      const controller = new AbortController();
      const onPass = () => {
        passes++;
        if (passes === after) controller.abort('enough');
      };
      const { ask, model } = bench({ onPass, batchSize: 2 });
      const wish = { prompt: 'abcdefghijkl', samples: 2, maxTokens: 40 };
      await expect(ask(wish, controller.signal)).rejects.toBe('enough');
      for (let turns = 0; turns < 20; turns++) await turn();
      // What was on its way comes to its end: one pass for each of the samples.
      expect(passes).toBeLessThanOrEqual(after + 2);
      const { text = '' } = (await ask({ maxTokens: 12 })).completions[0] ?? {};
      expect(text).toBe(sampleByHand('hello', {}));
      expect(model.stats().requests).toBe(1);
    }
  });

  test('a model that fails in the middle fails the request, and answers the next', async () => {
    let broken = true;
    const { ask } = bench({
      onPass() {
        if (!broken) return;
        broken = false;
        throw new Error('llama_decode failed');
      },
    });
    await expect(ask()).rejects.toThrow('llama_decode failed');
    expect(textsOf(await ask({ maxTokens: 12 }))).toEqual([sampleByHand('hello', {})]);
  });

  test('closing fails what is under way, waits for it, and leaves what the caller has started', async () => {
    const { ask, model, native } = bench();
    const calls = [ask({ samples: 9, maxTokens: 40 }), ask({ prompt: 'other' })];
    const outcomes = Promise.allSettled(calls);
    for (let turns = 0; turns < 6; turns++) await turn();
    await model.close();
    const passes = native.passes.length;
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ reason: new Error('fake.gguf is closed.') });
    }
    await turn();
    expect(native.passes).toHaveLength(passes);
    expect(native.late).toBe(0);
    expect(native.contexts.map(({ disposed }) => disposed)).toEqual([true]);
    expect([native.disposed, native.llama.disposed]).toEqual([false, false]);
    await expect(ask()).rejects.toThrow('fake.gguf is closed.');
    await expect(model.load()).rejects.toThrow('fake.gguf is closed.');
  });

  test('closing while it loads leaves nothing open', async () => {
    const { model, native } = bench();
    const loading = expect(model.load()).rejects.toThrow('fake.gguf is closed.');
    await model.close();
    await loading;
    expect(native.contexts.map(({ disposed }) => disposed)).toEqual([true]);
  });
});
