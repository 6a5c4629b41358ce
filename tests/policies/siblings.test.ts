import { describe, expect, test } from 'vitest';
import type { ChildNode, RootNode } from '../../src/contracts/node.ts';
import type { ReasoningState } from '../../src/environments/index.ts';
import { type SiblingsOptions, siblings } from '../../src/policies/siblings.ts';
import { proposedNode, realisedNode, rootNode } from '../support/nodes.ts';
import { asking, question } from './conduct.ts';

type Child = ChildNode<ReasoningState, string>;

const state: ReasoningState = { question, steps: [] };
const after = (step: string): ReasoningState => ({ question, steps: [step] });

/** What is told at a root with these children. */
function told(
  children: readonly Child[],
  options: Partial<SiblingsOptions<ReasoningState, string>> = {},
) {
  const root: RootNode<ReasoningState, string> = { ...rootNode(state), children };
  return siblings({ ...options }).text(root, asking(1));
}

const proposed = (action: string, changes: Partial<Child> = {}): Child =>
  ({ ...proposedNode(state, action), ...changes }) as Child;
const realised = (action: string, changes: Partial<Child> = {}): Child =>
  realisedNode(action, after(action), { ...changes, parent: rootNode(state) } as never);

const head =
  'These continuations from this very place are known already. Scores go from 0, hopeless, to 1, certain success.';

describe('what is told of siblings', () => {
  test('is nothing where there are none', () => {
    expect(told([])).toBeUndefined();
  });

  test('is the action, the outcome and the score of each', () => {
    const see = ({ action }: { readonly action: string }) => `Saw: ${action}`;
    const failure = { kind: 'environment', message: 'No such\nstep.' } as const;
    const text = told(
      [
        proposed('Add\nthem.'),
        proposed('Guess.', { rawValue: 0.1 }),
        realised('Count.', { visits: 3, value: 2 / 3, rawValue: 0.9 }),
        realised('Stop.', { terminal: true, reward: 0.25 }),
        proposed('Fly.', { status: 'failed', failure }),
      ],
      { see },
    );
    expect(text?.toString().split('\n')).toEqual([
      head,
      '- Add',
      '  them.',
      '  Outcome: not tried yet',
      '  Score: none yet',
      '- Guess.',
      '  Outcome: not tried yet',
      '  Score: 0.1, as a first estimate',
      '- Count.',
      '  Outcome: Saw: Count.',
      '  Score: 0.667, after 3 trials',
      '- Stop.',
      '  Outcome: Saw: Stop. (the end) (reward 0.25)',
      '  Score: none yet',
      '- Fly.',
      '  Outcome: it failed: No such',
      '  step.',
      '  Score: none yet',
    ]);
  });

  test('is by default what the prompt of a state has new', () => {
    const [, ...lines] = String(told([realised('Count.')])).split('\n');
    expect(lines).toEqual([
      '- Count.',
      '  Outcome: Steps so far:',
      '  Step 1: Count.',
      '  Write step 2, and nothing else.',
      '  Score: none yet',
    ]);
    expect(told([realised('Count.')], { see: () => undefined })).toContain(
      'Outcome: it was carried out\n',
    );
  });
});

describe('the limits on what is told', () => {
  test('keep the latest siblings', () => {
    const text = String(
      told(
        ['A.', 'B.', 'C.'].map((action) => proposed(action)),
        { most: 2 },
      ),
    );
    expect(text).not.toContain('A.');
    expect(text).toMatch(/B\.(?:.|\n)*C\./);
  });

  test.each([
    // 12 characters: half of them are kept for an outcome that needs them.
    { action: 'abcdefghij', outcome: 'klmnopqrst', shown: ['abcde…', 'klmno…'] },
    // What a short outcome leaves goes to the action, and the other way round.
    { action: 'abcdefghij', outcome: 'kl', shown: ['abcdefghij', 'kl'] },
    { action: 'abcdefghijxyz', outcome: 'kl', shown: ['abcdefghi…', 'kl'] },
    { action: 'ab', outcome: 'klmnopqrstuv', shown: ['ab', 'klmnopqrs…'] },
  ])('cut $action with $outcome', ({ action, outcome, shown: [first, second] }) => {
    const text = String(told([realised(action)], { characters: 12, see: () => outcome }));
    expect(text.split('\n').slice(1, 3)).toEqual([`- ${first}`, `  Outcome: ${second}`]);
  });

  test('leave no half of a character', () => {
    expect(told([realised('abc😀def')], { characters: 10, see: () => 'klmno' })).toContain(
      '- abc…\n',
    );
  });
});

test('texts can be replaced, and are told apart by their address', () => {
  const prompts = { known: 'Known:\n{siblings}', sibling: '{action} ({score})', unscored: '?' };
  expect(told([proposed('{Add}')], { prompts })).toBe('Known:\n{Add} (?)');
  const [usual, other] = [{}, prompts].map(
    (texts) => siblings({ prompts: texts }).prompts?.['siblings'],
  );
  expect(usual).toMatch(/^1 /);
  expect(other).not.toBe(usual);
  expect(() => told([], { prompts: { other: '' } as never })).toThrow('Expected `prompts`');
  expect(() => told([], { most: 0 })).toThrow('Expected `most`');
  expect(() => told([], { characters: 1 })).toThrow('Expected `characters`');
});
