import { describe, expect, it } from 'vitest';
import { openaiCompatible } from '../../src/backends/index.ts';
import { tiny } from '../../src/backends/tiny/index.ts';
import { wrapModel } from '../../src/calls/index.ts';
import type { Completion, GenerateRequest } from '../../src/contracts/language-model.ts';
import {
  type ArithmeticState,
  type ArithmeticStep,
  gameOf24,
  type Rational,
} from '../../src/environments/index.ts';
import { emulator, plainContext, scriptedModel } from '../../src/testing/index.ts';
import { judge } from '../../src/values/index.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, proposedNode, realisedNode, rootNode } from '../support/nodes.ts';

const environment = gameOf24.environment({ numbers: [4, 9, 10, 13] });
const { notation } = environment;
const start = environment.reset().state;
const root = rootNode<ArithmeticState<Rational>, ArithmeticStep<Rational>>(start);
const request = {
  environment: environmentOf(notation),
  context: plainContext(),
  remaining: noSpend,
};
const [prompt] = notation.prompt(start);

function texts(...answers: readonly string[]) {
  return scriptedModel({
    capabilities: { n: true, temperature: true },
    answer: (_request: GenerateRequest, index: number) => answers[index % answers.length] ?? '',
  });
}

/** A model that tells what it could have written first. */
function tells(top: readonly (readonly [string, number])[]) {
  const alternatives = top.map(([token, p]) => ({ token, logprob: Math.log(p) }));
  const [first = { token: '', logprob: 0 }] = alternatives;
  const completion: Completion = {
    text: first.token,
    finishReason: 'length',
    logprobs: [{ ...first, top: alternatives }],
  };
  return scriptedModel({
    capabilities: { n: true, temperature: true, logprobs: true },
    answer: () => completion,
  });
}

describe('a judge that reads log-probabilities', () => {
  it('takes the expectation over the words, in one call of one token', async () => {
    const model = tells([
      ['likely', 0.5],
      ['sure', 0.2],
      ['impossible', 0.1],
      ['The', 0.2],
    ]);
    const judging = judge({ model });
    expect(judging.needs).toBe('realised');
    // (0.5 * 0.5 + 0.2 * 1 + 0.1 * 0) / 0.8
    expect(await judging.evaluate([root], request)).toEqual([
      { value: expect.closeTo(0.5625, 12) as number },
    ]);
    expect(model.requests).toEqual([
      {
        messages: [
          {
            role: 'user',
            content: `${prompt?.content}\n\n${[
              'Do not write a step. Judge how likely the goal is to be reached from here, in one word:',
              'sure, likely or impossible.',
            ].join('\n')}`,
            prefixEnds: [prompt?.content.length],
          },
        ],
        samples: 1,
        maxTokens: 1,
        temperature: 0,
        logprobs: true,
        topLogprobs: 20,
      },
    ]);
  });

  it('knows a word by the token that begins it, whatever its case', async () => {
    const model = tells([
      [' Imp', 0.6],
      ['SURE', 0.3],
      [' su', 0.1],
    ]);
    expect(await judge({ model }).evaluate([root], request)).toEqual([
      { value: expect.closeTo(0.4, 12) as number },
    ]);
  });

  it('fails where none of the words is among the tokens', async () => {
    const model = tells([['Hello', 1]]);
    expect(await judge({ model }).evaluate([root], request)).toEqual([
      {
        failure: {
          kind: 'parse',
          message:
            'Expected one of the words sure, likely, impossible with a probability of 0.1 or more, got `Hello`.',
        },
      },
    ]);
  });
});

/** What one judgement writes at a server, by its own count. */
async function writtenFor(options: Parameters<typeof emulator>[0]) {
  const server = await emulator({ models: ['judge'], ...options });
  try {
    const baseUrl = `${server.url}/v1`;
    const model = openaiCompatible({ preset: options.dialect as 'vllm', baseUrl, model: 'judge' });
    const [verdict] = await judge({ model }).evaluate([root], request);
    const { completionsServed: calls, outputTokens } = server.account;
    return { verdict, calls, outputTokens };
  } finally {
    await server.close();
  }
}

