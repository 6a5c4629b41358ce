import { describe, expect, test } from 'vitest';
import type { ChildNode, SearchNode } from '../../src/contracts/node.ts';
import { pathsIn } from '../../src/data/paths.ts';
import { readOmegaPrm } from '../../src/data/readers/omega-prm.ts';
import { readToolBench } from '../../src/data/readers/tool-bench.ts';
import { isEnd, isPart, promptAt, turnOf } from '../../src/data/record.ts';

function step(text: string, mc_value: number | null, children: readonly unknown[] = []) {
  return { text, mc_value, children };
}

const right = step('So it is \\boxed{7}.', 1);
const line = {
  question: 'What is 3 + 4?',
  final_answer: 7,
  question_id: 5,
  reasoning_steps: step('What is 3 + 4?', 0.75, [
    right,
    right,
    step('We add.', 0.5, [step('Seven.', 1), step('The answer is 8.', 0), step('We take.', 0)]),
    step('We guess.', null, [step('Lucky.', 1), step('Seven it is.', null)]),
  ]),
};

function one<Value>(values: readonly Value[]): Value {
  const [value] = values;
  if (value === undefined) throw new Error('Expected one.');
  return value;
}

function child<State, Action>(node: SearchNode<State, Action>): ChildNode<State, Action> {
  if (node.kind === 'root') throw new Error('Expected a child.');
  return node;
}

const record = one(readOmegaPrm(`\n${JSON.stringify(line)}\n`));
const { tree } = record;

describe('readOmegaPrm: the tree', () => {
  test('reads each node as a prefix, breadth first', () => {
    expect([...tree.nodes()].map(({ id, parent, action }) => [id, parent?.id, action])).toEqual([
      [0, undefined, undefined],
      [1, 0, 'So it is \\boxed{7}.'],
      [2, 0, 'So it is \\boxed{7}.'],
      [3, 0, 'We add.'],
      [4, 0, 'We guess.'],
      [5, 3, 'Seven.'],
      [6, 3, 'The answer is 8.'],
      [7, 3, 'We take.'],
      [8, 4, 'Lucky.'],
      [9, 4, 'Seven it is.'],
    ]);
  });

  test('Q is the estimate, N the leaves below', () => {
    // Node 4 has no estimate: the mean of its leaf. The leaf without one is not counted.
    expect([...tree.nodes()].map(({ value, visits }) => [value, visits])).toEqual([
      [0.75, 6],
      [1, 2],
      [0, 0],
      [0.5, 3],
      [1, 1],
      [1, 1],
      [0, 1],
      [0, 1],
      [1, 1],
      [0, 0],
    ]);
    expect(tree.node(3).rawValue).toBe(0.5);
  });

  test('whole right rollouts and stated answers are ends, given-up prefixes are none', () => {
    const ends = [...tree.nodes()].filter((node) => isEnd(node));

    expect(ends.map(({ id, reward }) => [id, reward])).toEqual([
      [1, 1],
      [2, 1],
      [5, 1],
      [6, 0],
      [8, 1],
    ]);
    expect(pathsIn(record).endsAt(record.tree.root)).toEqual({ right: 3, wrong: 1 });
    const answering = JSON.stringify(line).replaceAll('"text":"', '"text":"#### ');
    const stated = one(readOmegaPrm(answering));
    expect(pathsIn(stated).endsAt(stated.tree.root)).toEqual({ right: 3, wrong: 2 });
  });

  test('equal siblings are merged', () => {
    expect([...tree.nodes()].filter((node) => !isPart(node)).map(({ id }) => id)).toEqual([2]);
    expect(tree.node(2)).toMatchObject({ status: 'pruned', duplicateOf: 1 });
    expect(tree.node(1).prior).toBe(0.5);
  });
});

