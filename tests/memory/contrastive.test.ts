import { describe, expect, test } from 'vitest';
import { EspalierError } from '../../src/base/errors.ts';
import type { Completion, GenerateRequest } from '../../src/contracts/language-model.ts';
import type { SearchNode } from '../../src/contracts/node.ts';
import {
  type ContrastiveOptions,
  contrastive,
  inMemoryStore,
  memory,
} from '../../src/memory/index.ts';
import { readLesson } from '../../src/memory/read-lesson.ts';
import { plainContext, scriptedModel } from '../../src/testing/index.ts';
import { environmentOf } from '../support/environment-of.ts';
import { notation, type PathStep, path } from './paths.ts';

const steps: readonly PathStep[] = [
  { action: 'a', value: 0.9, rawValue: 0.8, rationale: 'The door looks open.' },
  { action: 'b', value: 0.2, rawValue: 0.9 },
  { action: 'c', value: 0.6, rawValue: 0.1 },
  { action: 'd', value: 0.75, rawValue: 0.7, rationale: 'Nearly there.' },
];

type Answer = (request: GenerateRequest, text: string) => string | Completion;
const lastOf = ({ messages }: GenerateRequest) => messages.at(-1)?.content ?? '';
const usual: Answer = (_request, text) =>
  text.includes('three sentences') ? 'It opens.' : 'Hm.\nLESSON: Try the handle.';

function reflecting(
  answer: Answer = usual,
  { schema = false, ...changes }: Partial<ContrastiveOptions<string>> & { schema?: boolean } = {},
) {
  const store = inMemoryStore();
  const model = scriptedModel({
    answer: (request) => answer(request, lastOf(request)),
    capabilities: { n: true, schema },
  });
  const { reflect, prompts } = contrastive<string, string>({
    ...{ model, memory: memory({ store }), task: 'enter' },
    ...changes,
  });
  return { store, model, reflect, prompts };
}

const context = plainContext();
const house = { ...environmentOf(notation), name: 'house' };
const sources = (found: readonly { kind: string; source: { node: number } }[]) =>
  found.map(({ kind, source }) => `${kind} ${source.node}`);

describe('which steps are reflected on', () => {
  test('those of R-MCTS: one judgement and three steps, from 0.5 on', async () => {
    // Judgements at outcome 0: 0.6, 0.3, 0.65, 0.7. Steps: 0.1, 0.7, 0.5, 0.75.
    const { reflect, store } = reflecting();
    const report = await reflect(path(steps), { environment: house, context });
    expect(sources(report.written)).toEqual(['value 4', 'policy 4', 'policy 2', 'policy 3']);
    expect(report).toMatchObject({ outcome: 0, estimated: true, unreadable: 0, failures: [] });
    expect(report.learnt).toEqual(report.written);
    expect(await store.all()).toEqual(report.written);
  });

  test('as many and as surprising as asked for', async () => {
    const { reflect } = reflecting(usual, {
      ...{ policy: { most: 1 }, value: { most: 3, threshold: 0.65 } },
    });
    const { written } = await reflect(path(steps), { environment: house, context });
    expect(sources(written)).toEqual(['value 4', 'value 3', 'policy 4']);
    const none = reflecting(usual, { policy: { most: 0 }, value: { threshold: 0.8 } });
    const report = await none.reflect(path(steps), { environment: house, context });
    expect(report.written).toEqual([]);
    expect(none.model.requests).toHaveLength(0);
  });

  test('by the outcome that is known, or else by the mean of Q', async () => {
    const { reflect } = reflecting();
    const known = await reflect(path(steps), { environment: house, context, outcome: 1 });
    expect(known).toMatchObject({ outcome: 1, estimated: false });
    expect(sources(known.written)).toEqual(['value 3', 'policy 2', 'policy 3']);
    // The mean of Q is 0.6125.
    const lenient = reflecting(usual, { solvedAbove: 0.6 });
    expect(await lenient.reflect(path(steps), { environment: house, context })).toMatchObject({
      ...{ outcome: 1, estimated: true },
    });
    const [...nodes] = path(steps);
    const end = nodes.pop() as SearchNode<string, string>;
    const right = [...nodes, { ...end, terminal: true, reward: 1 }] as typeof nodes;
    expect(await reflect(right, { environment: house, context })).toMatchObject({
      ...{ outcome: 1, estimated: false },
    });
    await expect(reflect(path(steps), { environment: house, context, outcome: 2 })).rejects.toThrow(
      'Expected `outcome` to be',
    );
  });
});

