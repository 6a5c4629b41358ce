import { describe, expect, test } from 'vitest';
import type { Capabilities } from '../../src/contracts/language-model.ts';
import { extractAnswer, type ReasoningState } from '../../src/environments/index.ts';
import { type PlanStepOptions, planStep } from '../../src/policies/plan-step.ts';
import { subQuestion } from '../../src/policies/sub-question.ts';
import { describePolicy, scriptedModel } from '../../src/testing/index.ts';
import { realisedNode, rootNode } from '../support/nodes.ts';
import {
  asking,
  continued,
  describeConduct,
  environment,
  json,
  outcomes,
  question,
  restated,
} from './conduct.ts';

const all = Number.POSITIVE_INFINITY;
const state: ReasoningState = { question, steps: [] };
const later: ReasoningState = { question, steps: ['First find what is given.'] };
const root = rootNode<ReasoningState, string>(state);
const below = realisedNode(later.steps[0] ?? '', later);
const capabilities: Capabilities = { n: true, stop: true, temperature: true, schema: true };

function scripted(text: string) {
  return scriptedModel({ answer: () => text, capabilities });
}

function planning(text: string, options: Partial<PlanStepOptions<ReasoningState, string>> = {}) {
  const model = scripted(text);
  return { model, policy: planStep({ model, ...options }) };
}

function questioning(
  text: string,
  options: Partial<Parameters<typeof subQuestion<ReasoningState>>[0]> = {},
) {
  const model = scripted(text);
  return { model, policy: subQuestion({ model, ...options }) };
}

describe('steps of a plan', () => {
  test('are asked for behind the prompt of the state: 5 at the root, 3 elsewhere', async () => {
    const { model, policy } = planning('Find what is given.');
    expect(outcomes(await policy.propose(root, asking(all)))).toHaveLength(5);
    expect(await policy.propose(below, asking(all))).toHaveLength(3);
    expect(await policy.propose(below, asking(4, 3))).toHaveLength(4);
    const [first] = model.requests;
    const asked = `${restated.prompt(state)[0]?.content}\n\nThe steps are those of a plan.`;
    expect(first?.messages[0]?.content.startsWith(asked)).toBe(true);
    expect(first).toMatchObject({ temperature: 0.7, maxTokens: 1024 });
    expect(first).not.toHaveProperty('stop');
    const narrow = planning('Plan.', { samples: { root: 1 } }).policy;
    expect(await narrow.propose(root, asking(all))).toHaveLength(1);
    expect(await narrow.propose(below, asking(all))).toHaveLength(3);
  });

  test('end at the delimiter, and the solution does not', async () => {
    const steps = await planning('Step 2: Add both.\n\nStep 3: Check.').policy.propose(
      below,
      asking(1),
    );
    expect(outcomes(steps)).toEqual(['Add both.']);
    const solution = 'Step 2: **Solution:**\n\nStep 1: 3 + 4 = 7.\n\n\nStep 2: The answer is 7.';
    const [whole] = outcomes(await planning(solution).policy.propose(below, asking(1)));
    expect(whole).toBe('**Solution:**\n3 + 4 = 7.\nThe answer is 7.');
    expect(environment.step(later, String(whole), asking(1).context)).toMatchObject({
      terminal: true,
      state: { answer: '7' },
    });
  });

  test('are read as JSON where the notation is one of JSON', async () => {
    const text = '{"step": "Solution: 3 + 4 = 7.\\n\\nSo it is.", "answer": "7"}';
    const { model, policy } = planning(text);
    const [action] = outcomes(await policy.propose(root, asking(1, 0, json)));
    expect(extractAnswer(String(action))).toBe('7');
    expect(model.requests[0]?.schema).toEqual(json.schema);
  });

  test('have a prior, parts and other texts where they are given', async () => {
    const { model, policy } = planning('Add.', {
      prior: () => 0.25,
      promptParts: [{ text: () => 'Lesson.' }],
      prompts: { step: 'Plan.' },
    });
    expect(await policy.propose(root, asking(1, 0, continued))).toMatchObject([
      { action: 'Add.', prior: 0.25 },
    ]);
    expect(model.requests[0]?.messages[0]?.content).toMatch(/\n\nPlan\.\n\nLesson\.$/);
    expect(model.requests[0]?.messages[1]).toEqual(continued.prompt(state)[1]);
    expect(Object.keys(policy.prompts ?? {})).toEqual(['plan-step']);
    expect(policy.prompts).not.toEqual(planning('').policy.prompts);
  });
});

describe('sub-questions', () => {
  test('are asked for behind the prompt of the state, 4 of them', async () => {
    const { model, policy } = questioning('Sub-question: How many? Reply: 4.');
    expect(await policy.propose(root, asking(all))).toHaveLength(4);
    const asked = `${restated.prompt(state)[0]?.content}\n\nEach step is one smaller question`;
    expect(model.requests[0]?.messages[0]?.content.startsWith(asked)).toBe(true);
    expect(model.requests[0]).toMatchObject({ temperature: 0.8, stop: ['\n\n'] });
  });

  test('stand on one line, so that a reply is not the final answer', async () => {
    const text = 'Sub-question: How many buys she?\nAnswer: 4';
    expect(extractAnswer(text)).toBe('4');
    const [action] = outcomes(await questioning(text).policy.propose(root, asking(1)));
    expect(action).toBe('Sub-question: How many buys she? Answer: 4');
    expect(environment.step(state, String(action), asking(1).context)).not.toHaveProperty(
      'terminal',
    );
  });

  test('end with the answer to the question itself', async () => {
    const text = 'Now we can answer the question: how many?\n\n3 + 4 = 7. The answer is 7.';
    const [action] = outcomes(await questioning(text).policy.propose(root, asking(1)));
    expect(action).toBe('Now we can answer the question: how many?\n3 + 4 = 7. The answer is 7.');
    expect(environment.step(state, String(action), asking(1).context)).toMatchObject({
      terminal: true,
    });
  });

  test('are the question itself at the last depth', async () => {
    const { model, policy } = questioning('Add.', { maxDepth: 2 });
    await policy.propose(root, asking(1));
    await policy.propose(below, asking(1));
    const [first, last] = model.requests.map(({ messages }) => messages[0]?.content ?? '');
    expect(first).not.toContain('This is the last step');
    expect(last).toContain('\n\nThis is the last step');
    expect(() => questioning('', { maxDepth: 0 })).toThrow('Expected `maxDepth`');
    const free = questioning('Add.');
    await free.policy.propose({ ...below, depth: 60 }, asking(1));
    expect(free.model.requests[0]?.messages[0]?.content).not.toContain('This is the last step');
  });

  test('that cannot be read are failures', async () => {
    const { policy } = questioning('…');
    expect(await policy.propose(root, asking(1))).toMatchObject([{ failure: { kind: 'parse' } }]);
  });
});

/** Its steps differ by what it was shown and by their index. */
const steps = () =>
  scriptedModel({
    answer: ({ messages }, index) => `Note ${index % 7} on ${messages[0]?.content.length}.`,
  });
const runner = { describe, test };

describePolicy('planStep', { create: () => planStep({ model: steps() }), environment }, runner);
describePolicy(
  'subQuestion',
  { create: () => subQuestion({ model: steps() }), environment },
  runner,
);
describeConduct('planStep', (model) => planStep({ model }));
describeConduct('subQuestion', (model) => subQuestion({ model }));
