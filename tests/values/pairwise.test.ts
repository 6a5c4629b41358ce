import { describe, expect, test } from 'vitest';
import { scriptedModel } from '../../src/testing/index.ts';
import { comparePair } from '../../src/values/judge/compare-pair.ts';
import { pairwise } from '../../src/values/judge/pairwise.ts';
import { realisedNode, rootNode } from '../support/nodes.ts';
import {
  answering,
  notation,
  proposals,
  request,
  telling,
  tokens,
  told,
} from './judge-fixtures.ts';

const { context } = request;
const pair = { messages: [], first: 'one', second: 'two' };

/** The two candidates that are shown. */
function shown(asked: string): readonly [string, string] {
  const [, first = '', second = ''] =
    /Candidate A:\n(.*)\n\nCandidate B:\n(.*)\n\nDo not/s.exec(asked) ?? [];
  return [first, second];
}

/** A model that prefers what ranks higher. */
function preferring(rank: (text: string) => number) {
  return scriptedModel({
    answer: (asked) => {
      const [first, second] = shown(told(asked)).map(rank);
      const difference = (first ?? 0) - (second ?? 0);
      const better = difference === 0 ? 'T' : difference > 0 ? 'A' : 'B';
      return JSON.stringify({ reason: `${better} it is`, better });
    },
  });
}

describe('a comparison of two', () => {
  test('asks in both orders at once', async () => {
    const model = preferring((text) => text.length + (text === 'two' ? 1 : 0));
    expect(await comparePair(pair, { model }, context)).toEqual({
      value: 0,
      rationale: 'B it is',
    });
    expect(model.requests.map((asked) => shown(told(asked)))).toEqual([
      ['one', 'two'],
      ['two', 'one'],
    ]);
    const slow = scriptedModel({ latencyMs: 5, answer: () => 'A' });
    await comparePair(pair, { model: slow }, context);
    expect(slow.mostInFlight).toBe(2);
  });

  test('calls a tie where only the order is looked at', async () => {
    expect(await comparePair(pair, { model: answering('A') }, context)).toEqual({
      value: 0.5,
    });
    expect(await comparePair(pair, { model: answering('B') }, context)).toEqual({
      value: 0.5,
    });
  });

  test('averages over orders and samples, ties as a half', async () => {
    // As given A, T: 0.75. Swapped A, B: 0.5, which is 0.5 for the first one.
    const model = scriptedModel({
      answer: (asked, index) => {
        const isGiven = shown(told(asked))[0] === 'one';
        return (isGiven ? ['A', '{"better": "tie"}'] : ['A', 'B'])[index] ?? '';
      },
    });
    expect(await comparePair(pair, { model, samples: 2 }, context)).toEqual({ value: 0.625 });
  });

  test('reads log-probabilities where the model tells them', async () => {
    const model = telling((asked) =>
      shown(asked)[0] === 'one'
        ? tokens([
            ['A', 0.5],
            ['T', 0.2],
            ['B', 0.1],
          ])
        : tokens([
            ['B', 0.9],
            ['A', 0.1],
          ]),
    );
    // As given (0.5 + 0.1) / 0.8 = 0.75; swapped 0.1, which is 0.9 for the first one.
    expect(await comparePair(pair, { model }, context)).toEqual({
      value: expect.closeTo(0.825, 12) as number,
    });
    expect(model.requests[0]).toMatchObject({ maxTokens: 4, logprobs: true });
  });

  test('leaves out what it cannot read, and fails where an order has nothing else', async () => {
    const model = scriptedModel({
      answer: (asked, index) => (shown(told(asked))[0] === 'one' || index === 1 ? 'A' : 'A or B?'),
    });
    expect(await comparePair(pair, { model, samples: 2 }, context)).toEqual({
      value: 0.5,
      unscored: 1,
    });
    expect(await comparePair(pair, { model }, context)).toEqual({
      failure: {
        kind: 'parse',
        message: 'Expected A, B or T, got `A or B?`.',
      },
    });
  });

  test('shows what both are about, and what they are compared by', async () => {
    const model = answering('A');
    const messages = notation.prompt('start');
    await comparePair({ ...pair, messages }, { model, rubric: 'Shorter is better.' }, context);
    expect(told(model.requests[0] as never)).toMatch(
      /^Work: start\.\n\nTwo candidates.*one.*two.*\nShorter is better\.\n\nDo not/s,
    );
    await expect(comparePair(pair, { model, samples: 0 }, context)).rejects.toThrow('`samples`');
  });
});

