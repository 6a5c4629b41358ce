import { describe, expect, test } from 'vitest';
import { memoryJournal } from '../../src/calls/index.ts';
import type { Notation } from '../../src/contracts/environment.ts';
import type { Completion, GenerateRequest } from '../../src/contracts/language-model.ts';
import {
  type ArithmeticState,
  gameOf24,
  type Rational,
  type ReasoningState,
  reasoning,
} from '../../src/environments/index.ts';
import { parseRational } from '../../src/environments/puzzles/rational.ts';
import { mcts, search } from '../../src/index.ts';
import { type FromModelOptions, fromModel } from '../../src/policies/index.ts';
import {
  describePolicy,
  plainContext,
  type ScriptedModelOptions,
  scriptedModel,
} from '../../src/testing/index.ts';
import { heuristic } from '../../src/values/index.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, rootNode } from '../support/nodes.ts';
import { said } from '../support/said.ts';

const question = 'Ann has 3 apples and buys 4. How many has she?';
const environment = reasoning({ question });
const { continued, restated, json } = environment.notations;
const context = plainContext();
const root = rootNode<ReasoningState, string>({ question, steps: ['She has 3.'] });

type Options = Omit<Partial<FromModelOptions<ReasoningState, string>>, 'model'>;

/** A policy that asks for several steps, and its model. */
function several(
  answer: ScriptedModelOptions['answer'],
  options: Options & { schema?: true } = {},
) {
  const { schema = false, ...others } = options;
  const model = scriptedModel({ answer, capabilities: { schema } });
  return { model, policy: fromModel({ ...others, model, form: 'several' }) };
}

function asking(count: number, offset = 0, notation: Notation<ReasoningState, string> = restated) {
  return { environment: environmentOf(notation), context, count, offset, remaining: noSpend };
}

const list = (...steps: readonly string[]) => JSON.stringify({ steps });
const twoRequest = `Propose 2 different steps for this one place, each of which could come next, the best one first.
Answer in JSON, and write nothing else: {"steps": ["<text>"]}, each text one step in the form asked for above.`;

describe('several steps at once', () => {
  test('are one request for one completion, with room for all of them', async () => {
    const { model, policy } = several(() => list('Add.', 'Count.'), {
      maxTokens: 40,
      schema: true,
    });
    const proposals = await policy.propose(root, asking(2, 6));
    const content = `${restated.prompt(root.state)[0]?.content}\n\n${twoRequest}`;
    expect(model.requests.map(({ messages }) => said(messages))).toEqual([
      [{ role: 'user', content }],
    ]);
    expect(model.requests.map(({ messages: _, ...asked }) => asked)).toEqual([
      {
        samples: 1,
        offset: 6,
        maxTokens: 80,
        schema: {
          type: 'object',
          properties: { steps: { type: 'array', items: { type: 'string' } } },
          required: ['steps'],
          additionalProperties: false,
        },
      },
    ]);
    expect(proposals).toEqual([
      { action: 'Add.', completion: { text: 'Add.', finishReason: 'stop' } },
      { action: 'Count.', completion: { text: 'Count.', finishReason: 'stop' } },
    ]);
  });

  test('are as many as `samples` says where all are wanted', async () => {
    const { model, policy } = several(() => list('Add.'), { samples: 3 });
    expect(await policy.propose(root, asking(Number.POSITIVE_INFINITY))).toHaveLength(3);
    expect(model.requests[0]?.messages[0]?.content).toContain('Propose 3 different steps');
  });
});