describe('a judge without options', () => {
  it.each(['vllm', 'sglang', 'llama-server'] as const)(
    'has %s write one token, which begins the word',
    async (dialect) => {
      const cost = await writtenFor({ dialect, answer: () => 'impossible' });
      expect(cost).toEqual({ verdict: { value: 0 }, calls: 1, outputTokens: 1 });
    },
  );

  it('has the toy write one token', async () => {
    await using model = tiny();
    const counted: (number | undefined)[] = [];
    const counting = wrapModel(model, (next) => ({
      ...next,
      async generate(asked, call) {
        const generation = await model.generate(asked, call);
        counted.push(generation.usage.outputTokens);
        return generation;
      },
    }));
    const [verdict] = await judge({ model: counting }).evaluate([root], request);
    expect(verdict).toMatchObject({ value: expect.closeTo(0.658, 3) as number });
    expect(counted).toEqual([1]);
  });

  it('judges siblings side by side: the toy reads them in one go, a server gets all at once', async () => {
    const siblings = environment
      .actions(start)
      .slice(0, 8)
      .map((action, place) => {
        const { state } = environment.step(start, action);
        return realisedNode(action, state, { id: place + 1, parent: root });
      });
    await using model = tiny();
    await judge({ model }).evaluate([root], request);
    const before = await model.stats();
    await judge({ model }).evaluate(siblings, request);
    const after = await model.stats();
    // At most 64 rows go through the model at once, and each prompt ends in some of its own.
    expect(after.batches - before.batches).toBeLessThanOrEqual(3);

    const answers = { answer: () => 'sure', latencyMs: 50 };
    const server = await emulator({ dialect: 'vllm', models: ['judge'], ...answers });
    const baseUrl = `${server.url}/v1`;
    const served = openaiCompatible({ preset: 'vllm', baseUrl, model: 'judge' });
    await judge({ model: served }).evaluate(siblings, request);
    expect(server.account).toMatchObject({ completionsServed: 8, outputTokens: 8 });
    expect(server.account.maxConcurrent).toBe(8);
    await server.close();
  });

  it('asks once more behind a blank, and reads the first token that is none', async () => {
    const cost = await writtenFor({ dialect: 'vllm', answer: () => '\nimpossible' });
    // One token; then the blank and the three tokens of the word.
    expect(cost).toEqual({ verdict: { value: 0 }, calls: 2, outputTokens: 5 });
  });

  it('asks for the whole word where log-probabilities are not told after all', async () => {
    const cost = await writtenFor({
      dialect: 'vllm',
      faults: ['ignores-logprobs'],
      answer: () => 'impossible',
    });
    expect(cost).toEqual({ verdict: { value: 0 }, calls: 2, outputTokens: 4 });
  });

  it('asks once where the caller has set the limit', async () => {
    const model = tells([['\n', 1]]);
    const [verdict] = await judge({ model, maxTokens: 1 }).evaluate([root], request);
    expect(verdict).toMatchObject({ failure: { kind: 'parse' } });
    expect(model.requests).toHaveLength(1);
  });
});

describe('a judge that reads text', () => {
  it('averages over the samples that it can read', async () => {
    const model = texts('sure', 'I cannot say.', 'Likely.');
    expect(await judge({ model }).evaluate([root], request)).toEqual([
      { value: 0.75, unscored: 1 },
    ]);
    expect(model.requests[0]).toMatchObject({ samples: 3, maxTokens: 8, temperature: 1 });
  });

  it('takes words and values of your own', async () => {
    const model = texts('no');
    const judging = judge({ model, samples: 1, scale: { yes: 0.9, no: 0.2 } });
    expect(await judging.evaluate([root], request)).toEqual([{ value: 0.2 }]);
    expect(model.requests[0]?.messages[0]?.content).toContain('in one word:\nyes or no.');
    expect(model.requests[0]?.temperature).toBe(0);
  });

  it('keeps the reason as rationale where one is wanted', async () => {
    const model = texts('impossible: no step leads there.');
    const judging = judge({ model, reason: true, samples: 1 });
    expect(await judging.evaluate([root], request)).toEqual([
      { value: 0, rationale: 'impossible: no step leads there.' },
    ]);
    expect(model.requests[0]?.messages[0]?.content).toContain('Then write a colon and the reason.');
    expect(model.requests[0]?.maxTokens).toBe(64);
  });

  it('fails only the node about which the model could not be asked', async () => {
    const other = gameOf24.environment({ numbers: [1, 1, 1, 1] }).reset().state;
    const model = scriptedModel({
      answer: ({ messages }) => {
        if (messages[0]?.content.includes('Numbers: 1 1') === true)
          throw new Error('Out of order.');
        return 'sure';
      },
    });
    expect(
      await judge({ model }).evaluate(
        [root, rootNode<ArithmeticState<Rational>, ArithmeticStep<Rational>>(other)],
        request,
      ),
    ).toEqual([{ value: 1 }, { failure: { kind: 'call', message: 'Out of order.' } }]);
  });
});

describe('a judge of actions', () => {
  const action = environment.actions(start)[0] as ReturnType<typeof environment.actions>[number];

  it('shows the step behind the state in which it is proposed', async () => {
    const model = texts('sure');
    const judging = judge({ model, about: 'action', samples: 1 });
    expect(judging.needs).toBe('proposed');
    expect(await judging.evaluate([proposedNode(start, action)], request)).toEqual([
      { value: 1, about: 'action' },
    ]);
    expect(model.requests[0]?.messages[0]?.content).toBe(
      `${prompt?.content}\n\n${[
        `Proposed step: ${notation.format(action)}`,
        '',
        'Do not write a step. Judge how likely the goal is to be reached after this step, in one word:',
        'sure, likely or impossible.',
      ].join('\n')}`,
    );
  });

  it('judges the start, to which no action led, as a state', async () => {
    const model = texts('likely');
    await judge({ model, about: 'action' }).evaluate([root], request);
    expect(model.requests[0]?.messages[0]?.content).toContain('reached from here');
  });
});

describe('the options of a judge', () => {
  const model = texts('sure');

  it('says what is wrong with them', () => {
    expect(() => judge({ model, samples: 0 })).toThrow('an integer from 1 up');
    expect(() => judge({ model, maxTokens: 0 })).toThrow('an integer from 1 up');
    expect(() => judge({ model, about: 'path' as never })).toThrow("'state' or 'action'");
    const wrong: readonly Readonly<Record<string, number>>[] = [
      { sure: 1 },
      { sure: 1, no: 2 },
      { good: 1, great: 0 },
    ];
    for (const scale of wrong) {
      expect(() => judge({ model, scale })).toThrow(
        'two or more words that begin with different letters',
      );
    }
  });
});
