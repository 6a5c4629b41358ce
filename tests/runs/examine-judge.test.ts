import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examineJudge } from '../../src/runs/examine-judge.ts';
import { readLabelledStates } from '../../src/runs/labelled-states.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { temporaryFolder } from '../cli/espalier.ts';

const folder = temporaryFolder();

function fileOf(...lines: readonly string[]): string {
  const path = join(folder, 'states.jsonl');
  writeFileSync(path, lines.join('\n'));
  return path;
}

/** Answers in turn with the words that stand in the state, and not at all to others. */
const model = scriptedModel({
  capabilities: { n: true, temperature: true },
  answer({ messages }, sample) {
    const [, words] = /Words: (.*)/.exec(messages[0]?.content ?? '') ?? [];
    // The samples of a second judgement have indices of their own.
    const place = sample < 3 ? sample : 3 + (sample % 2 ** 20);
    return words?.split(' ')[place] ?? 'no idea';
  },
});

test('a judge is measured by its first judgements, and by how they differ from later ones', async () => {
  const states = [
    { state: 'Words: sure sure sure likely likely likely', good: true },
    { state: 'Words: likely likely likely sure sure sure', good: true },
    {
      state: 'Words: impossible impossible impossible impossible impossible impossible',
      good: false,
    },
    { state: 'Words: sure likely impossible likely likely likely', good: false },
    { state: 'Nothing is known.', good: false },
  ];
  const { judge, failure, spend } = await examineJudge(model, states, { repeats: 2 });
  // First 1 and 0.5 against 0 and 0.5: three pairs are right, and one is a tie.
  expect(judge?.auc).toBe(0.875);
  // The two judgements of each are 1 and 0.5, 0.5 and 1, 0 and 0, 0.5 and 0.5: variances of 1/8, 1/8, 0, 0.
  expect(judge?.noise).toBeCloseTo(0.25, 12);
  expect(judge).toMatchObject({ states: 4, good: 2, failed: 1 });
  expect(failure).toMatch(/^Expected one of the words sure, likely, impossible/);
  // Without log-probabilities a judgement is three calls; what failed is not judged again.
  expect(spend.calls).toBe(4 * 2 * 3 + 3);
});

test('a judge that cannot be measured is told why', async () => {
  const states = [
    { state: 'Nothing is known.', good: true },
    { state: 'Words: sure sure sure', good: false },
  ];
  const { judge, failure } = await examineJudge(model, states, { repeats: 1 });
  expect(judge).toBeUndefined();
  expect(failure).toMatch(/^Expected one of the words/);
});

test('a file of states is read line by line', () => {
  const path = fileOf(
    '{"state": "a", "good": true}',
    '',
    '{"state": "b", "good": false, "problem": 7}',
  );
  expect(readLabelledStates(path)).toEqual([
    { state: 'a', good: true },
    { state: 'b', good: false, problem: '7' },
  ]);
});

test.each([
  ['{"state": "a", "good": true}\n{"state": "b"', 'Line 2 of `%`: expected JSON, got '],
  [
    '\n{"state": "a", "good": "yes"}',
    'Line 2 of `%`: expected `state`, a text, and `good`, true or false, and `problem`, if any, a text or a number, got `"yes"` as `good`.',
  ],
  [
    '{"state": " ", "good": true}',
    'Line 1 of `%`: expected `state`, a text, and `good`, true or false, and `problem`, if any, a text or a number, got `" "` as `state`.',
  ],
  [
    '{"state": "a", "good": true}',
    'Expected states in `%` of which some are good and some are not, got 1 good of 1.',
  ],
  ['', 'Expected states in `%` of which some are good and some are not, got 0 good of 0.'],
])('a file of %j is refused', (text, message) => {
  const path = fileOf(text);
  expect(() => readLabelledStates(path)).toThrow(message.replace('%', path));
});