describe('a list of steps', () => {
  test('of which some are missing fails those, and is read no further than asked for', async () => {
    const { policy } = several(() => list('Add.', 'Count.'));
    const lacking = { failure: { kind: 'empty', message: 'Expected 4 actions, got 2.' } };
    expect(await policy.propose(root, asking(4))).toMatchObject([
      { action: 'Add.' },
      { action: 'Count.' },
      lacking,
      lacking,
    ]);
    expect(await policy.propose(root, asking(1))).toMatchObject([{ action: 'Add.' }]);
  });

  test('fails those alone that cannot be read', async () => {
    const { policy } = several(() => '{"steps": ["…", {"step": "Add."}, 7, " "]}');
    expect(await policy.propose(root, asking(4))).toMatchObject([
      { failure: { kind: 'parse', message: 'Expected a step in words, got `…`.' } },
      { action: 'Add.', completion: { text: '{"step":"Add."}' } },
      { failure: { kind: 'parse', message: 'Expected an object with a text `step`, got `7`.' } },
      { failure: { kind: 'empty' } },
    ]);
  });

  test.each([
    ['brackets alone', '["Add.", "Count."]'],
    ['prose and a fence', 'Here:\n```json\n{"steps": ["Add.", "Count.",]}\n```\nDone.'],
    ['lines', '{"step": "Add."}\n{"step": "Count."}'],
  ])('is read from %s', async (_what, text) => {
    const { policy } = several(() => text);
    expect(await policy.propose(root, asking(2))).toMatchObject([
      { action: 'Add.' },
      { action: 'Count.' },
    ]);
  });

  test.each([
    ['texts', restated, '{"steps": ["Add.", "Count.", "The answer is 2'],
    ['objects', json, '{"steps": [{"step": "Add."}, {"step": "Count."}, {"step": "The answer is 2'],
  ])('of %s that was cut off is what is whole of it', async (_what, notation, text) => {
    for (const finishReason of ['length', 'stop'] as const) {
      const { policy } = several(() => ({ text, finishReason }));
      const proposals = await policy.propose(root, asking(3, 0, notation));
      expect(proposals).toMatchObject([
        { action: 'Add.', completion: { finishReason: 'stop' } },
        { action: 'Count.' },
        { failure: { message: 'Expected an action, got an answer that was cut off.' } },
      ]);
    }
  });

  test.each([
    ['Add.', 'parse', 'Expected JSON, got `Add.`.'],
    ['', 'empty', 'Expected an action, got no text.'],
    ['{"steps": []}', 'empty', 'Expected 2 actions, got 0.'],
    ['{"steps": ["Ad', 'parse', 'Expected an action, got an answer that was cut off.'],
  ])('fails as one where there is nothing in it: %j', async (text, kind, message) => {
    const { policy } = several(() => text);
    const failure = { failure: { kind, message } };
    expect(await policy.propose(root, asking(2))).toEqual([failure, failure]);
  });
});

describe('the request for several steps', () => {
  test('in a notation of JSON asks for objects of its schema', async () => {
    const { model, policy } = several(
      () => '{"steps": [{"step": "Add.", "answer": null}, {"step": "So", "answer": "7"}]}',
      { schema: true },
    );
    expect(await policy.propose(root, asking(2, 0, json))).toMatchObject([
      { action: 'Add.' },
      { action: 'So\nThe answer is 7.' },
    ]);
    expect(model.requests[0]?.schema).toMatchObject({
      properties: { steps: { type: 'array', items: json.schema } },
    });
    expect(model.requests[0]?.messages[0]?.content).toContain('{"steps": [{…}]}, each object one');
  });

  test('is a turn of its own behind steps that a model would have continued', async () => {
    const { model, policy } = several(() => list('Add.'));
    await policy.propose(root, asking(2, 0, continued));
    expect(said(model.requests[0]?.messages)).toEqual([
      ...continued.prompt(root.state),
      { role: 'user', content: twoRequest },
    ]);
  });

  test('names the steps that are there, unless the new ones are to be independent of them', async () => {
    const { model, policy } = several(() => list('Add.'));
    const known = rootNode<ReasoningState, string>(root.state, ['Draw\nit.', 'Guess.']);
    await policy.propose(known, asking(1, 2));
    await policy.propose(known, { ...asking(1, 2), independent: true });
    const [first, second] = model.requests.map(({ messages }) => messages[0]?.content ?? '');
    expect(first).toContain('Propose one step for this one place');
    expect(first?.split('\n').slice(-4)).toEqual([
      'These are known. Propose others:',
      '- Draw',
      '  it.',
      '- Guess.',
    ]);
    expect(second).not.toContain('Guess.');
  });

  test('has one instruction a step', async () => {
    const { model, policy } = several(() => list('Add.'), { vary: ['Draw it.', 'Use algebra.'] });
    await policy.propose(root, asking(3, 1));
    expect(model.requests[0]?.messages[0]?.content.split('\n').slice(-3)).toEqual([
      'Step 1 of the list: Use algebra.',
      'Step 2 of the list: Draw it.',
      'Step 3 of the list: Use algebra.',
    ]);
  });
});

