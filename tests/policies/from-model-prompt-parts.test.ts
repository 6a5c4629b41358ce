import { expect, test } from 'vitest';
import type { Notation } from '../../src/contracts/environment.ts';
import type { PromptPart } from '../../src/contracts/prompt-part.ts';
import type { ReasoningState } from '../../src/environments/index.ts';
import { fromModel } from '../../src/policies/from-model/from-model.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { rootNode } from '../support/nodes.ts';
import { said } from '../support/said.ts';
import { asking, continued, question, restated } from './conduct.ts';

const root = rootNode<ReasoningState, string>({ question, steps: ['She has 3.'] }, ['Add.']);
const prompt = restated.prompt(root.state)[0]?.content ?? '';

const lesson: PromptPart<ReasoningState, string> = {
  stamps: ['taught'],
  prompts: { lesson: '1 abc' },
  text: async (node) => `Lesson for ${node.children.length} child.`,
};
const silent: PromptPart<ReasoningState, string> = { text: () => undefined };

async function told(
  options: Partial<Parameters<typeof fromModel<ReasoningState, string>>[0]>,
  notation?: Notation<ReasoningState, string>,
) {
  const model = scriptedModel({ answer: () => '{"step": "Add."}' });
  const policy = fromModel({ model, ...options });
  await policy.propose(root, asking(1, 0, notation));
  return { policy, messages: model.requests[0]?.messages };
}

test('parts are told behind the prompt of the state, before the form of the answer', async () => {
  const promptParts = [silent, lesson];
  expect(said((await told({ promptParts })).messages)).toEqual([
    { role: 'user', content: `${prompt}\n\nLesson for 1 child.` },
  ]);
  for (const form of ['json', 'several'] as const) {
    const { messages } = await told({ promptParts, form });
    const [start, form_] = messages?.[0]?.content.split('\n\nLesson for 1 child.\n\n') ?? [];
    expect(start).toBe(prompt);
    expect(form_).toMatch(/JSON/);
  }
  const { messages } = await told({ promptParts, vary: ['Draw it.'] });
  expect(messages?.[0]?.content).toBe(`${prompt}\n\nLesson for 1 child.\n\nDraw it.`);
});

test('parts leave an answer that was begun to be continued', async () => {
  const { messages } = await told({ promptParts: [lesson] }, continued);
  const [user, begun] = continued.prompt(root.state);
  expect(said(messages)).toEqual([
    { role: 'user', content: `${user?.content}\n\nLesson for 1 child.` },
    begun,
  ]);
});

test('without a part that tells something the prompt is that of the state', async () => {
  for (const promptParts of [undefined, [], [silent]]) {
    const { messages, policy } = await told(promptParts === undefined ? {} : { promptParts });
    expect(messages).toEqual(restated.prompt(root.state));
    expect(policy).not.toHaveProperty('prompts');
  }
});

test('stamps and prompts of parts are passed on', async () => {
  const { policy } = await told({ promptParts: [lesson] });
  expect(policy).toMatchObject({ stamps: ['taught'], prompts: { lesson: '1 abc' } });
});

test('texts can be replaced, and are recorded where they are used', async () => {
  const prompts = { json: 'As JSON.', listOfTexts: 'List {actions}.', repair: 'No: {problem}' };
  const wrapped = await told({ form: 'json', prompts });
  expect(wrapped.messages?.[0]?.content).toBe(`${prompt}\n\nAs JSON.`);
  const list = await told({ form: 'several', prompts });
  expect(list.messages?.[0]?.content).toBe(
    `${prompt}\n\nList one step.\nThese are known. Propose others:\n- Add.`,
  );
  for (const { policy } of [wrapped, list]) {
    expect(Object.keys(policy.prompts ?? {})).toEqual(['from-model']);
  }
  const model = scriptedModel({ answer: () => '…' });
  const repairing = fromModel({ model, repairs: 1, prompts });
  await repairing.propose(root, asking(1));
  expect(model.requests[1]?.messages.at(-1)?.content).toBe(
    'No: Expected a step in words, got `…`.',
  );
  expect(repairing.prompts).toEqual(wrapped.policy.prompts);
  expect(fromModel({ model, repairs: 1 }).prompts).not.toEqual(repairing.prompts);
});
