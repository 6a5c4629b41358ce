import { afterAll, describe, expect, test } from 'vitest';
import { tiny } from '../../src/backends/tiny/index.ts';
import type { GenerateRequest, Generation, LanguageModel, ModelCall } from '../../src/index.ts';
import { describeLanguageModel, scriptedModel } from '../../src/testing/index.ts';
import { failuresOf } from '../support/collecting-runner.ts';
import { modelFolder } from '../support/random-model.ts';
import { sensibleModel } from '../support/sensible-model.ts';

const runner = { describe, test };

describeLanguageModel('scripted', { create: sensibleModel }, runner);

describeLanguageModel(
  'scripted, one answer a request and nothing declared',
  {
    create: () =>
      alone(
        scriptedModel({
          answer: ({ maxTokens = 8 }) => ({
            text: 'word '.repeat(maxTokens),
            finishReason: 'length',
          }),
          usage: ({ messages }, completions) => ({
            inputTokens: messages[0]?.content.length ?? 0,
            outputTokens: completions.reduce((sum, { text }) => sum + text.length / 5, 0),
          }),
          latencyMs: 5,
          capabilities: {},
        }),
      ),
  },
  runner,
);

const folder = modelFolder();
const file = folder.write('random.gguf');

for (const thread of [true, false]) {
  const model = tiny({ model: file, thread });
  const place = thread ? 'in a thread' : 'without a thread';
  describeLanguageModel(`tiny, ${place}`, { create: () => model }, runner);
  afterAll(() => model.close());
}

afterAll(() => folder[Symbol.dispose]());

/** A server without `n`: it says so. */
function alone(model: LanguageModel): LanguageModel {
  return changed(model, (request, call, generate) =>
    request.samples !== undefined && request.samples > 1
      ? Promise.reject(new Error('One completion a request.'))
      : generate(request, call),
  );
}

describe('the contract of language models: answers', () => {
  test('passes a sensible model', async () => {
    expect(await failuresAs((request, call, generate) => generate(request, call))).toEqual([]);
  });

  test('fails a model that gives one sample whatever is asked for', async () => {
    const failures = await failuresAs((request, call, generate) =>
      generate({ ...request, samples: 1 }, call),
    );
    expect(failures).toContain('gives as many completions as it is asked for, or says why not');
  });

  test('fails a model that refuses several samples although it declares them', async () => {
    expect(await failuresOf((to) => describeLanguageModel('x', refusing, to))).toContain(
      'gives as many completions as it is asked for, or says why not',
    );
  });
});

describe('the contract of language models: aborts', () => {
  test('fails a model that does not hear an abort', async () => {
    const failures = await failuresAs((request, call, generate) =>
      generate(request, { ...call, signal: new AbortController().signal }),
    );
    expect(failures).toEqual([
      'does not begin when its signal is aborted already',
      'rejects with the reason of its signal when it is aborted on the way',
      'answers other calls as if the aborted one had never been',
    ]);
  });

  test('fails a model that wraps the reason of a signal', async () => {
    const failures = await failuresAs(async (request, call, generate) => {
      try {
        return await generate(request, call);
      } catch (error) {
        throw new Error('The request failed.', { cause: error });
      }
    });
    expect(failures).toContain(
      'rejects with the reason of its signal when it is aborted on the way',
    );
  });
});

describe('the contract of language models: usage', () => {
  test('fails a model that counts the tokens of one choice', async () => {
    const failures = await failuresAs(
      answering(({ completions, usage }) => ({
        completions,
        usage: {
          ...usage,
          outputTokens: Math.ceil((usage.outputTokens ?? 0) / completions.length),
        },
      })),
    );
    expect(failures).toContain('counts the tokens of all samples');
  });

  test('fails a model whose usage is no number of tokens', async () => {
    const failures = await failuresAs(
      answering(({ completions }) => ({ completions, usage: { inputTokens: -1 } })),
    );
    expect(failures).toContain('tells its usage in whole numbers from 0 up');
  });
});

