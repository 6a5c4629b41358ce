import { describe, expect, test } from 'vitest';
import { checkedRequest } from '../../../src/backends/in-process/request.ts';
import { openModel } from '../../../src/backends/llama/open.ts';
import type { GenerateRequest, ModelWarning } from '../../../src/index.ts';
import { clock, never } from './bench.ts';
import { end, FakeModel, type FakeOptions, letters } from './fake-llama.ts';

describe('a schema', () => {
  /** Bound to a grammar that writes a text, whatever it says. */
  async function bound(text: string, fake: FakeOptions = {}) {
    const native = new FakeModel(fake);
    class Grammar extends Array<number> {
      constructor() {
        super(...[...text].map((letter) => letters.indexOf(letter)), end);
      }
    }
    const { engine } = await openModel({
      ...{ path: undefined, name: 'fake.gguf', sequences: 2, contextSize: undefined, threads: 1 },
      gpu: false,
      own: { model: native },
      binding: async () => ({
        LlamaGrammarEvaluationState: Grammar,
        getLlama: () => Promise.reject(),
      }),
    } as unknown as Parameters<typeof openModel>[0]);
    const warnings: ModelWarning[] = [];
    const ask = (request: Partial<GenerateRequest>) =>
      engine.generate(
        checkedRequest({ messages: [{ role: 'user', content: 'hello' }], ...request }, 0),
        {
          ...{ signal: never, clock },
          warn: (warning) => void warnings.push(warning),
        },
      );
    return { ask, engine, native, warnings };
  }

  test('binds the text by its grammar', async () => {
    const { ask, engine, native } = await bound('abc');
    const schema = { type: 'object', properties: {}, additionalProperties: false };
    const { completions, usage } = await ask({ schema, samples: 2 });
    expect(completions).toEqual([
      { text: 'abc', finishReason: 'stop' },
      { text: 'abc', finishReason: 'stop' },
    ]);
    expect(usage).toEqual({ inputTokens: 6, outputTokens: 8, cachedTokens: 0 });
    // The prompt but for its last token once; with that each sample begins; then three tokens each.
    expect(engine.stats.computed).toBe(5 + 2 + 2 * 3);
    await ask({ schema });
    expect(native.llama.schemas).toHaveLength(1);
  });

  test('tells log-probabilities of the model, not of what the grammar leaves', async () => {
    const logitsAfter = () =>
      letters.map((_, token) => (token === letters.indexOf('z') ? Math.log(30) : 0));
    const { ask } = await bound('ab', { logitsAfter });
    const { completions } = await ask({ schema: { type: 'string' }, topLogprobs: 1 });
    // 'z' weighs 30, the other letters 1 each.
    const total = 30 + letters.length - 1;
    const top = [{ token: 'z', logprob: expect.closeTo(Math.log(30 / total), 6) as number }];
    expect(completions[0]?.logprobs).toEqual(
      ['a', 'b'].map((token) => ({
        ...{ token, top },
        logprob: expect.closeTo(Math.log(1 / total), 6) as number,
      })),
    );
  });

  test('says what it is not held to', async () => {
    const { ask, warnings } = await bound('a');
    await ask({ schema: { type: 'integer', minimum: 3, multipleOf: 2 } });
    expect(warnings).toEqual([
      {
        model: 'llama:fake.gguf',
        about: 'schema',
        message:
          'The text is constrained to the schema except for `minimum`, `multipleOf`: check these in the result.',
      },
    ]);
  });

  test('that no grammar can be made from is refused before anything is read', async () => {
    const { ask, engine } = await bound('a');
    await expect(ask({ schema: { type: 'frog' } })).rejects.toMatchObject({ kind: 'capability' });
    expect(engine.stats.computed).toBe(0);
  });
});
