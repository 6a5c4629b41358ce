import { describe, expect, test } from 'vitest';
import { selfEval } from '../../src/values/judge/self-eval.ts';
import { environmentOf } from '../support/environment-of.ts';
import { proposedNode, rootNode } from '../support/nodes.ts';
import { answering, notation, request, telling, tokens, told } from './judge-fixtures.ts';

const root = rootNode<string, string>('half done');

describe('self-evaluation from log-probabilities', () => {
  test('is the mass of B over that of A and B, in one call', async () => {
    const model = telling(
      tokens([
        ['B', 0.4],
        [' B', 0.1],
        ['A', 0.2],
        ['(A', 0.05],
        ['a', 0.2],
        ['Both', 0.05],
      ]),
    );
    const evaluator = selfEval({ model });
    expect(evaluator.needs).toBe('realised');
    // (0.4 + 0.1) / (0.4 + 0.1 + 0.2 + 0.05); the word `a` is no answer.
    expect(await evaluator.evaluate([root], request)).toEqual([
      { value: expect.closeTo(2 / 3, 12) as number },
    ]);
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]).toMatchObject({
      samples: 1,
      maxTokens: 4,
      temperature: 0,
      logprobs: true,
      topLogprobs: 20,
    });
    expect(told(model.requests[0] as never)).toMatch(
      /^Work: half done\.\n\nDo not write a step\..*\n\(A\) incorrect\n\(B\) correct\n/s,
    );
  });

  test('looks at the first place where a letter was written', async () => {
    const model = telling(
      tokens(
        [['(', 1]],
        [
          ['A', 0.75],
          ['B', 0.25],
        ],
        [[')', 1]],
        [[' as', 1]],
        [[' B', 1]],
        [[' is', 1]],
      ),
    );
    expect(await selfEval({ model }).evaluate([root], request)).toEqual([
      { value: expect.closeTo(0.25, 12) as number },
    ]);
  });

  test('counts what was written even where it is not among the likeliest', async () => {
    const [first] = tokens([['A', 0.3]]).logprobs ?? [];
    const model = telling({
      text: 'B',
      logprobs: [{ token: 'B', logprob: Math.log(0.1), top: first?.top ?? [] }],
    });
    expect(await selfEval({ model }).evaluate([root], request)).toEqual([
      { value: expect.closeTo(0.25, 12) as number },
    ]);
  });
});

describe('a letter among tokens', () => {
  test('reads neither thoughts nor what is taken back', async () => {
    const thought = tokens(
      [['<think>', 1]],
      [['Answer:', 1]],
      [['A', 1]],
      [['</think>', 1]],
      [['B', 1]],
    );
    expect(await selfEval({ model: telling(thought) }).evaluate([root], request)).toEqual([
      { value: 1 },
    ]);
    const takenBack = tokens([['A', 1]], [['?', 1]], [[' No,', 1]], [[' B', 1]]);
    expect(await selfEval({ model: telling(takenBack) }).evaluate([root], request)).toMatchObject([
      { failure: { kind: 'parse' } },
    ]);
  });

  test.each([
    ['prose that begins with the letter', tokens([['A', 1]], [[' closer', 1]], [[' look', 1]])],
    ['a denial', tokens([['Not', 1]], [[' B', 1]])],
    ['part of a word', tokens([['B', 1]], [['oth', 1]])],
    ['nothing', tokens()],
  ])('is not found in %s', async (_what, completion) => {
    const verdicts = await selfEval({ model: telling(completion) }).evaluate([root], request);
    expect(verdicts).toEqual([
      {
        failure: {
          kind: 'parse',
          message: `Expected A or B with a probability of 0.1 or more, got \`${completion.text}\`.`,
        },
      },
    ]);
  });

  test('is found behind a label', async () => {
    const model = telling(tokens([['Answer', 1]], [[':', 1]], [[' B', 1]]));
    expect(await selfEval({ model }).evaluate([root], request)).toEqual([{ value: 1 }]);
  });
});

describe('self-evaluation elsewhere', () => {
  test('is the share of B among the samples that can be read', async () => {
    const model = answering('(B) correct', 'A', 'B.', 'Answer: b', 'A closer look', '', 'B', '(A)');
    // B: 4 of A and B: 6.
    expect(await selfEval({ model }).evaluate([root], request)).toEqual([
      { value: expect.closeTo(4 / 6, 12) as number, unscored: 2 },
    ]);
    expect(model.requests[0]).toMatchObject({ samples: 8, temperature: 1 });
  });

  test('shows a step that is not taken, and what is told, and fails alone', async () => {
    const model = answering('B');
    const evaluator = selfEval({
      model,
      about: 'action',
      promptParts: [{ text: ({ kind }) => `told at the ${kind}`, stamps: ['told'] }],
    });
    expect(evaluator).toMatchObject({ needs: 'proposed', stamps: ['told'] });
    expect(evaluator.prompts).toHaveProperty('self-eval');
    const environment = environmentOf<string, string>({
      ...notation,
      format(action) {
        if (action === 'odd') throw new Error('cannot be written');
        return notation.format(action);
      },
    });
    const nodes = [proposedNode('s', 'jump'), proposedNode('s', 'odd')];
    expect(await evaluator.evaluate(nodes, { ...request, environment })).toEqual([
      { value: 1, about: 'action' },
      { failure: { kind: 'call', message: 'cannot be written' } },
    ]);
    expect(told(model.requests[0] as never)).toMatch(
      /^Work: s\.\n\ntold at the root\n\nProposed step: do jump\n\n/,
    );
  });

  test('says what is wrong with its options', () => {
    const model = answering('');
    expect(() => selfEval({ model, samples: 0 })).toThrow('Expected `samples`');
    expect(() => selfEval({ model, about: 'path' as never })).toThrow('Expected `about`');
    expect(() => selfEval({ model: {} as never })).toThrow('Expected `model`');
  });
});
