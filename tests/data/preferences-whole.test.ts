import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/contracts/language-model.ts';
import * as pairRules from '../../src/data/pairs/pair-rules.ts';
import { pathCompletion, stepsOf } from '../../src/data/path-completion.ts';
import type { RowNotation, TreeRecord } from '../../src/data/record.ts';
import type { PreferenceRow, RowRule } from '../../src/data/rows.ts';
import { example, nameIn, paths, planted } from './pairs-trees.ts';

const record = planted(example);

function look(rule: RowRule<PreferenceRow>, of: TreeRecord<string, string> = record) {
  return [...rule.rows([of])].map(({ provenance: { nodes }, margin }) => {
    const [, chosen, rejected] = nodes.map(nameIn(of));
    return `${chosen}>${rejected} ${margin.toFixed(2)}`;
  });
}

describe('whole paths', () => {
  test('the best right one against each wrong one', () => {
    // Ends: a1 and y right, x, a3, b1 and c1 wrong. a1 is shorter than y.
    expect(look(pairRules.trajectory())).toEqual([
      'a1>a3 1.00',
      'a1>b1 1.00',
      'a1>c1 1.00',
      'a1>x 1.00',
    ]);
    expect(look(pairRules.trajectory({ paths: 'all-ordered' }))).toHaveLength(2 * 4);
    expect(look(pairRules.trajectory({ paths: 'all-ordered', maxPairsPerTree: 3 }))).toHaveLength(
      3,
    );
    expect(look(pairRules.trajectory({ minVisits: 2 }))).toEqual(['a1>b1 1.00']);
  });

  test('start at the root and end', () => {
    const row = [...pairRules.trajectory().rows([record])].at(-1);
    expect(row).toMatchObject({
      prompt: [{ role: 'user', content: 'So far: ' }],
      chosen: [{ role: 'assistant', content: 'a\na1' }],
      rejected: [{ role: 'assistant', content: 'a\na2\nx' }],
      chosenScore: 1,
      rejectedScore: 0,
      chosenEnds: true,
      rejectedEnds: true,
    });
    expect(row?.provenance.depth).toBe(0);
  });

  test('by the scores of their ends alone', () => {
    const graded = planted(
      [0.9, 0.6, 0.2].map((end, place) => ({ text: 'pqr'[place] ?? '', end })),
    );
    expect(look(pairRules.trajectory(), graded)).toEqual([]);
    expect(look(pairRules.trajectory({ by: 'score' }), graded)).toEqual(['p>q 0.30', 'p>r 0.70']);
    expect(
      look(pairRules.trajectory({ by: 'score', paths: 'all-ordered', minMargin: 0.35 }), graded),
    ).toEqual(['p>r 0.70', 'q>r 0.40']);
  });

  test('of equal texts count once, however they came about', () => {
    const twice = planted([
      { text: 'a', below: [{ text: 'b', visits: 1, end: 1 }] },
      { text: 'a', below: [{ text: 'b', visits: 2, end: 0 }] },
      { text: 'c', end: 0 },
    ]);
    // What was visited more often stands for both: it is wrong.
    expect(look(pairRules.trajectory(), twice)).toEqual([]);
  });

  test('refuses what is no option', () => {
    expect(() => pairRules.trajectory({ by: 'luck' as 'score' })).toThrow('`by`');
    expect(() => pairRules.trajectory({ paths: 'path-vs-all' as 'all-ordered' })).toThrow(
      '`paths`',
    );
    expect(() => pairRules.spar({ chosen: 'first' as 'last' })).toThrow('`chosen`');
    expect(() => pairRules.spar({ minMargin: -1 })).toThrow('`minMargin`');
  });
});

describe('SPaR', () => {
  const refined = planted(
    [
      {
        text: 'first try',
        answer: 0.2,
        below: [
          { text: 'second', answer: 0.8, below: [{ text: 'third', answer: 0.6 }] },
          { text: 'fourth', answer: 0.8 },
          { text: 'fifth', answer: 0.7 },
          { text: 'sixth', answer: 0.1 },
        ],
      },
      { text: 'good at once', answer: 0.9, below: [{ text: 'better', answer: 1 }] },
      { text: 'hopeless', answer: 0.1, below: [{ text: 'still', answer: 0.3 }] },
    ],
    { correctFrom: 0.5 },
  );

  test('the best refinement against the first answer, for the prompt of the root', () => {
    const [row, ...others] = pairRules.spar().rows([refined]);
    // Of second and fourth, which score the same, the last.
    expect(row).toMatchObject({
      prompt: [{ role: 'user', content: 'So far: ' }],
      chosen: [{ role: 'assistant', content: 'fourth' }],
      rejected: [{ role: 'assistant', content: 'first try' }],
      chosenEnds: true,
      rejectedEnds: true,
    });
    expect(row?.margin).toBeCloseTo(0.6);
    expect(others).toEqual([]);
  });

  test('the last one that is right, or whatever scores more', () => {
    expect(look(pairRules.spar({ chosen: 'last' }), refined)).toEqual(['fifth>first try 0.50']);
    expect(look(pairRules.spar({ by: 'score' }), refined)).toEqual([
      'fourth>first try 0.60',
      'better>good at once 0.10',
      'still>hopeless 0.20',
    ]);
    expect(look(pairRules.spar({ by: 'score', maxPairsPerTree: 1 }), refined)).toEqual([
      'fourth>first try 0.60',
    ]);
  });

  // Returns add up on the way: 0.8, and 0.8 + 0.05.
  test('whatever scores more, however late, with γ < 1', () => {
    const late = planted([{ text: 'draft', end: 0.8, below: [{ text: 'better', end: 0.05 }] }]);
    late.tree.discount = 0.9;
    expect(look(pairRules.spar({ by: 'score' }), late)).toEqual(['better>draft 0.05']);
  });
});

