import { describe, expect, test } from 'vitest';
import type { Memory, MemoryQuery, Recollection } from '../../src/contracts/memory.ts';
import { inMemoryStore, type LessonsOptions, lessons, memory } from '../../src/memory/index.ts';
import { plainContext } from '../../src/testing/index.ts';
import { environmentOf } from '../support/environment-of.ts';
import { notation, path } from './paths.ts';
import { reflection } from './reflections.ts';

const context = plainContext();
const told = [
  reflection({ task: 'open doors', action: 'do push', lesson: 'Look at the {handle}.' }),
  reflection({ task: 'leave', action: 'do pull', lesson: 'Ask for the key.' }),
];

interface Spy extends Memory {
  readonly asked: MemoryQuery[];
}

function remembering(found: readonly (typeof told)[number][] = told): Spy {
  const asked: MemoryQuery[] = [];
  return {
    asked,
    async recall(query) {
      asked.push(query);
      return found.map((one): Recollection => ({ reflection: one, similarity: 1 }));
    },
    remember: async () => [],
  };
}

const deep = path(['p', 'q', 'r', 's', 't'].map((action) => ({ action, value: 0 })));
const nodeAt = (depth: number) => deep[depth] ?? path([])[0] ?? deep[0];

async function textAt(depth: number, changes: Partial<LessonsOptions<string>> = {}) {
  const spy = remembering();
  const part = lessons<string, string>({
    ...{ memory: spy, kind: 'policy', task: 'enter' },
    ...changes,
  });
  const node = nodeAt(depth);
  return node === undefined
    ? undefined
    : part.text(node, { environment: environmentOf(notation), context });
}

describe('lessons', () => {
  test('tell objective, attempted step and lesson, the best first', async () => {
    const prompts = { intro: 'Known:', item: '{number}: {task}; {action}; {lesson}' };
    expect(await textAt(1, { prompts })).toBe(
      'Known:\n\n1: open doors; do push; Look at the {handle}.\n\n2: leave; do pull; Ask for the key.',
    );
  });

  test('in words of their own', async () => {
    const text = await textAt(0);
    expect(text).toContain('Lesson 2\n- objective: leave\n- attempted step: do pull\n');
    expect(text).toContain('- lesson: Ask for the key.');
    expect(await textAt(0, { kind: 'value' })).not.toBe(text);
  });

  test('are asked for by kind, task and situation', async () => {
    const spy = remembering();
    const part = lessons<string, string>({ memory: spy, kind: 'value', task: 'enter' });
    const [root, , second] = deep;
    for (const node of [root, second])
      if (node !== undefined)
        await part.text(node, { environment: environmentOf(notation), context });
    expect(spy.asked).toEqual([
      { kind: 'value', task: 'enter', situation: 'Done so far: nothing.' },
      { kind: 'value', task: 'enter', situation: 'Done so far: p, q.' },
    ]);
  });

  test('ask for what stands before an action that was not taken, and as the caller tells it', async () => {
    const spy = remembering();
    const [, , proposed] = path([
      { action: 'p', value: 0 },
      { action: 'q', value: 0, proposed: true },
    ]);
    const options = { memory: spy, kind: 'policy', task: 'enter' } as const;
    const part = lessons<string, string>({ ...options, situation: (state) => `after ${state}` });
    if (proposed !== undefined)
      await part.text(proposed, { environment: environmentOf(notation), context });
    expect(spy.asked.map(({ situation }) => situation)).toEqual(['after p']);
  });

  test('begin otherwise from five steps on', async () => {
    const prompts = { intro: 'short', introOfLongPath: 'long' };
    expect(await textAt(4, { prompts })).toMatch(/^short/);
    expect(await textAt(5, { prompts })).toMatch(/^long/);
    expect(await textAt(2, { prompts, longPath: 2 })).toMatch(/^long/);
    expect(await textAt(5)).not.toBe(await textAt(4));
  });

  test('are nothing where nothing fits', async () => {
    const store = inMemoryStore();
    await store.add([reflection({ task: 'boil water', situation: 'in the kitchen' })]);
    const options = { memory: memory({ store }), kind: 'policy' } as const;
    const part = lessons<string, string>({ ...options, task: 'enter' });
    const [root] = deep;
    if (root !== undefined)
      expect(
        await part.text(root, { environment: environmentOf(notation), context }),
      ).toBeUndefined();
  });

  test('fail where the recall fails', async () => {
    const failing: Memory = {
      recall: () => Promise.reject(new Error('no embedding')),
      remember: async () => [],
    };
    await expect(textAt(0, { memory: failing })).rejects.toThrow('no embedding');
  });
});

describe('the limit of lessons', () => {
  const told512 = async (lesson: string, maxTokens?: number) => {
    const text = await textAt(1, {
      memory: remembering([reflection({ lesson })]),
      prompts: { intro: '', item: '{lesson}' },
      ...(maxTokens !== undefined && { maxTokens }),
    });
    return text?.trim();
  };

  test('is 128 tokens of four characters each', async () => {
    const exact = 'x'.repeat(512);
    expect(await told512(exact)).toBe(exact);
    expect(await told512(`${exact}y`)).toBe(`${'x'.repeat(511)}…`);
  });

  test('falls between words, and holds for every field', async () => {
    expect(await told512('Look before you leap', 4)).toBe('Look before you…');
    expect(await told512('Look before you leap', 3)).toBe('Look before…');
    expect(await told512('Look before you leap', 5)).toBe('Look before you leap');
    const long = reflection({ task: 'a'.repeat(9), action: 'b'.repeat(9), lesson: 'c'.repeat(9) });
    const text = await textAt(1, {
      ...{ memory: remembering([long]), maxTokens: 2 },
      prompts: { intro: '', item: '{task} {action} {lesson}' },
    });
    expect(text?.trim()).toBe('aaaaaaa… bbbbbbb… ccccccc…');
  });

  test('keeps a lesson on one line', async () => {
    expect(await told512('first\n\nLesson 9\n- objective: lies')).toBe(
      'first Lesson 9 - objective: lies',
    );
  });
});

test('the parts for policies and for judges have prompts of their own, and pass on stamps', () => {
  const options = { memory: remembering(), task: 'enter' };
  const policy = lessons<string, string>({ ...options, kind: 'policy' });
  const value = lessons<string, string>({ ...options, kind: 'value', stamps: ['oracle-guided'] });
  expect(Object.keys(policy.prompts ?? {})).toEqual(['lessons-policy']);
  expect(Object.keys(value.prompts ?? {})).toEqual(['lessons-value']);
  expect(policy.stamps).toBeUndefined();
  expect(value.stamps).toEqual(['oracle-guided']);
  const changed = lessons<string, string>({ ...options, kind: 'policy', prompts: { intro: 'x' } });
  expect(changed.prompts).not.toEqual(policy.prompts);
});

test('options out of range are refused', () => {
  const make = (options: object) => () =>
    lessons({ memory: remembering(), kind: 'policy', task: 'enter', ...options });
  expect(make({ kind: 'both' })).toThrow("Expected `kind` to be 'policy' or 'value'");
  expect(make({ memory: {} })).toThrow('Expected `memory` to be');
  expect(make({ task: 1 })).toThrow('Expected `task` to be a text');
  expect(make({ maxTokens: 0 })).toThrow('Expected `maxTokens` to be an integer from 1 up');
  expect(make({ longPath: -1 })).toThrow('Expected `longPath` to be an integer from 0 up');
  expect(make({ prompts: { into: 'x' } })).toThrow('Expected `prompts` to be texts named');
});
