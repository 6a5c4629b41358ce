import { expect, test } from 'vitest';
import type { GenerateRequest } from '../../src/index.ts';
import { dfsdt } from '../../src/methods/index.ts';
import { search } from '../../src/search/search.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { wordsEnvironment } from './table.ts';

/** Calls in the order in which the model makes them at a word. `g` gives up, and `f` finishes. */
const calls: Readonly<Record<string, string>> = {
  '': 'abc',
  a: 'cd',
  ac: 'gf',
  ad: 'gf',
  b: 'ef',
  be: 'hf',
};
const rewards = { acg: 0, adg: 0, acf: 1, adf: 1, bf: 1, bef: 1 };

const textOf = ({ messages }: GenerateRequest) => messages.map(({ content }) => content).join('\n');
const wordIn = (text: string) => /so far: `([a-z]*)`/.exec(text)?.[1] ?? '?';
const shownIn = (text: string) => [...text.matchAll(/^- ([a-z])$/gm)].map(([, call]) => call);

async function run(options: Partial<Parameters<typeof dfsdt>[0]> = {}) {
  const model = scriptedModel({
    answer: (request) => {
      const text = textOf(request);
      return calls[wordIn(text)]?.[shownIn(text).length] ?? 'z';
    },
  });
  const result = await search(wordsEnvironment({ next: {}, rewards }), {
    method: dfsdt({ model, ...options }),
    budget: { simulations: 100 },
  });
  const asked = model.requests.map((request) => {
    const text = textOf(request);
    return `${wordIn(text)}|${shownIn(text).join('')}`;
  });
  return { ...result, asked, texts: model.requests.map(textOf) };
}

/*
 * By the notes on the reference code: pre-order, at most two children a node, each made in sight of those before it.
 * Behind a give-up the recursion returns 2: the node above the end makes no second child, and the one above that does.
 *
 * '' makes a; a makes c; ac makes g, a give-up: up to a. a makes d in sight of c; ad makes g: up to a, which has two: ''
 * makes b in sight of a; b makes e; be makes h, which is as deep as it may be: up one to be, which makes f, the answer.
 */
test('goes deep, climbs two levels from a give-up, and shows a node its earlier calls alone', async () => {
  const { asked, texts, actions, solved, stopReason } = await run({ maxDepth: 3 });
  expect(asked).toEqual(['|', 'a|', 'ac|', 'a|c', 'ad|', '|a', 'b|', 'be|', 'be|h']);
  expect([actions, solved, stopReason]).toEqual([['b', 'e', 'f'], true, 'solved']);
  expect(texts[3]).toContain('did not lead to the end:\n- c\n  Outcome: The word so far: `ac`.');
  expect(texts[3]).toContain('Take a step that differs from all of them.');
  // What was told of siblings is not told below.
  expect(texts[4]).not.toContain('did not lead');
});

test('asks for proposals alone, and finds as many answers as are wanted', async () => {
  const { spend, tree, asked } = await run({ answers: 2, width: 3, maxDepth: 3 });
  expect(spend.calls).toBe(asked.length);
  const found = [...tree.nodes()].filter(({ reward }) => reward === 1);
  expect(found.map((node) => node.kind !== 'proposed' && node.state)).toEqual(['bef', 'bf']);
});

test('gives up where there is no answer', async () => {
  const { solved, stopReason } = await run({ width: 1 });
  expect([solved, stopReason]).toEqual([false, 'exhausted']);
});

test('names what it does not take', () => {
  const model = scriptedModel({ answer: () => 'a' });
  expect(() => dfsdt({ model, climb: 1 } as never)).toThrow('climb');
  expect(() => dfsdt({ model, width: 0 })).toThrow('Expected `width` to be an integer from 1 up');
});