describe('readOmegaPrm: the record', () => {
  test('prompts begin the answer with the steps so far, and never hold the known answer', () => {
    expect(promptAt(record, tree.root)).toEqual([{ role: 'user', content: 'What is 3 + 4?' }]);
    expect(promptAt(record, tree.node(3))).toEqual([
      { role: 'user', content: 'What is 3 + 4?' },
      { role: 'assistant', content: 'We add.\n\n' },
    ]);
    expect(record).toMatchObject({ answer: '7', method: 'omegaprm' });
    expect([...tree.stamps]).toEqual(['oracle-guided']);
  });

  test('what parts steps can be chosen, for trainers that want it in no step', () => {
    const options = { delimiter: '\n\n\n' };
    const other = one(readOmegaPrm(JSON.stringify(line), options));

    expect(other.notation.delimiter).toBe('\n\n\n');
    expect(promptAt(other, other.tree.node(3)).at(-1)?.content).toBe('We add.\n\n\n');
  });

  test('equal questions are one problem, and each line is a tree', () => {
    const two = readOmegaPrm(`${JSON.stringify(line)}\n${JSON.stringify(line)}`);

    expect(new Set(two.map(({ problem }) => problem)).size).toBe(1);
    expect(new Set(two.map(({ id }) => id)).size).toBe(2);
    const other = one(readOmegaPrm(JSON.stringify({ ...line, question: 'Why?' })));
    expect(other.problem).not.toBe(record.problem);
  });

  test.each([
    ['{"question":', /line 2 is not JSON/],
    ['{"question":"a"}', /line 2, field `reasoning_steps`/],
    [
      JSON.stringify({ ...line, reasoning_steps: step('a', 0.5, [step('b', 1.5)]) }),
      /line 2, field `reasoning_steps.children.0.mc_value`/,
    ],
    [
      JSON.stringify({ ...line, reasoning_steps: step('a', 0.5) }),
      /line 2, field `reasoning_steps.children`/,
    ],
  ])('refuses %s', (text, message) => {
    expect(() => readOmegaPrm(`${JSON.stringify(line)}\n${text}`)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringMatching(message) as string }),
    );
  });
});

type Dfs = Readonly<Record<string, unknown>>;

function node(node_type: string, description: string, rest: Dfs = {}): Dfs {
  return { node_type, description, children: [], ...rest };
}

function called(name: string, input: string, rest: Dfs = {}): Dfs {
  const given = node('Action Input', input, { observation: 'ok', observation_code: 0, ...rest });
  return node('Action', name, { children: [given] });
}

const finish = called('Finish', '{"return_type":"give_answer","final_answer":"7"}', {
  observation: 'done',
  observation_code: 3,
});
const giveUp = called('Finish', '{"return_type":"give_up_and_restart"}', {
  observation_code: 4,
  pruned: true,
});

const file = {
  win: true,
  tree: {
    tree: node('Action Input', '', {
      children: [
        called('look', '{"b":1,"a":2}', {
          observation: 'broken',
          observation_code: 11,
          children: [
            node('Thought', 'No.', { children: [giveUp] }),
            node('Thought', 'Hm.', { children: [node('Thought', 'Yes.', { children: [finish] })] }),
            node('Thought', 'Lost.', { pruned: true }),
          ],
        }),
        called('look', '{"a":2,  "b":1}', { pruned: true }),
        called('look', 'not JSON', { pruned: true }),
      ],
    }),
  },
  answer_generation: {
    query: 'How many?',
    function: [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }],
    train_messages: [
      [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Make actions that are different.', valid: false },
      ],
    ],
  },
};

const agent = readToolBench(JSON.stringify(file), { problem: 'p-1' });

