import { describe, expect, test } from 'vitest';
import type { GenerateRequest } from '../../src/contracts/language-model.ts';
import { extractAnswer, type ReasoningState } from '../../src/environments/index.ts';
import {
  actionKind,
  type MultiActionOptions,
  multiAction,
} from '../../src/policies/multi-action.ts';
import {
  type ActionKind,
  actionKinds,
  multiActionPrompts,
} from '../../src/policies/multi-action-prompts.ts';
import {
  describePolicy,
  type ScriptedModelOptions,
  scriptedModel,
} from '../../src/testing/index.ts';
import { realisedNode, rootNode } from '../support/nodes.ts';
import { told } from '../support/told.ts';
import { asking, describeConduct, environment, outcomes, question, restated } from './conduct.ts';

const { texts } = multiActionPrompts;
const all = Number.POSITIVE_INFINITY;
const state: ReasoningState = { question, steps: [] };
const root = rootNode<ReasoningState, string>(state);

/** Which kind a request asks for. */
function kindOf({ messages }: GenerateRequest): ActionKind {
  const content = messages.at(-1)?.content ?? '';
  const kind = actionKinds.find((name) => content.endsWith(`\n\n${texts[name]}`));
  if (kind === undefined) throw new Error(`No kind in ${content}`);
  return kind;
}

function acting(
  options: Partial<MultiActionOptions<ReasoningState>> = {},
  answer: ScriptedModelOptions['answer'] = (request, index) => `${kindOf(request)} ${index}`,
) {
  const model = scriptedModel({ answer, capabilities: { n: true, stop: true, temperature: true } });
  return { model, policy: multiAction({ model, ...options }) };
}

/** A node to which an action led that has this label. */
function behind(label: string) {
  const action = `${label} So.`;
  return realisedNode<ReasoningState, string>(action, { question, steps: [action] });
}

/** How many samples of which kind were asked for. */
function asked(requests: readonly GenerateRequest[]) {
  return requests.map((request) => [kindOf(request), request.samples, request.offset]);
}

describe('the kinds of actions', () => {
  test.each([
    ['the root', root, ['thought 3', 'finish 1', 'subQuestion 3', 'rephrase 1']],
    ['A1', behind('Thought:'), ['thought 3', 'finish 1']],
    ['A3', behind('Sub-question:'), ['thought 3', 'finish 1', 'subQuestion 3', 'answerAgain 1']],
    ['A4', behind('Second reply:'), ['thought 3', 'finish 1', 'subQuestion 3']],
    ['A5', behind('Rephrased:'), ['thought 3', 'finish 1', 'subQuestion 3']],
    ['an action of another policy', behind('Well,'), ['thought 3', 'finish 1']],
  ])(
    'that may come at or behind %s are those of the paper, in its numbers',
    async (_at, node, expected) => {
      const { model, policy } = acting();
      const proposals = await policy.propose(node, asking(all));
      const requests = asked(model.requests);
      expect(requests.map(([kind, samples]) => `${kind} ${samples}`)).toEqual(expected);
      expect(requests.every(([, , offset]) => offset === 0)).toBe(true);
      expect(proposals).toHaveLength(
        expected.reduce((sum, text) => sum + Number(text.split(' ')[1]), 0),
      );
    },
  );

  test('are none behind A2', async () => {
    const { model, policy } = acting();
    expect(await policy.propose(behind('Solution:'), asking(3))).toEqual([]);
    expect(model.requests).toEqual([]);
  });

  test('come in turn, each time around, and go on at the offset', async () => {
    const { model, policy } = acting();
    // A cycle at the root: A1 A2 A3 A5 A1 A3 A1 A3.
    const first = outcomes(await policy.propose(root, asking(5)));
    expect(first).toEqual([
      'Thought: thought 0',
      'Solution: finish 0',
      'Sub-question: subQuestion 0',
      'Rephrased: rephrase 0',
      'Thought: thought 1',
    ]);
    const second = outcomes(await policy.propose(root, asking(6, 5)));
    expect(second).toEqual([
      'Sub-question: subQuestion 1',
      'Thought: thought 2',
      'Sub-question: subQuestion 2',
      'Thought: thought 3',
      'Solution: finish 1',
      'Sub-question: subQuestion 3',
    ]);
    expect(asked(model.requests)).toEqual([
      ['thought', 2, 0],
      ['finish', 1, 0],
      ['subQuestion', 1, 0],
      ['rephrase', 1, 0],
      ['subQuestion', 3, 1],
      ['thought', 2, 2],
      ['finish', 1, 1],
    ]);
  });

  test('have the numbers and the rules that are given', async () => {
    const { model, policy } = acting({
      counts: { thought: 1, finish: 0 },
      allowed: { root: ['answerAgain', 'thought', 'finish'] },
    });
    await policy.propose(root, asking(all));
    expect(asked(model.requests)).toEqual([
      ['answerAgain', 1, 0],
      ['thought', 1, 0],
    ]);
  });
});