/** States are lists of actions, as `a|b`. */
function notation(
  prompt: (actions: readonly string[]) => readonly Message[],
): RowNotation<string, string> {
  return {
    prompt: (state) => prompt(state.split('/').filter((action) => action !== '')),
    format: (action) => action,
    delimiter: ' + ',
  };
}

const question: Message = { role: 'user', content: 'Q' };
const said = (content: string): Message => ({ role: 'assistant', content });

/** The completion of the path a, a2, y under a notation. */
function complete(changes: RowNotation<string, string>, from = 0) {
  const { tree } = record;
  const end = [...tree.nodes()].find(({ action }) => action === 'y') ?? expect.fail();
  return pathCompletion({ notation: changes }, tree.node(from), end);
}

describe('a path as a completion', () => {
  const talk = notation((actions) => [
    question,
    ...actions.flatMap((action) => [
      said(action),
      { role: 'tool', content: `saw ${action}` } as const,
    ]),
  ]);

  test('is the rest of the conversation where prompts grow by turns', () => {
    const rest = [
      said('a'),
      { role: 'tool', content: 'saw a' },
      said('a2'),
      { role: 'tool', content: 'saw a2' },
      said('y'),
    ];
    expect(complete(talk)).toEqual(rest);
    expect(complete(talk, 1)).toEqual(rest.slice(2));
  });

  test('calls tools where the notation does', () => {
    const turn = (action: string, input: object = {}): Message => ({
      role: 'assistant',
      content: '',
      toolCalls: [{ id: action, name: 'look', input: { ...input } }],
    });
    const calls = {
      ...notation((actions) => [
        question,
        ...actions.flatMap((action) => [
          turn(action, { x: 1, y: 2 }),
          { role: 'tool', content: 'ok', toolCallId: action } as const,
        ]),
      ]),
      // The order of keys is no difference; another input is.
      turn: (action: string) => turn(action, { y: 2, x: 1 }),
    };
    expect(complete(calls)).toHaveLength(5);
    expect(complete({ ...calls, turn: (action) => turn(action, { x: 2 }) })).toEqual([
      said('a + a2 + y'),
    ]);
  });

  test('is one turn with all actions where prompts do not grow by them', () => {
    const restated = notation((actions) => [{ role: 'user', content: `Q ${actions.join()}` }]);
    expect(complete(restated)).toEqual([said('a + a2 + y')]);
    // The first action is not what the prompt says was done.
    const other = notation((actions) => [question, ...actions.map(() => said('?')), question]);
    expect(complete(other)).toEqual([said('a + a2 + y')]);
    // Nothing answers: a model would not speak three times in a row.
    const alone = notation((actions) => [question, ...actions.map(said)]);
    expect(complete(alone)).toEqual([said('a + a2 + y')]);
    const { delimiter: _, ...bare } = restated;
    expect(complete(bare)).toEqual([said('a\na2\ny')]);
  });

  test('goes on with a turn that prompts end with, and keeps what stands between', () => {
    const continued = notation((actions) => [
      question,
      said([...actions, ''].map((action, place) => `${place + 1}: ${action}`.trim()).join('\n')),
    ]);
    // The prompt is `1:`, then `1: a\n2:`, then `1: a\n2: a2\n3:`.
    expect(complete(continued)).toEqual([said('a\n2: a2\n3: y')]);
    expect(complete(continued, 1)).toEqual([said('a2\n3: y')]);
    const forgetful = notation((actions) => [question, said(`${actions.length}:`)]);
    expect(complete(forgetful)).toEqual([said('a + a2 + y')]);
  });

  test('is the turn of one action, and nothing for none', () => {
    const { tree } = record;
    const [a] = tree.root.children;
    if (a === undefined) expect.fail();
    expect(pathCompletion(record, tree.root, a)).toEqual([said('a')]);
    expect(pathCompletion(record, a, a)).toEqual([]);
    expect(stepsOf(record, tree.node(4))).toEqual(['a', 'a2', 'x']);
    expect(() => pathCompletion(record, tree.node(8), a)).toThrow(
      'Expected `end` to be a node at or below node 8, got `1`.',
    );
    expect(paths.delimiter).toBeUndefined();
  });
});
