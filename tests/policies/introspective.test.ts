import { describe, expect, test } from 'vitest';
import type { LanguageModel } from '../../src/contracts/language-model.ts';
import type { Policy } from '../../src/contracts/policy.ts';
import type { ReasoningState } from '../../src/environments/index.ts';
import { mcts, search } from '../../src/index.ts';
import { fromModel } from '../../src/policies/from-model/from-model.ts';
import { introspective } from '../../src/policies/introspective.ts';
import {
  describePolicy,
  type ScriptedModelOptions,
  scriptedModel,
} from '../../src/testing/index.ts';
import { heuristic } from '../../src/values/heuristic.ts';
import { rootNode } from '../support/nodes.ts';
import {
  asking,
  describeConduct,
  environment,
  game,
  knowing,
  lastTexts,
  outcomes,
  question,
  restated,
} from './conduct.ts';

const state: ReasoningState = { question, steps: ['She has 3.'] };
const prompt = restated.prompt(state)[0]?.content ?? '';

function proposing(
  answers: readonly string[] | ScriptedModelOptions['answer'],
  options: Partial<Parameters<typeof introspective<ReasoningState, string>>[0]> = {},
) {
  let calls = 0;
  const answer = typeof answers === 'function' ? answers : () => answers[calls++] ?? '';
  const model = scriptedModel({ answer, capabilities: { n: true, temperature: true } });
  return { model, policy: introspective({ model, ...options }) };
}

describe('an introspective policy', () => {
  test('shows what is there and what it proposed just before', async () => {
    const { model, policy } = proposing(['Add.', 'Draw.']);
    const proposals = await policy.propose(rootNode(state, ['Count.']), asking(2, 4));
    expect(outcomes(proposals)).toEqual(['Add.', 'Draw.']);
    const known = (...actions: readonly string[]) =>
      [
        prompt,
        '',
        'These continuations from this very place are known already. Scores go from 0, hopeless, to 1, certain success.',
        ...actions.flatMap((action) => [
          `- ${action}`,
          '  Outcome: not tried yet',
          '  Score: none yet',
        ]),
        '',
        'Think about the solution so far',
      ].join('\n');
    const [first = '', second = ''] = lastTexts(model.requests);
    expect(first.startsWith(known('Count.'))).toBe(true);
    expect(second.startsWith(known('Count.', 'Add.'))).toBe(true);
    expect(model.requests).toMatchObject([
      { samples: 1, offset: 4, temperature: 1, maxTokens: 256 },
      { samples: 1, offset: 5 },
    ]);
  });

  test('asks with the prompt of the state alone where nothing is known', async () => {
    const { model, policy } = proposing(['Add.']);
    await policy.propose(rootNode(state), asking(1));
    expect(model.requests[0]?.messages).toEqual(restated.prompt(state));
  });

  test('proposes `samples` where all are wanted', async () => {
    const { policy } = proposing((_request, index) => `Try ${index}.`, { samples: 3 });
    const proposals = await policy.propose(rootNode(state), asking(Number.POSITIVE_INFINITY));
    expect(outcomes(proposals)).toEqual(['Try 0.', 'Try 1.', 'Try 2.']);
  });

  test('shows nothing and sends nothing back where independent samples are wanted', async () => {
    const { model, policy } = proposing(() => 'Count.');
    const request = { ...asking(2), independent: true };
    const proposals = await policy.propose(rootNode(state, ['Count.']), request);
    expect(outcomes(proposals)).toEqual(['Count.', 'Count.']);
    expect(model.requests).toMatchObject([{ messages: restated.prompt(state), samples: 2 }]);
  });
});

