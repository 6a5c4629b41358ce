// What the guides on datasets and training speak of: a model that answers their problems, and files of other searches.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultAnswer } from '../../src/testing/emulator/answer.ts';
import type { EmulatedAnswer, EmulatedQuestion } from '../../src/testing/index.ts';

/** The steps of a problem: each is right or wrong. */
type Steps = readonly (readonly [right: string, wrong: string])[];

const solutions: readonly (readonly [about: string, steps: Steps])[] = [
  [
    'marbles',
    [
      ['The first is red with 4/10.', 'Each is red with 1/2.'],
      ['The second is red with 3/9.', 'The second is red with 4/10.'],
      ['4/10 · 3/9 = 2/15. The answer is 2/15.', '4/10 + 3/9 = 11/15. The answer is 11/15.'],
    ],
  ],
  [
    'clock',
    [
      ['The long hand is at 240 degrees.', 'The short hand is at 90 degrees.'],
      ['The short hand is at 90 + 20 = 110 degrees.', 'The short hand is at 3 · 30 degrees.'],
      ['240 - 110 = 130. The answer is 130.', '240 - 90 = 150. The answer is 150.'],
    ],
  ],
  [
    'primes',
    [
      ['I cross out the multiples of 2, 3, 5 and 7.', 'All odd numbers are primes.'],
      ['That leaves 15 or 25. The answer is 25.', 'That leaves 50. The answer is 50.'],
    ],
  ],
];

/** Every other sample takes a wrong step, which it finds unlikely when it is asked. */
export function answerOfGuides(question: EmulatedQuestion): string | EmulatedAnswer {
  const { messages, sample, schema, continues } = question;
  const asked = messages.map(({ content }) => content).join('\n');
  const steps = solutions.find(([about]) => asked.includes(about))?.[1] ?? [];
  if (!continues && /Do not write a step|Judge how likely/.test(asked)) {
    return judgement(question, steps);
  }
  const taken = [...asked.matchAll(/(?:Write step|Step) (\d+)/g)].map(([, number]) =>
    Number(number),
  );
  const step = steps[Math.max(1, ...taken) - 1]?.[sample % 2] ?? 'The answer is 0.';
  const [, answer = null] = /The answer is (.*)\./.exec(step) ?? [];
  return schema === undefined ? step : JSON.stringify({ step, answer });
}

/** What a judge or a critic says, in the form that it was asked for. */
function judgement(question: EmulatedQuestion, steps: Steps): string | EmulatedAnswer {
  const { messages, schema, options } = question;
  const last = messages.at(-1)?.content ?? '';
  const isWrong = steps.some(([, wrong]) => last.includes(wrong));
  if (last.includes('A or B')) return isWrong ? 'A' : 'B';
  if (/yes or no/i.test(last)) return isWrong ? 'no' : 'yes';
  if (schema !== undefined || options !== undefined) return defaultAnswer(question);
  return isWrong ? 'impossible' : 'likely';
}

type Node = Readonly<Record<string, unknown>>;

function called(name: string, input: object, rest: Node): Node {
  const given = { node_type: 'Action Input', description: JSON.stringify(input), children: [] };
  return {
    node_type: 'Action',
    description: name,
    children: [{ ...given, observation_code: 0, ...rest }],
  };
}

/** A search of ToolBench's, of which one branch reaches an answer. */
function toolBenchFile(city: string): Node {
  const finish = { return_type: 'give_answer', final_answer: `It is 21 °C in ${city}.` };
  const giveUp = { return_type: 'give_up_and_restart' };
  const children = [
    called(
      'weather',
      { city },
      {
        observation: '{"celsius": 21}',
        children: [called('Finish', finish, { observation: 'done', observation_code: 3 })],
      },
    ),
    called(
      'weather',
      { town: city },
      {
        observation: 'no such argument',
        children: [called('Finish', giveUp, { observation_code: 4, pruned: true })],
      },
    ),
  ];
  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  return {
    win: true,
    tree: { tree: { node_type: 'Action Input', description: '', children } },
    answer_generation: {
      query: `How warm is it in ${city}?`,
      function: [{ name: 'weather', description: 'The weather of a city.', parameters }],
      train_messages: [[{ role: 'system', content: 'Use the tools.' }]],
    },
  };
}

const questions = [
  { id: 'marbles', question: 'There are 4 red and 6 blue marbles. Are two red?', answer: '2/15' },
  { id: 'primes', question: 'How many primes are below 50?', answer: '25' },
];

/** Texts of states, of which a judge says whether they are good. */
const states = [
  { state: 'The first is red with 4/10.', good: true, problem: 'marbles' },
  { state: 'Each is red with 1/2.', good: false, problem: 'marbles' },
  { state: 'All odd numbers are primes.', good: false, problem: 'primes' },
  { state: 'I cross out the multiples of 2, 3, 5 and 7.', good: true, problem: 'primes' },
];

/** Writes the files that the guides take as given. */
export function writeGuideFiles(folder: string): void {
  mkdirSync(join(folder, 'answers'), { recursive: true });
  const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(join(folder, 'problems.jsonl'), lines(questions));
  const gsm8k = questions.map((row) => ({ ...row, answer: `So it is.\n#### ${row.answer}` }));
  writeFileSync(join(folder, 'test.jsonl'), lines(gsm8k));
  writeFileSync(join(folder, 'states.jsonl'), lines(states));
  for (const city of ['Oslo', 'Lima', 'Cairo']) {
    const file = join(folder, 'answers', `${city}.json`);
    writeFileSync(file, JSON.stringify(toolBenchFile(city)));
  }
}
