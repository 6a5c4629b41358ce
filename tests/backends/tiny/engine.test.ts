import { describe, expect, test } from 'vitest';
import { chatOf } from '../../../src/backends/in-process/chat.ts';
import { checkedRequest } from '../../../src/backends/in-process/request.ts';
import { Engine } from '../../../src/backends/tiny/engine.ts';
import { tokenizerOf } from '../../../src/backends/tiny/tokenizer.ts';
import type { GenerateRequest, Generation } from '../../../src/index.ts';
import {
  type FakeDecoder,
  type FakeDecoderOptions,
  fakeDecoder,
} from '../../support/fake-decoder.ts';

/** `</s>`, two bytes of é, and letters: token 4 is `a`. */
const tokens = ['<unk>', '</s>', '<0xC3>', '<0xA9>', ...'abcdefghijklmnopqrstuvwxyz'];
const end = 1;
const tokenizer = tokenizerOf({
  model: 'llama',
  tokens,
  types: [2, 3, 6, 6, ...Array.from({ length: 26 }, () => 1)],
  scores: tokens.map(() => 0),
  eos: end,
  unknown: 0,
  addBos: false,
  addSpacePrefix: false,
});

interface Bench {
  readonly engine: Engine;
  readonly decoder: FakeDecoder;
  ask(
    request: Omit<GenerateRequest, 'messages'> & { readonly prompt?: string },
    signal?: AbortSignal,
  ): Promise<Generation>;
}

function bench(
  options: Partial<FakeDecoderOptions> & { batch?: number; chunk?: number } = {},
): Bench {
  const { batch = 16, chunk = 8, ...rest } = options;
  const decoder = fakeDecoder({ vocabularySize: tokens.length, ...rest });
  const chat = chatOf({ tokenizer, model: 'fake' });
  const engine = new Engine({ decoder, tokenizer, chat, batch, chunk });
  return {
    engine,
    decoder,
    ask({ prompt = 'hello', ...request }, signal = new AbortController().signal) {
      const messages = [{ role: 'user' as const, content: prompt }];
      return engine.generate(checkedRequest({ messages, ...request }, 0), signal);
    },
  };
}

/** A model that writes a text after the prompt `hello`, whatever is asked. */
function reciting(written: readonly number[]): Partial<FakeDecoderOptions> {
  return {
    logitsAfter: ({ length }) => {
      const logits = new Float32Array(tokens.length).fill(-30);
      logits[written[length - 5] ?? end] = 30;
      return logits;
    },
  };
}

const letter = (name: string) => tokens.indexOf(name);
const word = (text: string) => [...text].map(letter);
const textsOf = ({ completions }: Generation) => completions.map(({ text }) => text);

describe('a sample', () => {
  test('is the same alone, among its siblings, and among other requests', async () => {
    const { ask } = bench({ batch: 5 });
    const wish = { seed: 4, maxTokens: 12 };
    const crowd = Promise.all(
      ['some', 'others', 'hello'].map((prompt) => ask({ prompt, samples: 3, maxTokens: 20 })),
    );
    const siblings = await ask({ ...wish, samples: 6 });
    await crowd;
    expect(new Set(textsOf(siblings)).size).toBe(6);
    for (const [offset, completion] of siblings.completions.entries()) {
      const alone = await bench({ batch: 1, chunk: 2 }).ask({ ...wish, offset });
      expect(alone.completions).toEqual([completion]);
    }
  });

  test('depends on the seed and on the prompt', async () => {
    const { ask } = bench();
    const [first] = textsOf(await ask({ seed: 1 }));
    expect(textsOf(await ask({ seed: 1 }))).toEqual([first]);
    expect(textsOf(await ask({ seed: 2 }))).not.toEqual([first]);
    expect(textsOf(await ask({ seed: 1, prompt: 'hullo' }))).not.toEqual([first]);
  });

  test('ends at the end token, which counts as a token', async () => {
    const { ask } = bench(reciting(word('fin')));
    expect(await ask({ logprobs: true })).toMatchObject({
      completions: [
        {
          text: 'fin',
          finishReason: 'stop',
          logprobs: [{ token: 'f' }, { token: 'i' }, { token: 'n' }],
        },
      ],
      usage: { inputTokens: 5, outputTokens: 4 },
    });
  });

  test('ends at its limit, and at the end of the context', async () => {
    const { ask } = bench({ ...reciting(word('abcdefghijklmnop')), contextLength: 10 });
    const cut = await ask({ maxTokens: 3 });
    expect(cut.completions).toEqual([{ text: 'abc', finishReason: 'length' }]);
    expect(cut.usage.outputTokens).toBe(3);
    // Five are read, five more can be, and the token after the last of them is known.
    const full = await ask({});
    expect(full.completions).toEqual([{ text: 'abcdef', finishReason: 'length' }]);
  });

  test('ends at a stop text, also one in several tokens, which is cut off', async () => {
    const { ask } = bench(reciting(word('abcabdx')));
    const { completions, usage } = await ask({ stop: ['zz', 'bd', 'dx'], logprobs: true });
    expect(completions[0]).toMatchObject({ text: 'abca', finishReason: 'stop' });
    // The tokens of the stop text have no place in the text, and count.
    expect(completions[0]?.logprobs?.map(({ token }) => token)).toEqual([...'abca']);
    expect(usage.outputTokens).toBe(6);
    expect(textsOf(await ask({ stop: ['a'] }))).toEqual(['']);
    expect(textsOf(await ask({ stop: ['abdx', 'cab'] }))).toEqual(['ab']);
  });

  test('waits for the whole of a character before it looks for a stop text', async () => {
    const { ask } = bench(reciting([letter('a'), 2, 3, letter('b'), 2]));
    expect(textsOf(await ask({}))).toEqual(['aéb']);
    expect(textsOf(await ask({ stop: ['é'] }))).toEqual(['a']);
  });

  test('tells the likeliest tokens, before temperature and cuts', async () => {
    const { ask } = bench();
    const wish = { logprobs: true, topLogprobs: 4, maxTokens: 1 };
    const [warm] = (await ask({ ...wish, temperature: 3 })).completions;
    const [cold] = (await ask({ ...wish, temperature: 0, topK: 1 })).completions;
    expect(warm?.logprobs?.[0]?.top).toEqual(cold?.logprobs?.[0]?.top);
    expect(cold?.logprobs?.[0]?.top?.[0]).toEqual({
      token: cold?.logprobs?.[0]?.token,
      logprob: cold?.logprobs?.[0]?.logprob,
    });
    expect(warm?.logprobs?.[0]?.top).toHaveLength(4);
    expect((await ask({ maxTokens: 1 })).completions[0]).not.toHaveProperty('logprobs');
  });
});