describe('a proposal that is known', () => {
  test('is sent back with the reason, once', async () => {
    const { model, policy } = proposing(['Count.', 'Add.']);
    const proposals = await policy.propose(rootNode(state, ['Count.']), asking(1, 2));
    expect(outcomes(proposals)).toEqual(['Add.']);
    expect(model.requests[1]?.messages.slice(1)).toEqual([
      { role: 'assistant', content: 'Count.' },
      {
        role: 'user',
        content:
          'Expected an action other than those that are known, got `Count.` again. Answer again, in the same form.',
      },
    ]);
    expect(model.requests.map(({ offset }) => offset)).toEqual([2, 2]);
  });

  test('is a failure if it comes again, and no silent duplicate', async () => {
    const { model, policy } = proposing(['Count.', ' Count. ', 'Add.']);
    const proposals = await policy.propose(rootNode(state, ['Count.']), asking(2));
    const message = 'Expected an action other than those that are known, got `Count.` again.';
    expect(proposals).toMatchObject([
      { failure: { kind: 'invalid', message } },
      { action: 'Add.' },
    ]);
    expect(model.completions).toBe(3);
  });

  test('is one that was proposed just before, too, in whatever white space', async () => {
    const { policy } = proposing(['Add 3\nand 4.', 'Add 3 and 4.', 'Add 3  and 4.']);
    const proposals = await policy.propose(rootNode(state), asking(2));
    expect(outcomes(proposals)).toEqual([
      'Add 3\nand 4.',
      'Expected an action other than those that are known, got `Add 3  and 4.` again.',
    ]);
  });

  test('is not sent back where there are no repairs', async () => {
    const { model, policy } = proposing(() => 'Count.', { repairs: 0 });
    expect(await policy.propose(rootNode(state, ['Count.']), asking(1))).toMatchObject([
      { failure: { kind: 'invalid' } },
    ]);
    expect(model.completions).toBe(1);
  });
});

describe('what goes wrong in an introspective expansion', () => {
  test('fails one proposal and no other', async () => {
    const { policy } = proposing((_request, index) => {
      if (index === 1) throw new Error('It is gone.');
      return index === 0 ? '…' : 'Add.';
    });
    expect(await policy.propose(rootNode(state), asking(3))).toMatchObject([
      { failure: { kind: 'parse' } },
      { failure: { kind: 'call', message: 'It is gone.' } },
      { action: 'Add.' },
    ]);
  });

  test('fails the expansion where no call was answered', async () => {
    const { policy } = proposing(() => {
      throw new Error('It is gone.');
    });
    await expect(policy.propose(rootNode(state), asking(2))).rejects.toThrow('It is gone.');
  });
});

test('what it tells of itself are its prompts and those of its parts', () => {
  const promptParts = [{ stamps: ['taught'], prompts: { lesson: '1 a' }, text: () => undefined }];
  const { policy } = proposing([], { promptParts });
  expect(policy.stamps).toEqual(['taught']);
  expect(Object.keys(policy.prompts ?? {})).toEqual([
    'lesson',
    'from-model',
    'siblings',
    'introspective',
  ]);
  const other = proposing([], { prompts: { request: 'Another.' } }).policy;
  expect(other.prompts?.['introspective']).not.toBe(policy.prompts?.['introspective']);
  expect(() => proposing([], { prompts: { known: 1 as never } })).toThrow('`prompts.known`');
});

describe('mechanism: a model that repeats what is likely unless it is told that it is known', () => {
  const likely = ['Add 3 and 4.', 'Count on from 3.', 'Draw them.', 'Use a table.', 'Ask Ann.'];
  const obedient = () =>
    scriptedModel({
      answer: ({ messages }) => {
        const read = messages.map(({ content }) => content).join('\n');
        return likely.find((step) => !read.includes(step)) ?? 'Add 3 and 4.';
      },
    });

  async function grown(make: (model: LanguageModel) => Policy<ReasoningState, string>) {
    const { tree, spend } = await search(environment, {
      policy: make(obedient()),
      evaluator: heuristic<ReasoningState>(() => 0.5),
      algorithm: mcts({ width: 5 }),
      budget: { simulations: 1 },
    });
    return { calls: spend.calls, distinct: tree.root.children.length };
  }

  test('has 1 child after 5 calls alone, and 5 children after 5 calls under introspection', async () => {
    expect(await grown((model) => fromModel({ model }))).toEqual({
      calls: 5,
      distinct: 1,
    });
    expect(await grown((model) => introspective({ model }))).toEqual({
      calls: 5,
      distinct: 5,
    });
  });
});

describePolicy(
  'introspective',
  { create: () => introspective({ model: knowing() }), environment: game },
  { describe, test },
);

describeConduct('introspective', (model) => introspective({ model }));