describe('an evaluator that compares siblings', () => {
  const strength = (text: string) => ({ 'do a': 3, 'do b': 1, 'do c': 1, 'do d': 0 })[text] ?? 0;

  test('gives each its share of wins, ties as halves', async () => {
    const model = preferring(strength);
    const evaluator = pairwise({ model });
    expect(evaluator.needs).toBe('proposed');
    expect(evaluator.prompts).toHaveProperty('compare');
    const verdicts = await evaluator.evaluate(proposals('s', 'a', 'b', 'c', 'd'), request);
    // a beats all; b and c tie and beat d: 1.5 of 3.
    expect(verdicts.map((verdict) => ('value' in verdict ? verdict.value : verdict))).toEqual([
      1, 0.5, 0.5, 0,
    ]);
    // 6 pairs in both orders, each once.
    expect(model.requests).toHaveLength(12);
    expect(new Set(model.requests.map(told)).size).toBe(12);
    expect(verdicts[0]).toMatchObject({ rationale: 'As candidate A: A it is' });
    expect(verdicts[3]).toMatchObject({ rationale: 'As candidate B: A it is' });
  });

  test('asks the same whichever sibling is asked about', async () => {
    const nodes = proposals('s', 'a', 'b', 'c');
    const together = preferring(strength);
    await pairwise({ model: together }).evaluate(nodes, request);
    const alone = preferring(strength);
    for (const node of nodes) await pairwise({ model: alone }).evaluate([node], request);
    expect(new Set(alone.requests.map(told))).toEqual(new Set(together.requests.map(told)));
  });

  test('compares neither an only child nor the root with anything', async () => {
    const model = answering('A');
    const nodes = [rootNode<string, string>('s'), ...proposals('s', 'only')];
    expect(await pairwise({ model }).evaluate(nodes, request)).toEqual([
      { value: 1 },
      { value: 1, about: 'action' },
    ]);
    expect(model.requests).toEqual([]);
  });

  test('compares states with those of siblings that have one', async () => {
    const parent = rootNode<string, string>('s', ['later']);
    const children = parent.children as unknown[];
    const nodes = ['a', 'b'].map((name) => realisedNode(name, `do ${name}`, { parent }));
    children.push(...nodes);
    const model = preferring((text) => strength(text.replace(/^Work: |\.$/g, '')));
    const evaluator = pairwise({ model, about: 'state' });
    expect(evaluator.needs).toBe('realised');
    const verdicts = await evaluator.evaluate([...nodes, ...parent.children.slice(0, 1)], request);
    expect(verdicts).toMatchObject([{ value: 1 }, { value: 0 }, { failure: { kind: 'invalid' } }]);
    expect(model.requests).toHaveLength(2);
  });

  test('leaves out a sibling with which it fails, and fails where it fails with all', async () => {
    const model = scriptedModel({
      answer: (asked) => {
        const both = shown(told(asked));
        if (both.includes('do b')) return 'cannot say';
        return both[0] === 'do a' ? 'A' : 'B';
      },
    });
    const rationale = '1 of 2 comparisons failed: Expected A, B or T, got `cannot say`.';
    expect(await pairwise({ model }).evaluate(proposals('s', 'a', 'b', 'c'), request)).toEqual([
      { value: 1, about: 'action', rationale },
      { failure: { kind: 'parse', message: 'Expected A, B or T, got `cannot say`.' } },
      { value: 0, about: 'action', rationale },
    ]);
  });

  test('tells what is included once a parent', async () => {
    const model = answering('A');
    const at: string[] = [];
    const part = {
      text({ kind }: { kind: string }) {
        at.push(kind);
        return 'Lesson.';
      },
    };
    const evaluator = pairwise({ model, promptParts: [part] });
    await evaluator.evaluate(proposals('s', 'a', 'b', 'c'), request);
    expect(at).toEqual(['root']);
    expect(told(model.requests[0] as never)).toMatch(/^Work: s\.\n\nLesson\.\n\nTwo candidates/);
  });
});