describe('the contract of language models: what is promised', () => {
  test('fails a model that mixes up calls at the same time', async () => {
    let last: Promise<Generation> | undefined;
    let underWay = 0;
    const failures = await failuresAs(async (request, call, generate) => {
      const own = generate(request, call);
      const answer = underWay > 0 && last !== undefined ? last : own;
      last = own;
      underWay++;
      try {
        await own;
        return await answer;
      } finally {
        underWay--;
      }
    });
    expect(failures).toContain('keeps calls at the same time apart');
  });

  test('fails a model that leaves the stop text in the answer', async () => {
    const failures = await failuresAs(async (request, call, generate) => {
      const generation = await generate(request, call);
      const completions = generation.completions.map((completion) => ({
        ...completion,
        text: completion.text + (request.stop?.[0] ?? ''),
      }));
      return { ...generation, completions };
    });
    expect(failures).toEqual(['cuts an answer off where a stop text begins']);
  });

  test('fails a model that ignores what it declares', async () => {
    const without = (name: keyof GenerateRequest) =>
      failuresAs(({ [name]: _, ...request }, call, generate) =>
        generate(request as GenerateRequest, call),
      );
    expect(await without('seed')).toEqual([
      'repeats itself with the same seed, and not with another',
    ]);
    expect(await without('offset')).toContain('gives a sample by its index, alone or among others');
    expect(await without('temperature')).toContain('takes the likeliest tokens at temperature 0');
    expect(await without('topK')).toContain(
      'has no choice but the likeliest token where `topK` is 1',
    );
    expect(await without('logprobs')).toContain('tells one log-probability a token, at most 0');
    expect(await without('topLogprobs')).toContain('tells the likeliest tokens in order');
    expect(await without('maxTokens')).toContain('ends an answer at `maxTokens`, and says so');
  });
});

describe('the contract of language models: samples', () => {
  test('fails a model whose samples are all the same', async () => {
    const failures = await failuresAs(
      answering(({ completions: [first, ...others], usage }) => ({
        completions: first === undefined ? [] : [first, ...others.map(() => first)],
        usage,
      })),
    );
    expect(failures).toContain('gives samples that differ');
  });

  test('fails a model that begins a partial answer again', async () => {
    const failures = await failuresAs(async (request, call, generate) => {
      const generation = await generate(request, call);
      const last = request.messages.at(-1);
      const partial = last?.role === 'assistant' ? last.content : '';
      const completions = generation.completions.map((completion) => ({
        ...completion,
        text: partial + completion.text,
      }));
      return { ...generation, completions };
    });
    expect(failures).toEqual(['goes on from a partial answer']);
  });

  test('fails a model that changes the messages it is given', async () => {
    const failures = await failuresAs((request, call, generate) => {
      (request.messages as unknown[]).push({ role: 'user', content: 'Thank you.' });
      return generate(request, call);
    });
    expect(failures).toContain('leaves the request as it was');
  });

  test('fails a model that does not say why an answer ended', async () => {
    const failures = await failuresAs(
      answering(({ completions, usage }) => ({
        completions: completions.map(({ finishReason: _, ...completion }) => completion),
        usage,
      })),
    );
    expect(failures).toContain('says why each completion ended');
  });

  test('fails a model that cannot be used after an abort', async () => {
    let isBroken = false;
    const failures = await failuresAs(async (request, call, generate) => {
      if (isBroken) throw new Error('The connection is closed.');
      try {
        return await generate(request, call);
      } catch (error) {
        isBroken = true;
        throw error;
      }
    });
    expect(failures).toContain('answers other calls as if the aborted one had never been');
  });

  test('reports what a model is exempt from, with the reason', async () => {
    const names: string[] = [];
    describeLanguageModel(
      'x',
      {
        create: sensibleModel,
        exempt: { 'its server does not': ['goes on from a partial answer'] },
      },
      { describe: (_name, define) => define(), test: (name) => void names.push(name) },
    );
    expect(names).toContain('goes on from a partial answer — not claimed: its server does not');
  });

  test('refuses to be exempt from a test that there is not, and names the nearest', () => {
    const exempt = { 'its server does not': ['goes on from half an answer'] };
    const runner = { describe: (_name: string, define: () => void) => define(), test: () => {} };
    expect(() => describeLanguageModel('x', { create: sensibleModel, exempt }, runner)).toThrow(
      /^Expected `exempt` to name tests of this suite, got .*goes on from half an answer.*\. The nearest is .*goes on from a partial answer.*\.$/,
    );
  });
});

type Generate = (request: GenerateRequest, call: ModelCall) => Promise<Generation>;
type Change = (
  request: GenerateRequest,
  call: ModelCall,
  generate: Generate,
) => Promise<Generation>;

/** A model that is sensible but for one thing. */
function changed(model: LanguageModel, change: Change): LanguageModel {
  const { provider, modelId, capabilities } = model;
  const generate: Generate = (request, call) => model.generate(request, call);
  return {
    provider,
    modelId,
    capabilities,
    generate: (request, call) => change(request, call, generate),
  };
}

function answering(change: (generation: Generation) => Generation): Change {
  return async (request, call, generate) => change(await generate(request, call));
}

const refusing = { create: () => alone(sensibleModel()), abortsWithinMs: 50 };

function failuresAs(change: Change): Promise<readonly string[]> {
  const model = changed(sensibleModel(), change);
  const claims = { create: () => model, abortsWithinMs: 50 };
  return failuresOf((to) => describeLanguageModel('changed', claims, to));
}