describe('readToolBench: the tree', () => {
  const { tree: grown } = agent;

  test('thought, call and arguments are one step', () => {
    expect([...grown.nodes()].map(({ id, parent, action }) => [id, parent?.id, action])).toEqual([
      [0, undefined, undefined],
      [1, 0, { thought: '', call: { id: 'call_1', name: 'look', input: { a: 2, b: 1 } } }],
      [2, 0, { thought: '', call: { id: 'call_1', name: 'look', input: { a: 2, b: 1 } } }],
      [3, 0, { thought: '', call: { id: 'call_1', name: 'look', input: 'not JSON' } }],
      [
        4,
        1,
        {
          thought: 'No.',
          call: { id: 'call_2', name: 'Finish', input: { return_type: 'give_up_and_restart' } },
        },
      ],
      [
        5,
        1,
        {
          thought: 'Hm.\n\nYes.',
          call: {
            id: 'call_2',
            name: 'Finish',
            input: { final_answer: '7', return_type: 'give_answer' },
          },
        },
      ],
      [6, 1, { thought: 'Lost.' }],
    ]);
  });

  test('an answer wins, giving up does not, and a refused call is no failure', () => {
    const shown = [...grown.nodes()].map(({ id, status, terminal, reward }) => [
      id,
      status,
      terminal,
      reward,
    ]);

    expect(shown).toEqual([
      [0, 'open', false, undefined],
      [1, 'open', false, undefined],
      [2, 'pruned', false, undefined],
      [3, 'pruned', false, undefined],
      [4, 'pruned', true, 0],
      [5, 'terminal', true, 1],
      [6, 'pruned', false, undefined],
    ]);
    expect(pathsIn(agent).endsAt(agent.tree.root)).toEqual({ right: 1, wrong: 1 });
  });

  test('Q is the share of leaves that won; equal calls are merged', () => {
    expect(grown.node(2).duplicateOf).toBe(1);
    // Leaves below 1: given up, won, lost, and the equal call that came to nothing.
    expect(grown.node(1)).toMatchObject({ visits: 4, value: 0.25 });
    expect(grown.root).toMatchObject({ visits: 5, value: 0.2 });
    expect(grown.best.id).toBe(5);
  });
});

describe('readToolBench: the record', () => {
  test('the prompt has the recorded words around the query, where there are some', () => {
    const { answer_generation, ...rest } = file;
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: '\nHow many?\nBegin!\n' },
    ];
    const recorded = {
      ...rest,
      answer_generation: { ...answer_generation, train_messages: [messages] },
    };
    const { tree: told, notation } = readToolBench(JSON.stringify(recorded), { problem: 'g1' });
    expect(promptAt({ notation }, told.root)).toEqual(messages);
  });

  test('the prompt is the conversation, without the demand for something different', () => {
    expect(promptAt(agent, agent.tree.node(1))).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'How many?' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'call_1', name: 'look', input: { a: 2, b: 1 } }],
      },
      { role: 'tool', content: 'broken', toolCallId: 'call_1' },
    ]);
    const end = child(agent.tree.node(5));
    expect(turnOf(agent, end)).toEqual({
      role: 'assistant',
      content: 'Hm.\n\nYes.',
      toolCalls: [end.action.call],
    });
    expect(agent.notation.format(end.action)).toBe(
      'Thought: Hm.\n\nYes.\nAction: Finish\nAction Input: {"final_answer":"7","return_type":"give_answer"}',
    );
    expect(agent.tools).toEqual([
      { name: 'look', description: 'Looks.', input: { type: 'object' } },
    ]);
  });

  test('an answer that the file does not count as won is worth nothing', () => {
    const lost = readToolBench(JSON.stringify({ ...file, win: false }), { problem: 'p-1' });

    expect(pathsIn(lost).endsAt(lost.tree.root)).toEqual({ right: 0, wrong: 2 });
  });

  test('of equal steps the one that led to an answer is kept', () => {
    const [first, second] = file.tree.tree['children'] as readonly Dfs[];
    const swapped = {
      ...file,
      tree: { tree: node('Action Input', '', { children: [second, first] }) },
    };
    const { tree: other } = readToolBench(JSON.stringify(swapped), { problem: 'p-1' });

    expect(other.node(1).duplicateOf).toBe(2);
    expect(isPart(other.node(2))).toBe(true);
  });

  test.each([
    [{ ...file, win: 'yes' }, 'field `win`'],
    [{ ...file, tree: { tree: node('Plan', '') } }, 'field `tree.tree.node_type`'],
    [
      { ...file, tree: { tree: node('Action Input', '', { children: [node('Action', 'look')] }) } },
      'field `tree.tree.children.0`: expected an `Action` to have an `Action Input`',
    ],
  ])('refuses another shape', (shape, message) => {
    const text = JSON.stringify(shape);

    expect(() => readToolBench(text, { problem: 'p-1' })).toThrow(message);
    expect(() => readToolBench(text, { problem: 'p-1' })).toThrow('The ToolBench file p-1');
  });
});
