import { describe, expect, test } from 'vitest';
import { pathCompletion } from '../../src/data/path-completion.ts';
import type { RowNotation } from '../../src/data/record.ts';
import { SearchTree } from '../../src/tree/tree.ts';
import { asks, says } from './formats-rows.ts';

type Steps = readonly string[];

/** The completion of a path whose actions have space around them, which the environment keeps in its states. */
function completionOf(notation: RowNotation<Steps, string>, actions: Steps) {
  const tree = new SearchTree<Steps, string>([], { environment: 'e', seed: 0 });
  const end = actions.reduce<Parameters<typeof tree.add>[0]>((parent, action) => {
    const [node] = tree.add(parent, [{ action, prior: 1 }]);
    if (node === undefined) throw new Error('A child was added and not returned.');
    tree.realise(node, { state: [...(parent.state ?? []), action] });
    return node;
  }, tree.root);
  return pathCompletion({ notation }, tree.root, end);
}

describe('a path of actions with space around them', () => {
  test.each([
    ['as they are', (action: string) => action],
    ['without it', (action: string) => action.trim()],
  ])(
    'goes on as the conversation that the policy saw, where they are formatted %s',
    (_, format) => {
      const chat = {
        format,
        prompt: (steps: Steps) => [
          asks('Q'),
          ...steps.flatMap((action) => [says(action), asks('Seen.')]),
        ],
      };
      expect(completionOf(chat, [' look\n', 'go ', 'stop'])).toEqual([
        says(' look\n'),
        asks('Seen.'),
        says('go '),
        asks('Seen.'),
        says('stop'),
      ]);
    },
  );

  test.each([
    ['kept', 'Step 1: look \nStep 2:  go\nStep 3: stop', (action: string) => action],
    ['left out', 'Step 1: look\nStep 2: go\nStep 3: stop', (action: string) => action.trim()],
  ])(
    'goes on with the turn that the policy saw, numbers included, where space is %s',
    (_, text, shown) => {
      const numbered = (steps: Steps) =>
        [...steps.map((action, place) => `Step ${place + 1}: ${shown(action)}`), ''].join('\n');
      const grown = {
        format: (action: string) => action,
        prompt: (steps: Steps) => [asks('Q'), says(`${numbered(steps)}Step ${steps.length + 1}:`)],
      };
      const [turn] = completionOf(grown, ['look ', ' go', 'stop']);
      expect(`Step 1: ${turn?.content}`).toBe(text);
    },
  );

  test.each([
    ['nothing', ''],
    ['a line break', '\n'],
  ])('begins with the space of its first action, with %s in front of each', (_, before) => {
    const code = {
      format: (action: string) => action,
      prompt: (steps: Steps) => [
        asks('Q'),
        says(`def f():${steps.map((action) => before + action).join('')}`),
      ],
    };
    const lines = ['    x = 1', '    x += 2', '    return x'];
    expect(completionOf(code, lines)).toEqual([says(lines.join(before))]);
    expect(completionOf(code, lines.slice(0, 1))).toEqual([says('    x = 1')]);
  });
});
