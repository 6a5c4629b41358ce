import { describe, expect, test } from 'vitest';
import { EspalierError } from '../../src/base/errors.ts';
import type { Completion } from '../../src/contracts/language-model.ts';
import type { ReasoningState } from '../../src/environments/index.ts';
import { type FromModelOptions, fromModel } from '../../src/policies/from-model/from-model.ts';
import { sequenceProbability } from '../../src/policies/sequence-probability.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { rootNode } from '../support/nodes.ts';
import { asking, describeConduct, outcomes, priors, question } from './conduct.ts';

/** A completion of tokens with these probabilities. */
function told(text: string, ...probabilities: readonly number[]): Completion {
  const logprobs = probabilities.map((p) => ({ token: 'x', logprob: Math.log(p) }));
  return { text, finishReason: 'stop', logprobs };
}

describe('the probability of a sequence', () => {
  test('is the geometric mean over the tokens by default', () => {
    // √(1/4 · 1/9) = 1/6
    expect(sequenceProbability()(told('', 1 / 4, 1 / 9))).toBeCloseTo(1 / 6, 12);
  });

  test('is that of the whole at λ = 0', () => {
    expect(sequenceProbability({ lengthPenalty: 0 })(told('', 1 / 4, 1 / 9))).toBeCloseTo(
      1 / 36,
      12,
    );
  });

  test('divides the sum by len^λ', () => {
    // Σ = −3 over four tokens: 4^1.25 = 4 · √2, and −3 / 5.656854… = −0.530330….
    const sum = told('', Math.exp(-1), Math.exp(-1), Math.exp(-0.5), Math.exp(-0.5));
    expect(sequenceProbability({ lengthPenalty: 1.25 })(sum)).toBeCloseTo(0.588411, 6);
  });

  test('is not known without log-probabilities, and never above 1', () => {
    const rule = sequenceProbability();
    expect(rule({ text: 'x' })).toBeUndefined();
    expect(rule({ text: '', logprobs: [] })).toBeUndefined();
    expect(rule(told('', 1.0000001))).toBe(1);
    expect(rule(told('', 0, 0.5))).toBe(0);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses λ = %s', (lengthPenalty) => {
    const message = `Expected \`lengthPenalty\` to be a finite number from 0 up, got \`${lengthPenalty}\`.`;
    expect(() => sequenceProbability({ lengthPenalty })).toThrow(
      new EspalierError('usage', message),
    );
  });
});

const root = rootNode<ReasoningState, string>({ question, steps: [] });

function priced(
  answers: readonly Completion[],
  options: Partial<FromModelOptions<ReasoningState, string>> & { logprobs?: boolean } = {},
) {
  const { logprobs = true, ...others } = options;
  const model = scriptedModel({
    answer: (_request, index) => answers[index] ?? '',
    capabilities: { n: true, logprobs },
  });
  const prior = sequenceProbability();
  return { model, policy: fromModel({ model, prior, ...others }) };
}

describe('the priors of a policy from a model', () => {
  test('are what the rule says, and log-probabilities are asked for', async () => {
    const { model, policy } = priced([told('Add.', 0.5), told('…', 0.9), told('Count.', 0.1)]);
    const proposals = await policy.propose(root, asking(3));
    expect(priors(proposals).map((prior) => prior?.toFixed(6))).toEqual(['0.500000', '0.100000']);
    expect(outcomes(proposals)[1]).toMatch('Expected a step in words');
    expect(model.requests).toMatchObject([{ logprobs: true, samples: 3 }]);
  });

  test('are those of the first sample of an action, and 0 for the same action again', async () => {
    const { policy } = priced([told('Add.', 0.9), told('Add.', 0.9), told(' Add. ', 0.3)]);
    const given = priors(await policy.propose(root, asking(3)));
    expect(given[0]).toBeCloseTo(0.9, 12);
    expect(given.slice(1)).toEqual([0, 0]);
  });

  test('are left to the shares where one of them is not told', async () => {
    const { policy } = priced([told('Add.', 0.9), { text: 'Count.' }]);
    expect(priors(await policy.propose(root, asking(2)))).toEqual([undefined, undefined]);
  });

  test('ask no model for log-probabilities that tells none, nor for those of a list', async () => {
    const silent = priced([told('Add.', 0.9)], { logprobs: false });
    await silent.policy.propose(root, asking(1));
    const list = priced([{ text: '{"steps": ["Add."]}' }], { form: 'several' });
    const proposals = await list.policy.propose(root, asking(1));
    expect(priors(proposals)).toEqual([undefined]);
    for (const { model } of [silent, list])
      expect(model.requests[0]).not.toHaveProperty('logprobs');
  });

  test('are taken from a function of the completion', async () => {
    const { policy } = priced([{ text: 'Add.' }], { prior: ({ text }) => text.length / 10 });
    expect(priors(await policy.propose(root, asking(1)))).toEqual([0.4]);
    const wrong = { prior: 0.5 as never };
    expect(() => priced([], wrong)).toThrow('Expected `prior` to be a function, got `0.5`.');
  });
});

describeConduct('fromModel with priors', (model) =>
  fromModel({ model, prior: ({ text }) => 1 / text.length }),
);