describe('the repair of several steps', () => {
  test('sends back an answer of which nothing can be used', async () => {
    const { model, policy } = several(
      ({ messages }) => (messages.length > 1 ? list('Add.') : 'Add.'),
      { repairs: 2 },
    );
    expect(await policy.propose(root, asking(1, 5))).toMatchObject([{ action: 'Add.' }]);
    expect(model.requests.map(({ offset, maxTokens }) => [offset, maxTokens])).toEqual([
      [5, 256],
      [5, 256],
    ]);
    expect(model.requests[1]?.messages.slice(1)).toEqual([
      { role: 'assistant', content: 'Add.' },
      {
        role: 'user',
        content: 'Expected JSON, got `Add.`. Answer again, in the same form.',
      },
    ]);
  });

  test.each([
    ['one step is sound', list('…', 'Add.'), 1],
    ['nothing was said', '', 1],
    ['it is wrong to the end', 'Add.', 3],
  ])('costs %s: no more than it may', async (_what, text, calls) => {
    const { model, policy } = several(() => text, { repairs: 2 });
    expect(await policy.propose(root, asking(2))).toHaveLength(2);
    expect(model.completions).toBe(calls);
  });

  test('that fails fails the steps, and not the search', async () => {
    const { policy } = several(
      ({ messages }) => {
        if (messages.length > 1) throw new Error('It is gone.');
        return 'Add.';
      },
      { repairs: 1 },
    );
    const failure = { failure: { kind: 'call', message: 'It is gone.' } };
    expect(await policy.propose(root, asking(2))).toEqual([failure, failure]);
  });
});

describe('a search with several steps a call', () => {
  function grow(answer: (request: GenerateRequest) => string | Completion, simulations: number) {
    const { model, policy } = several(answer);
    const journal = memoryJournal();
    const running = search(environment, {
      policy,
      evaluator: heuristic<ReasoningState>(({ steps }) => steps.length / 20),
      algorithm: mcts({ width: 4 }),
      budget: { simulations },
      journal,
    });
    return running.then((result) => ({ ...result, model, journal }));
  }

  test('is charged one call an expansion, and each step knows the call that bought it', async () => {
    const { spend, model, tree, journal } = await grow(
      ({ messages }) => list(`A ${messages[0]?.content.length}.`, 'B.', 'C.', 'D.'),
      3,
    );
    expect(spend.calls).toBe(3);
    expect(model.completions).toBe(3);
    expect(tree.root.samples).toBe(4);
    expect(tree.root.children.map(({ completion }) => completion?.callId)).toEqual(
      Array.from({ length: 4 }, () => '0'),
    );
    expect(journal.lines.filter(({ type }) => type === 'result')).toHaveLength(3);
  });

  test('merges equal steps, and counts missing ones as samples that failed', async () => {
    const { tree } = await grow(() => list('Add.', 'Count.', 'Add.'), 1);
    expect(tree.root.children.map(({ action, prior }) => [action, prior])).toEqual([
      ['Add.', 0.5],
      ['Count.', 0.25],
    ]);
    expect(tree.root.failedProposals).toMatchObject([{ count: 1 }]);
  });
});

const game = gameOf24.environment({ numbers: [4, 9, 10, 13] });

/** Lists legal steps of the state it is shown, others at each offset. */
const knowing = scriptedModel({
  answer: ({ messages }, index) => {
    const text = messages[0]?.content ?? '';
    const numbers = /^Numbers: (.*)$/m.exec(text)?.[1] ?? '';
    const values = numbers
      .split(' ')
      .map((number) => ({ value: parseRational(number), expression: '' }));
    const state = { numbers: values as ArithmeticState<Rational>['numbers'], target: 24 };
    const all = game.actions(state).map((action) => game.notation.format(action));
    return list(...all.slice(index), ...all.slice(0, index));
  },
});

describePolicy(
  'fromModel, several steps a call',
  {
    create: () => fromModel({ model: knowing, form: 'several' }),
    environment: game,
  },
  { describe, test },
);
