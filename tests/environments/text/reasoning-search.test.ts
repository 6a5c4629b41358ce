import { describe, expect, test } from 'vitest';
import type { Capabilities, Completion, Message } from '../../../src/contracts/language-model.ts';
import { notationFor, type ReasoningState, reasoning } from '../../../src/environments/index.ts';
import {
  mcts,
  type SearchResult,
  search,
  solved,
  treeFromJson,
  treeToJson,
} from '../../../src/index.ts';
import { type FromModelOptions, fromModel } from '../../../src/policies/index.ts';
import { scriptedModel } from '../../../src/testing/index.ts';
import { heuristic } from '../../../src/values/index.ts';

const question = 'A number is doubled, and 6 is added. The result is 20. What is the number?';

/** What a user has at run time: the condition of the question, and not its answer. */
const verifier = {
  verify: ({ answer }: ReasoningState) => ({ correct: 2 * Number(answer) + 6 === 20 }),
};

/** What may be said next, by the last thing that was said; the wrong way comes first. */
const script: Readonly<Record<string, readonly [string, string]>> = {
  '': ['Half of 20 is 10.', 'Take 6 away from 20: 14 is left.'],
  'Half of 20 is 10.': ['The answer is 10.', '10 and 6 are 16. The answer is 16.'],
  'Take 6 away from 20: 14 is left.': ['The answer is 14.', 'Half of 14 is 7. The answer is 7.'],
};

/** The last step in a prompt of any form. */
function lastStep(messages: readonly Message[]): string {
  const text = messages.map(({ content }) => content).join('\n');
  const steps = [...text.matchAll(/^Step \d+: (\S.*)$/gm)];
  return steps.at(-1)?.[1] ?? '';
}

/** Writes as a model of these capabilities does. */
function modelOf(capabilities: Capabilities) {
  return scriptedModel({
    capabilities: { n: true, ...capabilities },
    answer: ({ messages, schema }, index) => {
      const step = script[lastStep(messages)]?.[index % 2] ?? 'I do not know.';
      if (schema === undefined) return capabilities.continuation === true ? ` ${step}` : step;
      const answer = /The answer is (\d+)/.exec(step)?.[1] ?? null;
      return JSON.stringify({ step: step.replace(/ ?The answer is \d+\./, ''), answer });
    },
  });
}

function solve(
  capabilities: Capabilities,
  options: Partial<FromModelOptions<ReasoningState, string>> = {},
): Promise<SearchResult<ReasoningState, string>> {
  const environment = reasoning({ question, verifier });
  const model = modelOf(capabilities);
  const notation = notationFor(environment, model.capabilities);
  return search(
    { ...environment, notation },
    {
      policy: fromModel({ model, samples: 2, ...options }),
      evaluator: heuristic(() => 0.5),
      algorithm: mcts({ evaluate: 'all' }),
      budget: { simulations: 20 },
      stopWhen: solved(),
    },
  );
}

describe('a small word problem', () => {
  test.each([
    ['by a model that continues its answer', { continuation: true }, ' The'],
    ['by one that is bound to a schema', { schema: true }, '\nThe'],
    ['by one that can do neither', {}, ' The'],
  ])('is solved step by step %s', async (_who, capabilities, between) => {
    const { actions, best, solved: isSolved, stopReason, tree } = await solve(capabilities);
    expect(actions).toEqual([
      'Take 6 away from 20: 14 is left.',
      `Half of 14 is 7.${between} answer is 7.`,
    ]);
    expect(best.state).toMatchObject({ question, steps: actions, answer: '7' });
    expect({ isSolved, stopReason }).toEqual({ isSolved: true, stopReason: 'solved' });
    // The wrong answers were looked at, and are known to be wrong: 2 · 14 + 6 is 34.
    const wrong = tree.root.children[1]?.children[0];
    expect(wrong).toMatchObject({ status: 'terminal', answer: true, reward: 0 });
  });

  test('leaves a tree that is saved and loaded without loss', async () => {
    const { tree } = await solve({});
    const environment = reasoning({ question, verifier });
    const saved = treeToJson(tree, environment);
    const again = treeFromJson<ReasoningState, string>(JSON.stringify(saved), environment);
    expect(treeToJson(again, environment)).toEqual(saved);
  });
});

/** Expands the root once with these answers. */
async function rootOf(answers: readonly (string | Completion)[]) {
  const environment = reasoning({ question });
  const model = scriptedModel({ answer: (_request, index) => answers[index] ?? '' });
  const { tree } = await search(environment, {
    policy: fromModel({ model, samples: answers.length }),
    evaluator: heuristic(() => 0.5),
    algorithm: mcts({ evaluate: 'all' }),
    budget: { simulations: 1 },
  });
  return tree.root;
}

describe('the steps of a search', () => {
  test('that are equal are one, with the prior of all', async () => {
    const { children } = await rootOf(['Halve it.', 'Step 1: Halve it.', 'Guess.', ' Halve it.\n']);
    expect(children.map(({ action, prior }) => [action, prior])).toEqual([
      ['Halve it.', 0.75],
      ['Guess.', 0.25],
    ]);
  });

  test('that differ in white space only are one once they are taken', async () => {
    const { children } = await rootOf(['Halve it.', 'Halve  it.', 'Guess.', 'Halve\nit.']);
    expect(children.map(({ action, prior, status }) => [action, prior, status])).toEqual([
      ['Halve it.', 0.75, 'open'],
      ['Halve  it.', 0, 'pruned'],
      ['Guess.', 0.25, 'open'],
      ['Halve\nit.', 0, 'pruned'],
    ]);
  });

  test('that were cut off are no answers: no node comes of them', async () => {
    const cut = (text: string): Completion => ({ text, finishReason: 'length' });
    const { children, failedProposals } = await rootOf([
      cut('The answer is 1'),
      cut('Half of 14 is 7.\nThe answer is 7.'),
      cut('Half of 14 is 7.\n\nThe answer is 1'),
      'Half of 14 is 7. The answer is 7.',
    ]);
    expect(children.map(({ action, answer }) => [action, answer])).toEqual([
      ['Half of 14 is 7.', false],
      ['Half of 14 is 7. The answer is 7.', true],
    ]);
    expect(failedProposals).toMatchObject([{ count: 2 }]);
  });

  test('that answer without a verifier are valued by the evaluator', async () => {
    const { children } = await rootOf(['The answer is 7.']);
    expect(children[0]).toMatchObject({
      status: 'terminal',
      answer: true,
      reward: undefined,
      rawValue: 0.5,
    });
  });
});
