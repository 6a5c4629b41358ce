import { expect, test } from 'vitest';
import { readProblems } from '../../src/runs/problems-file.ts';
import { fileIn, temporaryFolder } from '../cli/espalier.ts';

const folder = temporaryFolder();

function read(content: string, task?: 'countdown' | 'game24'): ReturnType<typeof readProblems> {
  return readProblems(fileIn(folder, 'problems.jsonl', content), task);
}

test('reads questions, with the final answer behind #### alone', () => {
  const lines = [
    '{"question": "Two and two?", "answer": "2 + 2 = 4\\n#### 4"}',
    '',
    '{"id": 7, "question": "Three and three?", "answer": "6", "level": 1}',
    '{"id": "open", "question": "Why?"}',
  ];
  expect(read(lines.join('\n'))).toEqual([
    { id: 'Two and two?', question: 'Two and two?', answer: '4' },
    { id: '7', question: 'Three and three?', answer: '6' },
    { id: 'open', question: 'Why?' },
  ]);
});

test('reads a number as an answer, and takes `null` for none', () => {
  const lines = ['4', 'null', '0.5'].map(
    (answer) => `{"id": ${answer}, "question": "Two and two?", "answer": ${answer}}`,
  );
  expect(read(lines.join('\n'))).toEqual([
    { id: '4', question: 'Two and two?', answer: '4' },
    { id: 'Two and two?', question: 'Two and two?' },
    { id: '0.5', question: 'Two and two?', answer: '0.5' },
  ]);
});

test('refuses a number that JSON has rounded, and reads a file that begins with a byte order mark', () => {
  const line = '{"question": "What is 2^64?", "answer": 18446744073709551616}';
  expect(() => read(line)).toThrow(
    'expected `answer` to be a text or a number, got `18446744073709552000`, which JSON has rounded: write it in quotes.',
  );
  expect(read('\uFEFF{"question": "Why?"}')).toEqual([{ id: 'Why?', question: 'Why?' }]);
});

test('reads puzzles, and bare inputs where a task is given', () => {
  const puzzle = '{"task": "game24", "input": "4 9 10 13", "id": "a"}';
  expect(read(`${puzzle}\n`)).toEqual([{ id: 'a', task: 'game24', input: '4 9 10 13' }]);
  expect(read(`1 2 3 4\n${puzzle}\n{"input": "5 5 5 1"}\n`, 'game24')).toEqual([
    { id: '1 2 3 4', task: 'game24', input: '1 2 3 4' },
    { id: 'a', task: 'game24', input: '4 9 10 13' },
    { id: '5 5 5 1', task: 'game24', input: '5 5 5 1' },
  ]);
});

test('reads a bare input that is a JSON text, and leaves other quotes as they are', () => {
  expect(read('"1 2 3 4"\n', 'game24')).toEqual([
    { id: '1 2 3 4', task: 'game24', input: '1 2 3 4' },
  ]);
  const lines = fileIn(folder, 'own.jsonl', '"fünf \\"5\\""\n"Go" is what it said\n7\n');
  expect(readProblems(lines, 'own').map(({ input }) => input)).toEqual([
    'fünf "5"',
    '"Go" is what it said',
    '7',
  ]);
  expect(() => readProblems(fileIn(folder, 'own.jsonl', '7\n" "\n'), 'own')).toThrow(
    /^Line 2 of `.*`: expected an input, a text that is not empty\.$/,
  );
});

test('an input is never the name of a file', () => {
  const file = fileIn(folder, 'secret.txt', '1 2 3 4');
  expect(() => read(JSON.stringify({ task: 'game24', input: file }))).toThrow(/Line 1 of/);
});

test.each([
  ['', /Expected problems in `.*problems.jsonl`, got none\./],
  ['{"question": "a"}\n{"question": ', /Line 2 of `.*`: expected JSON, got `"/],
  ['{"question": " "}', /Line 1 of `.*`: expected `question` \(and `answer`\), or `task`/],
  ['{"text": "a"}', /Line 1 of `.*`: expected `question`/],
  ['[1]', /Line 1 of `.*`: expected `question`/],
  ['{"input": "1 2 3 4"}', /Line 1 of `.*`: expected a `task`, or `--task` for all lines\./],
  ['{"task": "chess", "input": "e4"}', /Line 1 of `.*`: unknown task "chess"/],
  ['{"task": "game24", "input": "1 2 x"}', /Line 1 of `.*`: Expected/],
  ['{"question": "a"}\n{"question": "a"}', /to have different ids, got "a" in lines 1 and 2\./],
])('refuses %j', (content, message) => {
  expect(() => read(content)).toThrow(message);
});

test('refuses a file that is not there', () => {
  expect(() => readProblems(`${folder}/none.jsonl`, undefined)).toThrow(
    /`.*none.jsonl` cannot be read: /,
  );
});

test('an id of `null` is left out, and one that is no name refused', () => {
  const [found] = read(JSON.stringify({ question: 'One?', id: null }));
  expect(found?.id).toBe('One?');
  expect(() => read(JSON.stringify({ question: 'One?', id: {} }))).toThrow(
    'expected `id` to be a text or a number, got ',
  );
});