describe('the batch', () => {
  test('has the siblings of a prompt in it, which is read once', async () => {
    const { ask, decoder } = bench(reciting(word('abc')));
    await ask({ samples: 3 });
    // The prompt, then three times three letters; equal ones are cached.
    expect(decoder.items).toEqual([1, 3, 3, 3]);
    expect(decoder.rows).toEqual([5, 1, 1, 1]);
  });

  test('takes long prompts piece by piece, beside the samples under way', async () => {
    const { ask, decoder } = bench({ ...reciting(word('abcdefghij')), chunk: 4 });
    const short = ask({ maxTokens: 6 });
    await new Promise(setImmediate);
    await Promise.all([short, ask({ prompt: 'a long prompt', maxTokens: 1 })]);
    expect(Math.max(...decoder.rows)).toBeLessThanOrEqual(1 + 4);
    expect(decoder.items).toContain(2);
  });

  test('has no more samples in it than allowed', async () => {
    const { ask, decoder } = bench({ batch: 3 });
    const [many, few] = await Promise.all([
      ask({ samples: 8, maxTokens: 5, seed: 1 }),
      ask({ samples: 2, maxTokens: 5, prompt: 'other' }),
    ]);
    expect(many.completions).toHaveLength(8);
    expect(few.completions).toHaveLength(2);
    expect(Math.max(...decoder.items)).toBeLessThanOrEqual(4);
  });

  test('reads equal prompts once', async () => {
    const { ask, decoder } = bench(reciting([]));
    await Promise.all([ask({ seed: 1 }), ask({ seed: 2 }), ask({ seed: 3 })]);
    expect(decoder.rows.reduce((sum, rows) => sum + rows, 0)).toBe(5);
  });

  test('lets the event loop turn', async () => {
    const { ask } = bench();
    let turns = 0;
    const count = () => {
      turns++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    await ask({ maxTokens: 30, temperature: 0 });
    clearImmediate(counting);
    expect(turns).toBeGreaterThan(5);
  });
});

describe('a request', () => {
  test('leaves at once when it is aborted, and takes no more time', async () => {
    const { ask, decoder } = bench({ ...reciting(word('abcdefghij')) });
    const controller = new AbortController();
    const reason = new Error('changed my mind');
    const aborted = ask({ samples: 2 }, controller.signal);
    const other = ask({});
    for (let turns = 0; turns < 4; turns++) await new Promise(setImmediate);
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    const { length } = decoder.items;
    expect(textsOf(await other)).toEqual(['abcdefghij']);
    expect(decoder.items.slice(length).every((items) => items === 1)).toBe(true);
    await expect(ask({}, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test('is refused where its prompt is longer than the context', async () => {
    const { ask } = bench({ ...reciting([]), contextLength: 5 });
    await expect(ask({ prompt: 'hellos' })).rejects.toThrow(
      'Expected a prompt of at most 5 tokens, the context of the model, got 6.',
    );
    expect(textsOf(await ask({ prompt: 'hello' }))).toEqual(['']);
    await expect(ask({ prompt: '' })).rejects.toThrow('Expected `messages` to be text');
  });

  test('fails alone', async () => {
    const { ask } = bench({
      logitsAfter: (read) => {
        const logits = new Float32Array(tokens.length);
        logits[end] = 9;
        return read.includes(letter('x')) ? logits.fill(Number.NaN) : logits;
      },
    });
    const [bad, good] = await Promise.allSettled([
      ask({ prompt: 'x', temperature: 0 }),
      ask({ temperature: 0 }),
    ]);
    expect(bad).toMatchObject({ status: 'rejected' });
    expect(good).toMatchObject({ status: 'fulfilled' });
  });

  test('fails with the decoder, which may work again for the next one', async () => {
    let isBroken = true;
    const { ask } = bench({
      logitsAfter: () => {
        if (isBroken) throw new Error('out of memory');
        return Float32Array.from(tokens, (_, token) => (token === end ? 9 : 0));
      },
    });
    await expect(ask({})).rejects.toThrow('out of memory');
    isBroken = false;
    expect(textsOf(await ask({ temperature: 0 }))).toEqual(['']);
  });

  test('fails where the engine closes', async () => {
    const { ask, engine } = bench();
    const answer = ask({ maxTokens: 50 });
    engine.close(new Error('It is closed.'));
    await expect(answer).rejects.toThrow('It is closed.');
  });
});

test('an engine counts what it does', async () => {
  const { ask, engine } = bench(reciting(word('abc')));
  await ask({ samples: 2 });
  expect(engine.stats).toMatchObject({ requests: 1, sampled: 8, computed: 8, batches: 4 });
  expect(engine.stats.seconds).toBeGreaterThan(0);
});
