// Finished trees of four kinds, grown the same way each time: what the trainers are then shown comes from them.

import type { Environment } from '../../src/contracts/environment.ts';
import type { JsonValue } from '../../src/contracts/json.ts';
import type { Message, ToolDefinition } from '../../src/contracts/language-model.ts';
import type { SearchNode } from '../../src/contracts/node.ts';
import type { TreeRecord } from '../../src/data/record.ts';
import { gameOf24 } from '../../src/environments/puzzles/game-of-24.ts';
import { reasoning } from '../../src/environments/text/reasoning.ts';
import type { ReasoningState } from '../../src/environments/text/reasoning-state.ts';
import { uniform } from '../../src/policies/uniform.ts';
import { mcts } from '../../src/search/algorithms/mcts.ts';
import { search } from '../../src/search/search.ts';
import { plainContext } from '../../src/testing/plain-context.ts';
import { SearchTree } from '../../src/tree/tree.ts';

/** Trees that look alike in rows. */
export interface World {
  /** The name in folders and checks. */
  readonly name: 'continued' | 'puzzle' | 'tools' | 'turns';
  /** Whether each step is a whole turn of its own. */
  readonly wholeTurns: boolean;
  /** The trees, of several problems. */
  readonly records: readonly TreeRecord[];
}

/** All trees. */
export async function worlds(): Promise<readonly World[]> {
  const turns = await Promise.all(problems.map((problem) => reasoningRecord(problem, 'restated')));
  const continued = await Promise.all(
    problems.map((problem) => reasoningRecord(problem, 'continued')),
  );
  const tools = await Promise.all(cities.map(toolRecord));
  const puzzle = await Promise.all(hands.map(puzzleRecord));
  return [
    { name: 'turns', wholeTurns: true, records: turns },
    { name: 'continued', wholeTurns: false, records: continued },
    { name: 'tools', wholeTurns: true, records: tools },
    { name: 'puzzle', wholeTurns: true, records: puzzle },
  ];
}

interface Grown<State, Action> {
  readonly environment: Environment<State, Action>;
  readonly actions: (state: State, depth: number) => readonly Action[];
  readonly seed: number;
}

/** Takes every action everywhere, and backs each end up as often as it is good. */
async function grow<State, Action>({ environment, actions, seed }: Grown<State, Action>) {
  const context = plainContext();
  const { state: start } = await environment.reset(context);
  const tree = new SearchTree<State, Action>(start, { environment: environment.name, seed });
  const open: SearchNode<State, Action>[] = [tree.root];
  for (let node = open.shift(); node !== undefined; node = open.shift()) {
    const state = node.state as State;
    const proposals = actions(state, node.depth);
    const children = tree.add(
      node,
      proposals.map((action) => ({ action, prior: 1 / proposals.length })),
    );
    for (const child of children) {
      tree.realise(child, await environment.step(state, child.action, context));
      if (child.terminal) tree.backup(child);
      else open.push(child);
    }
  }
  return tree;
}

interface ReasoningProblem {
  readonly name: string;
  readonly question: string;
  readonly answer: string;
  readonly steps: readonly (readonly string[])[];
}

// Texts that files, templates and tokenizers like to get wrong: quotes, backslashes, line breaks, other scripts.
const problems: readonly ReasoningProblem[] = [
  {
    name: 'apples',
    question: 'Ann has 3 apples and buys 4 bags of 5 apples each. How many does she have?',
    answer: '23',
    steps: [
      ['4 bags of 5 are $4 \\cdot 5 = 20$ apples.', '4 + 5 = 9 apples are in the bags.'],
      [
        'With the 3 she had: 3 + 20 = 23. The answer is 23.',
        'That makes 9 + 3 = 12. The answer is 12.',
        'Check: “4 bags” × 5 — yes, 20 🍎.',
      ],
      ['So there are 23. The answer is 23.', 'So there are 12. The answer is 12.'],
    ],
  },
  {
    name: 'sum',
    question: 'What is $1 + 2 + \\dots + 10$?\nGive a number.',
    answer: '55',
    steps: [
      [
        'Pair the ends: 1 + 10 = 11.',
        'The sum of an arithmetic series is n(n+1)/2.',
        '10 · 10 = 100.',
      ],
      [
        '5 · 11 = 55. The answer is 55.',
        'Half of it is 50. The answer is 50.',
        'There are 5 pairs.',
      ],
      ['Thus 5 · 11 = 55. The answer is 55.', 'Thus 5 · 10 = 50. The answer is 50.'],
    ],
  },
  {
    name: 'straße',
    question: 'Wie lang ist die Straße: 2 km {"und"} 350 m? 回答は数字で。',
    answer: '2350',
    steps: [
      ['2 km sind 2000 m.', '2 km sind 200 m\t(?)'],
      [
        '2000 + 350 = 2350. The answer is 2350.',
        '200 + 350 = 550. The answer is 550.',
        'Plus “350 m”.',
      ],
      ['The answer is 2350.', 'The answer is 550.'],
    ],
  },
  {
    name: 'code',
    question: 'What does `[x**2 for x in range(4)][-1]` give in Python?',
    answer: '9',
    steps: [
      ['The list is `[0, 1, 4, 9]`.', 'The list is `[1, 4, 9, 16]`.'],
      ['Its last element is 9. The answer is 9.', 'Its last element is 16. The answer is 16.'],
    ],
  },
];