describe('a reflection on a step', () => {
  const only = { policy: { most: 1 }, value: { most: 0 } };

  test('asks for the expectation before it shows what came', async () => {
    const { reflect, model } = reflecting(usual, { ...only, policy: { most: 2 } });
    await reflect(path(steps), { environment: house, context });
    const about = model.requests.filter(({ messages }) =>
      messages.some(({ content }) => content.includes('Done so far: a.')),
    );
    const [first, second] = about;
    expect(first?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    const question = first?.messages[1]?.content ?? '';
    expect(question).toMatch(/^Done so far: a\.\n\n/);
    expect(question).toContain('do b');
    expect(JSON.stringify(first)).not.toContain('a, b');
    expect(JSON.stringify(first)).not.toContain('not solved');
    expect(second?.messages.slice(0, 2)).toEqual(first?.messages);
    expect(second?.messages[2]).toEqual({ role: 'assistant', content: 'It opens.' });
    const truth = second?.messages[3]?.content ?? '';
    expect(truth).toContain('Done so far: a, b.');
    expect(truth).toContain('In the end the task was not solved.');
    expect(truth).toContain('at most 100 words');
    expect(truth).toContain('LESSON:');
  });

  test('is kept with its experience and its source', async () => {
    const { reflect } = reflecting(usual, only);
    const { written } = await reflect(path(steps), { environment: house, context });
    expect(written).toEqual([
      {
        id: expect.stringMatching(/^[\w-]{43}$/) as unknown,
        kind: 'policy',
        task: 'enter',
        situation: 'Done so far: a, b, c.',
        action: 'do d',
        outcome:
          'Done so far: a, b, c, d.\n\nThe task ended here. In the end the task was not solved.',
        lesson: 'Try the handle.',
        source: {
          ...{ environment: 'house', node: 4, expected: 0.75, realised: 0 },
          model: 'scripted:script',
        },
      },
    ]);
  });

  test('tells situations as the caller does', async () => {
    const { reflect } = reflecting(usual, { ...only, situation: (state) => `<${state}>` });
    const [one] = (await reflect(path(steps), { environment: house, context })).written;
    expect(one).toMatchObject({
      situation: '<abc>',
      outcome: expect.stringMatching(/^<abcd>\n\n/) as unknown,
    });
  });
});

describe('a reflection on a judgement', () => {
  const only = { policy: { most: 0 }, value: { most: 2 } };

  test('shows the judgement and what came of it, in one turn', async () => {
    const { reflect, model } = reflecting(usual, only);
    const { written } = await reflect(path(steps), { environment: house, context });
    expect(model.requests).toHaveLength(2);
    const [last, third] = model.requests.map(lastOf);
    expect(last).toMatch(/^Done so far: a, b, c, d\.\n\n/);
    expect(last).toContain('judged to be 70 %');
    expect(last).toContain('The reason given: Nearly there.');
    expect(last).toContain('The task ended here. In the end the task was not solved.');
    expect(third).toContain('judged to be 10 %');
    expect(third).toContain('The reason given: none');
    expect(third).toContain('Done so far: a, b, c, d.');
    expect(written.map(({ situation, action }) => [situation, action])).toEqual([
      ['Done so far: a, b, c, d.', 'do d'],
      ['Done so far: a, b, c.', 'do c'],
    ]);
    expect(written[1]).toMatchObject({
      ...{ kind: 'value', outcome: 'Done so far: a, b, c, d.' },
      source: { node: 3, expected: 0.1, realised: 0.75 },
    });
  });
});

describe('an answer', () => {
  test('without a lesson is dropped and counted, and costs no other one', async () => {
    const { reflect, store } = reflecting((request, text) => {
      if (text.includes('three sentences')) return text.includes('do b') ? ' ' : 'Good things.';
      if (text.includes('judged')) return 'I would rather not.';
      return usual(request, text);
    });
    const report = await reflect(path(steps), { environment: house, context });
    expect(sources(report.written)).toEqual(['policy 4', 'policy 3']);
    expect(report.unreadable).toBe(2);
    expect(await store.all()).toHaveLength(2);
  });

  test.each<[string, Completion, string | undefined]>([
    ['the last line with the marker', { text: 'LESSON: one\nmore\nLESSON: two' }, 'two'],
    ['a marker in bold', { text: 'So.\n**Lesson:** look twice' }, 'look twice'],
    ['lines behind the marker', { text: 'LESSON: a\nb' }, 'a\nb'],
    ['JSON', { text: ' {"lesson": " a "} ' }, 'a'],
    ['JSON in a fence', { text: '```json\n{"lesson": "a"}\n```' }, 'a'],
    ['nothing behind the marker', { text: 'LESSON:' }, undefined],
    ['signs only', { text: 'LESSON: …' }, undefined],
    ['no marker', { text: 'The lesson is to wait.' }, undefined],
    ['the word within a line', { text: 'My lesson: none' }, undefined],
    ['JSON of another kind', { text: '{"lesson": 1}' }, undefined],
    ['what was cut off', { text: 'LESSON: always', finishReason: 'length' }, undefined],
    ['a refusal', { text: 'LESSON: no', finishReason: 'refusal' }, undefined],
  ])('%s', (_name, completion, lesson) => {
    expect(readLesson(completion)).toBe(lesson);
  });

  test('is bound to a schema where the model honours one', async () => {
    const { reflect, model } = reflecting(
      (_request, text) => (text.includes('three sentences') ? 'x' : '{"lesson": "From JSON."}'),
      { schema: true },
    );
    const { written } = await reflect(path(steps), { environment: house, context });
    expect(new Set(written.map(({ lesson }) => lesson))).toEqual(new Set(['From JSON.']));
    const asked = model.requests.filter(({ schema }) => schema !== undefined);
    expect(asked).toHaveLength(4);
    expect(asked.every((request) => lastOf(request).includes('{"lesson": "<text>"}'))).toBe(true);
    expect(model.requests).toHaveLength(7);
  });
});

describe('what goes wrong', () => {
  test('a call that fails loses one reflection', async () => {
    const { reflect } = reflecting((request, text) => {
      if (text.includes('do b')) throw new Error('overloaded');
      return usual(request, text);
    });
    const report = await reflect(path(steps), { environment: house, context });
    expect(sources(report.written)).toEqual(['value 4', 'policy 4', 'policy 3']);
    expect(report.failures).toEqual([{ kind: 'call', message: 'overloaded' }]);
  });

  test('a spent budget ends it with what it has', async () => {
    let left = 3;
    const poor = {
      ...context,
      generate: (...args: Parameters<typeof context.generate>) => {
        if (left-- > 0) return context.generate(...args);
        return Promise.reject(new EspalierError('budget', 'Nothing is left.'));
      },
    };
    const { reflect, store } = reflecting();
    const report = await reflect(path(steps), { environment: house, context: poor });
    // The judgement and two expectations were bought; no lesson on a step was.
    expect(sources(report.written)).toEqual(['value 4']);
    expect(report).toMatchObject({ unaffordable: 3, failures: [] });
    expect(await store.all()).toEqual(report.written);
  });

  test('what ends the search is thrown on', async () => {
    const thrown = (error: Error) =>
      reflecting(() => {
        throw error;
      }).reflect(path(steps), { environment: house, context });
    const gone = new EspalierError('unavailable', 'The key is wrong.');
    await expect(thrown(gone)).rejects.toBe(gone);
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    const { reflect } = reflecting();
    const aborted = plainContext({ signal: controller.signal });
    await expect(reflect(path(steps), { environment: house, context: aborted })).rejects.toThrow(
      'enough',
    );
  });

  test('lessons that cannot be kept are told with the reason', async () => {
    const store = {
      all: () => [],
      add: () => {
        throw new Error('no room');
      },
    };
    const { reflect } = reflecting(usual, { memory: memory({ store }) });
    const report = await reflect(path(steps), { environment: house, context });
    expect(report.written).toHaveLength(4);
    expect(report.learnt).toEqual([]);
    expect(report.failures).toEqual([{ kind: 'call', message: 'no room' }]);
  });

  test('what is known already is not learnt again', async () => {
    const { reflect, store } = reflecting();
    await reflect(path(steps), { environment: house, context });
    const again = await reflect(path(steps), {
      environment: house,
      context: plainContext({ signal: new AbortController().signal }),
    });
    expect(again.written).toHaveLength(4);
    expect(again.learnt).toEqual([]);
    expect(await store.all()).toHaveLength(4);
  });

  test('a path without steps teaches nothing', async () => {
    const { reflect, model } = reflecting();
    expect(await reflect(path([]), { environment: house, context })).toMatchObject({
      outcome: 0,
      written: [],
    });
    expect(await reflect([], { environment: house, context })).toMatchObject({
      written: [],
    });
    expect(model.requests).toHaveLength(0);
  });
});

test('nodes may change while it reflects', async () => {
  const nodes = path(steps);
  const { reflect } = reflecting();
  const under = reflect(nodes, { environment: house, context });
  for (const node of nodes) Object.assign(node, { value: 0.5, rawValue: 0.5 });
  const { written } = await under;
  expect(written.map(({ source: { expected } }) => expected)).toEqual([0.7, 0.75, 0.2, 0.6]);
});

test('prompts can be replaced, and are part of the provenance', () => {
  const usualPrompts = reflecting().prompts;
  expect(usualPrompts).toEqual({
    'contrastive-reflection': expect.stringMatching(/^1 [\w-]{43}$/) as unknown,
  });
  expect(reflecting(usual, { prompts: { expect: 'What?' } }).prompts).not.toEqual(usualPrompts);
});

test('options out of range are refused', () => {
  const make = (options: object) => () => reflecting(usual, options);
  expect(make({ policy: { most: -1 } })).toThrow('Expected `policy.most` to be');
  expect(make({ value: { threshold: 2 } })).toThrow('Expected `value.threshold` to be');
  expect(make({ solvedAbove: 2 })).toThrow('Expected `solvedAbove` to be');
  expect(make({ maxWords: 0 })).toThrow('Expected `maxWords` to be');
  expect(make({ maxTokens: 0 })).toThrow('Expected `maxTokens` to be');
  expect(make({ task: 1 })).toThrow('Expected `task` to be a text');
  expect(make({ memory: {} })).toThrow('Expected `memory` to be');
});
