import { describe, expect, test } from 'vitest';
import type { Environment, Notation } from '../../src/contracts/environment.ts';
import type { Completion, GenerateRequest } from '../../src/contracts/language-model.ts';
import { type SelfRefineOptions, selfRefine } from '../../src/policies/self-refine.ts';
import { describePolicy, scriptedModel } from '../../src/testing/index.ts';
import { rootNode } from '../support/nodes.ts';
import { asking, describeConduct, outcomes } from './conduct.ts';

/** Whole answers to a question: a state is an answer. */
const notation: Notation<string, string> = {
  prompt: (state) => [{ role: 'user', content: `Question: 3 + 4?\nAnswer so far: ${state}` }],
  format: (action) => action,
  parse: (text) =>
    /\d/.test(text)
      ? { action: text.trim() }
      : { failure: { kind: 'parse', message: 'Expected a number.' } },
  delimiter: '\n\n',
};
const answers: Environment<string, string> = {
  name: 'answers',
  reset: () => ({ state: '8' }),
  step: (_state, action) => ({ state: action, answer: true }),
  notation,
};
const prompt = 'Question: 3 + 4?\nAnswer so far: 8';

const isReview = ({ messages }: GenerateRequest) => messages.length === 1;

function refining(
  answer: (request: GenerateRequest, index: number) => string | Completion,
  options: Partial<SelfRefineOptions<string, string>> = {},
) {
  const capabilities = { n: true, stop: true, temperature: true };
  const model = scriptedModel({ answer, capabilities });
  return { model, policy: selfRefine({ model, ...options }) };
}

describe('self-refinement', () => {
  test('asks for a review of the answer, and then for the answer anew: two calls a proposal', async () => {
    const { model, policy } = refining((request, index) =>
      isReview(request) ? `Fault ${index}.` : `${7 + index}`,
    );
    const proposals = await policy.propose(rootNode('8'), asking(2, 3, notation));
    expect(proposals).toEqual([
      { action: '10', completion: { text: '10', finishReason: 'stop', reasoning: 'Fault 3.' } },
      { action: '11', completion: { text: '11', finishReason: 'stop', reasoning: 'Fault 4.' } },
    ]);
    expect(model.completions).toBe(4);
    const [review, first, second] = model.requests;
    expect(review).toEqual({
      messages: [
        {
          role: 'user',
          content: expect.stringContaining(`${prompt}\n\nDo not write`) as string,
          prefixEnds: [prompt.length],
        },
      ],
      samples: 2,
      offset: 3,
      maxTokens: 512,
      temperature: 1,
    });
    expect(first).toEqual({
      messages: [
        ...(review?.messages ?? []),
        { role: 'assistant', content: 'Fault 3.' },
        { role: 'user', content: expect.stringContaining('Write the whole answer anew') as string },
      ],
      samples: 1,
      offset: 3,
      maxTokens: 1024,
      temperature: 1,
      stop: ['\n\n'],
    });
    expect(second?.offset).toBe(4);
  });

  test('makes `samples` proposals where all are wanted', async () => {
    const { policy } = refining(() => '7');
    expect(
      await policy.propose(rootNode('8'), asking(Number.POSITIVE_INFINITY, 0, notation)),
    ).toHaveLength(2);
  });

  test('leaves the review to a critic, whose thoughts are no part of it', async () => {
    const critic = scriptedModel({ answer: () => '<think>Hm.</think> Eight is wrong.' });
    const { model, policy } = refining(() => ({ text: '7', reasoning: 'I add.' }), { critic });
    const [proposal] = await policy.propose(rootNode('8'), asking(1, 0, notation));
    expect(proposal).toMatchObject({ completion: { reasoning: 'Eight is wrong.\n\nI add.' } });
    expect([critic.completions, model.completions]).toEqual([1, 1]);
    // It takes no temperature.
    expect(critic.requests[0]).not.toHaveProperty('temperature');
    expect(model.requests[0]?.messages[1]?.content).toBe('Eight is wrong.');
  });

  test('asks once where there is no answer yet', async () => {
    const { model, policy } = refining(() => '7', { refines: ({ depth }) => depth > 0 });
    expect(outcomes(await policy.propose(rootNode('8'), asking(2, 0, notation)))).toEqual([
      '7',
      '7',
    ]);
    expect(model.requests.map(({ messages }) => messages)).toEqual([notation.prompt('8')]);
  });

  test('tells parts of both, and has prompts of its own', async () => {
    const promptParts = [{ prompts: { lesson: '1 a' }, text: () => 'Beware.' }];
    const { model, policy } = refining(() => '7', { promptParts, prompts: { critique: 'Judge.' } });
    await policy.propose(rootNode('8'), asking(1, 0, notation));
    for (const { messages } of model.requests) {
      expect(messages[0]?.content).toBe(`${prompt}\n\nBeware.\n\nJudge.`);
    }
    expect(Object.keys(policy.prompts ?? {})).toEqual(['lesson', 'self-refine']);
    expect(policy.prompts).not.toEqual(refining(() => '7', { promptParts }).policy.prompts);
  });
});

describe('what goes wrong with a refinement', () => {
  test('fails that one alone', async () => {
    const { model, policy } = refining((request, index) => {
      if (isReview(request)) return index === 0 ? ' ' : `Fault ${index}.`;
      if (index === 1) throw new Error('It is gone.');
      return index === 2 ? 'No idea.' : '7';
    });
    expect(await policy.propose(rootNode('8'), asking(4, 0, notation))).toMatchObject([
      { failure: { kind: 'empty', message: 'Expected a review, got no text.' } },
      { failure: { kind: 'call', message: 'It is gone.' } },
      { failure: { kind: 'parse', message: 'Expected a number.' } },
      { action: '7' },
    ]);
    // An empty review is not followed by a call.
    expect(model.requests).toHaveLength(4);
  });

  test('is sent back as often as there are repairs', async () => {
    const { policy } = refining(({ messages }) => (messages.length === 3 ? 'No.' : '7'), {
      repairs: 1,
    });
    const [proposal] = await policy.propose(rootNode('8'), asking(1, 0, notation));
    expect(proposal).toMatchObject({ action: '7', completion: { reasoning: '7' } });
  });

  test('is a usage error where it is an option', () => {
    expect(() => refining(() => '', { critiqueTokens: 0 })).toThrow('Expected `critiqueTokens`');
    expect(() => refining(() => '', { critic: {} as never })).toThrow('Expected `critic`');
    expect(() => refining(() => '', { refines: true as never })).toThrow('Expected `refines`');
  });
});

describePolicy(
  'selfRefine',
  {
    create: () =>
      refining((request, index) => (isReview(request) ? 'A fault.' : `${index}`)).policy,
    environment: answers,
  },
  { describe, test },
);

describeConduct('selfRefine', (model) => selfRefine({ model }));