describe('an action of a kind', () => {
  test.each(actionKinds)('%s says so at its beginning, and states no answer by it', (kind) => {
    const label = texts[`${kind}Label`];
    expect(actionKind(`${label} So.`)).toBe(kind);
    expect(extractAnswer(`${label} 4 apples. Reply: 4.`)).toBeUndefined();
    const action = `${label} So.`;
    expect(told(restated.parse(restated.format(action), state))).toBe(action);
  });

  test('has its label once, also where the model wrote it', async () => {
    const { policy } = acting({ counts: { thought: 1 } }, () => 'Step 1: thought: I add.');
    const [action] = outcomes(await policy.propose(root, asking(1)));
    expect(action).toBe('Thought: I add.');
  });

  test('may be a whole solution over several paragraphs', async () => {
    const text = 'Step 1: We add.\n\nStep 2: 3 + 4 = 7. The answer is 7.';
    const { model, policy } = acting({ allowed: { root: ['finish', 'thought'] } }, () => text);
    expect(outcomes(await policy.propose(root, asking(2)))).toEqual([
      'Solution: We add.\n3 + 4 = 7. The answer is 7.',
      'Thought: We add.',
    ]);
    expect(model.requests.map(({ stop }) => stop)).toEqual([undefined, ['\n\n']]);
    expect(model.requests[0]).toMatchObject({ temperature: 0.8, maxTokens: 512 });
  });

  test('has other words and another label where they are given', async () => {
    const prompts = { thought: 'Think.', thoughtLabel: 'Idea:' };
    const { model, policy } = acting(
      { prompts, promptParts: [{ text: () => 'Lesson.' }] },
      () => 'So.',
    );
    expect(outcomes(await policy.propose(root, asking(1)))).toEqual(['Idea: So.']);
    expect(model.requests[0]?.messages[0]?.content).toMatch(/\n\nLesson\.\n\nThink\.$/);
    expect(actionKind('Idea: So.', prompts)).toBe('thought');
    expect(policy.prompts).not.toEqual(acting().policy.prompts);
    expect(Object.keys(policy.prompts ?? {})).toEqual(['multi-action']);
  });
});

describe('what goes wrong with one kind', () => {
  test('is no matter of the others', async () => {
    const { policy } = acting({}, (request, index) => {
      if (kindOf(request) === 'finish') throw new Error('It is gone.');
      return kindOf(request) === 'subQuestion' && index === 0 ? '…' : 'So.';
    });
    expect(await policy.propose(root, asking(4))).toMatchObject([
      { action: 'Thought: So.' },
      { failure: { kind: 'call', message: 'It is gone.' } },
      { failure: { kind: 'parse' } },
      { action: 'Rephrased: So.' },
    ]);
  });

  test('fails the expansion where it goes wrong with all', async () => {
    const { policy } = acting({}, () => {
      throw new Error('It is gone.');
    });
    await expect(policy.propose(root, asking(4))).rejects.toThrow('It is gone.');
  });

  test.each<[object, string]>([
    [{ counts: { thought: -1 } }, 'Expected `counts.thought` to be an integer from 0 up'],
    [{ allowed: { leaf: [] } }, 'Expected `allowed` to be kinds among root, thought'],
    [{ allowed: { root: ['guess'] } }, 'Expected `allowed.root` to be kinds among thought'],
    [{ prompts: { thoughtLabel: '' } }, 'Expected `prompts.thoughtLabel` to be a label'],
    [{ prompts: { thoughtLabel: 'S' } }, 'Expected `prompts.thoughtLabel` to be a label'],
  ])('is a usage error where it is an option: %j', (options, message) => {
    expect(() => acting(options)).toThrow(message);
  });
});

/** Its steps differ by what it was shown and by their index. */
const steps = () =>
  scriptedModel({
    answer: ({ messages }, index) => `Note ${index % 7} on ${messages[0]?.content.length}.`,
  });

describePolicy(
  'multiAction',
  {
    create: () => multiAction({ model: steps(), allowed: { finish: ['thought'] } }),
    environment,
  },
  { describe, test },
);
describeConduct('multiAction', (model) => multiAction({ model }));
