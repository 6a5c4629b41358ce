import { describe, expect, test } from 'vitest';
import * as stepLabels from '../../src/data/labels/step-labels.ts';
import type { RowNotation } from '../../src/data/record.ts';
import { solutionTo } from '../../src/prompting/solution.ts';
import { SearchTree } from '../../src/tree/tree.ts';

interface Talk {
  readonly said: readonly (readonly [call: string, result: string])[];
}

/** Tools answer in turns of their own. */
const notation: RowNotation<Talk, string> = {
  prompt: ({ said }) => [
    { role: 'system', content: 'Use tools.' },
    { role: 'user', content: 'Where is it?' },
    ...said.flatMap(([call, result]) => [
      { role: 'assistant' as const, content: call },
      { role: 'tool' as const, content: result, toolCallId: call },
    ]),
  ],
  format: (call) => call,
};

function talked() {
  const tree = new SearchTree<Talk, string>({ said: [] }, { environment: 'talk', seed: 0 });
  const [look] = tree.add(tree.root, [{ action: 'look', prior: 1 }]);
  if (look === undefined) throw new Error('Expected a child.');
  tree.realise(look, { state: { said: [['look', 'a door']] } });
  const [go, wait] = tree.add(look, [
    { action: 'go', prior: 0.5 },
    { action: 'wait', prior: 0.5 },
  ]);
  if (go === undefined || wait === undefined) throw new Error('Expected children.');
  const end = {
    said: [
      ['look', 'a door'],
      ['go', 'You win.'],
    ],
  } as const;
  tree.realise(go, { state: end, terminal: true, reward: 1 });
  return { tree, go, wait };
}

describe('solutions', () => {
  test('hold what the tools answered, but not what an end brought or was not yet answered', () => {
    const { go, wait } = talked();
    const asked = 'Use tools.\n\nWhere is it?';
    const look = 'look\nObservation: a door';
    expect(solutionTo(notation, go)).toEqual({ prompt: asked, steps: [look, 'go'] });
    expect(solutionTo(notation, wait)).toEqual({ prompt: asked, steps: [look, 'wait'] });
  });

  test('are the text of the rows that train the model which scores them', () => {
    const { tree, go } = talked();
    const [row] = stepLabels.mathShepherd().rows([{ problem: 'p', tree, notation }]);
    const { prompt, steps } = solutionTo(notation, go);
    expect(row?.prompt).toEqual([{ role: 'user', content: prompt }]);
    expect(row?.steps.map(({ text }) => text)).toEqual(steps);
    expect(row?.tools).toBeUndefined();
  });

  test('keep problems apart whose task stands in the system message', () => {
    const { tree } = talked();
    const promptsOf = (target: number) => {
      const own: RowNotation<Talk, string> = {
        ...notation,
        prompt: () => [
          { role: 'system', content: `Reach ${target}.` },
          { role: 'user', content: 'Earlier words.' },
          { role: 'assistant', content: 'An answer.' },
          { role: 'user', content: 'The number is 1.' },
        ],
      };
      const rows = stepLabels.mathShepherd().rows([{ problem: 'p', tree, notation: own }]);
      return [...rows].map(({ prompt }) => prompt);
    };
    const asked = (content: string) => [[{ role: 'user', content }]];
    expect(promptsOf(6)).toEqual(asked('Reach 6.\n\nThe number is 1.'));
    expect(promptsOf(9)).toEqual(asked('Reach 9.\n\nThe number is 1.'));
  });

  test('are the actions alone where prompts restate or begin the answer', () => {
    const { tree, go } = talked();
    const restated: RowNotation<Talk, string> = {
      ...notation,
      prompt: ({ said }) => [{ role: 'user', content: `Where is it?${said.join(' ')}` }],
    };
    const begun: RowNotation<Talk, string> = {
      ...notation,
      prompt: ({ said }) => [
        { role: 'user', content: 'Where is it?' },
        { role: 'assistant', content: `${said.join('\n')}\nStep ${said.length + 1}:` },
      ],
    };
    for (const other of [restated, begun]) {
      expect(solutionTo(other, go)).toEqual({ prompt: 'Where is it?', steps: ['look', 'go'] });
    }
    const [row] = stepLabels
      .mathShepherd({ delimiter: '\n\n\n' })
      .rows([{ problem: 'p', tree, notation: begun }]);
    expect(row).toMatchObject({
      prompt: [{ role: 'user', content: 'Where is it?' }],
      delimiter: '\n\n\n',
    });
  });
});