async function reasoningRecord(
  { name, question, answer, steps }: ReasoningProblem,
  form: 'continued' | 'restated',
): Promise<TreeRecord> {
  const environment = reasoning({
    question,
    system: 'You are a careful tutor.',
    verifier: { verify: (state: ReasoningState) => ({ correct: state.answer === answer }) },
    maxSteps: steps.length,
  });
  const tree = await grow({ environment, actions: (_, depth) => steps[depth] ?? [], seed: 7 });
  const record: TreeRecord<ReasoningState, string> = {
    problem: `${form}/${name}`,
    tree,
    notation: environment.notations[form],
    answer,
    method: 'exhaustive',
    models: ['scripted:tutor'],
  };
  return record;
}

interface Trip {
  readonly messages: readonly Message[];
}

type Act =
  | { readonly call: string; readonly input: JsonValue; readonly gives: string }
  | { readonly answer: string; readonly right: boolean };

const offered: readonly ToolDefinition[] = [
  {
    name: 'weather',
    description: 'The weather of a city.',
    input: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
      required: ['city'],
    },
  },
  {
    name: 'add',
    description: 'Adds numbers.',
    input: {
      type: 'object',
      properties: {
        numbers: { type: 'array', items: { type: 'number' } },
        exact: { type: 'boolean' },
      },
      required: ['numbers'],
    },
  },
];

const cities = ['Zürich', 'San José', '東京'];

/** A conversation with tools, whose calls differ in their inputs. */
async function toolRecord(city: string): Promise<TreeRecord> {
  const question = `How many degrees are today's and tomorrow's highs in ${city} together?`;
  const environment: Environment<Trip, Act> = {
    name: 'trip',
    reset: () => ({
      state: {
        messages: [
          { role: 'system', content: 'Use the tools.' },
          { role: 'user', content: question },
        ],
      },
    }),
    step({ messages }, act) {
      if ('answer' in act) {
        return { state: { messages }, terminal: true, reward: act.right ? 1 : 0 };
      }
      const id = `call-${messages.length}`;
      const answered: Message = { role: 'tool', toolCallId: id, content: act.gives };
      return { state: { messages: [...messages, callTurn(act, id), answered] } };
    },
  };
  const tree = await grow({ environment, actions: (_, depth) => actsAt(city, depth), seed: 11 });
  tree.stamps.add('oracle-guided');
  const record: TreeRecord<Trip, Act> = {
    problem: `tools/${city}`,
    tree,
    notation: {
      prompt: ({ messages }) => messages,
      format: (act) => ('answer' in act ? act.answer : JSON.stringify({ [act.call]: act.input })),
      turn: (act) =>
        'answer' in act
          ? { role: 'assistant', content: act.answer }
          : callTurn(act, `call-${depthOf(act) * 2 + 2}`),
    },
    tools: offered,
    answer: '43',
    method: 'exhaustive',
    models: ['scripted:agent'],
  };
  return record;
}

function callTurn({ call, input }: Extract<Act, { call: string }>, id: string): Message {
  return {
    role: 'assistant',
    content: call === 'add' ? 'Now I add them.' : '',
    toolCalls: [{ id, name: call, input }],
  };
}

/** The world counts its calls by the turns so far: an addition is always the second. */
function depthOf({ call }: Extract<Act, { call: string }>): number {
  return call === 'add' ? 1 : 0;
}

function actsAt(city: string, depth: number): readonly Act[] {
  if (depth === 0) {
    return [
      { call: 'weather', input: { city, days: 2 }, gives: '{"highs": [21, 22]}' },
      { call: 'weather', input: { city }, gives: '{"highs": [21]}' },
    ];
  }
  if (depth === 1) {
    return [
      { call: 'add', input: { numbers: [21, 22], exact: true }, gives: '43' },
      { call: 'add', input: { numbers: [21.5, 21] }, gives: '42.5' },
      { answer: 'They are 42 degrees.', right: false },
    ];
  }
  return [
    { answer: 'Together they are 43 degrees.', right: true },
    { answer: 'Together they are "42.5" degrees.', right: false },
  ];
}

const hands: readonly (readonly number[])[] = [
  [4, 6, 1, 1],
  [2, 3, 4, 1],
  [8, 3, 8, 3],
];

/** A tree as a search leaves it: uneven, with proposals that were never taken. */
async function puzzleRecord(numbers: readonly number[]): Promise<TreeRecord> {
  const environment = gameOf24.environment({ numbers });
  const { tree } = await search(environment, {
    policy: uniform(environment.actions),
    evaluator: { needs: 'realised', evaluate: (nodes) => nodes.map(() => ({ value: 0.5 })) },
    algorithm: mcts(),
    budget: { simulations: 300 },
    seed: 3,
  });
  return {
    problem: `puzzle/${numbers.join(' ')}`,
    tree,
    notation: environment.notation,
    method: 'mcts',
    models: [],
  };
}
