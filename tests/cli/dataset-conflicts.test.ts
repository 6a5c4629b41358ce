import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectUseful } from '../../src/cli/dataset-conflicts.ts';
import type { DatasetRequest } from '../../src/cli/dataset-options.ts';
import { rulesOption } from '../../src/cli/rule-option.ts';
import { expectNotation } from '../../src/runs/run-records.ts';
import { espalier, fileIn, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();

describe('options that contradict each other, or change nothing', () => {
  const refuse = (
    rule: string,
    request: Partial<DatasetRequest> & { weight?: readonly number[] },
  ) => expectUseful({ out: 'data', format: 'trl', ...request }, rulesOption(rule));

  test.each<readonly [string, Parameters<typeof refuse>[1], string]>([
    ['agent-q,agent-q', {}, '`--rule agent-q` is there twice: leave one out.'],
    [
      'agent-q:minMargin=0.3',
      { minMargin: 0.1 },
      '`--min-margin` and the option `minMargin` of `--rule agent-q` say the same: leave one out.',
    ],
    [
      'best-trajectories:unit=step',
      { unit: 'step' },
      '`--unit` and the option `unit` of `--rule best-trajectories` say the same: leave one out.',
    ],
    [
      'math-shepherd',
      { maxPairs: 3 },
      '`--max-pairs` works only with rules that make pairs, got `--rule math-shepherd`.',
    ],
    [
      'agent-q',
      { unit: 'step' },
      '`--unit` works only with `--rule best-trajectories`, got `--rule agent-q`.',
    ],
    ['agent-q', { splitSeed: 1 }, '`--split-seed` works only beside `--split`.'],
    ['agent-q', { exactSplit: true }, '`--exact-split` works only beside `--split`.'],
    ['agent-q', { endToken: '' }, 'Expected `--end-token` to be a text, got an empty one.'],
    [
      'agent-q',
      { endToken: '</s>', format: 'openai' },
      '`--end-token` works only with forms that are text, got `--format openai`.',
    ],
    [
      'agent-q',
      { chatTemplate: 'x', format: 'trl-tools' },
      '`--chat-template` works only with forms that are text, got `--format trl-tools`.',
    ],
  ])('%s %j', (rule, request, message) => {
    expect(() => refuse(rule, request)).toThrow(
      expect.objectContaining({ code: 'usage', message }),
    );
  });

  test('what is of use passes', () => {
    const split = { train: 0.9, test: 0.1 };
    refuse('agent-q,math-shepherd', { minMargin: 0.1, split, splitSeed: 3, exactSplit: true });
    refuse('agent-q,agent-q:minMargin=0.3', { endToken: '</s>', splitSeed: 3, weight: [1] });
  });

  test('a notation is for questions', () => {
    const puzzle = { id: 'p', task: 'game24', input: '1 2 3 4' } as const;
    expect(() => expectNotation('json', [puzzle])).toThrow(
      '`--notation` works only with questions, got `--notation json` for puzzles.',
    );
    expectNotation('json', [puzzle, { id: 'q', question: 'Which?' }]);
    expectNotation(undefined, [puzzle]);
  });
});

test.each([
  ['train=0.5,train=0.5', 'Expected `--split` to be different names, got `"train"`.\n'],
  ['a/b=1', 'Expected `--split` to be shares above 0 that sum to 1'],
])('--split %s', async (split, message) => {
  const { code, stderr } = await espalier('export', folder, '--out', 'x', '--split', split);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test('words that are nearly right are answered by what was meant', async () => {
  const { stderr } = await espalier('export', folder, '--out', 'x', '--format', 'trll');
  expect(stderr).toBe('Unknown value `"trll"` of `--format`. Did you mean `trl`?\n');
});

test('a slip in the keys of a problem is refused with its line', async () => {
  const lines = '{"question":"1 + 1?","answer":"2"}\n{"quesion":"2 + 2?"}\n';
  const problems = fileIn(folder, 'problems.jsonl', lines);
  const { code, stderr } = await espalier('generate', '--problems', problems, '--out', 'x');
  expect(code).toBe(2);
  expect(stderr).toBe(`Line 2 of \`${problems}\`: unknown key \`quesion\`: write \`question\`.\n`);
});

test('a run is no dataset, and one that a program made is exported there', async () => {
  const run = join(folder, 'shop');
  mkdirSync(run);
  writeFileSync(join(run, 'problems.jsonl'), '');
  const tree = { problem: 'p', attempt: 0, step: 0, tree: {} };
  writeFileSync(join(run, 'trees.jsonl'), `${JSON.stringify(tree)}\n`);
  const checked = await espalier('check-dataset', run);
  expect(checked.code).toBe(2);
  expect(checked.stderr).toContain('is a run, not a dataset: export it');
  const into = await espalier('export', run, '--out', run);
  expect([into.code, into.stderr]).toEqual([
    2,
    expect.stringMatching(/made by a program|is a run/),
  ]);
  const { code, stderr } = await espalier('export', run, '--out', join(folder, 'x'));
  expect(code).toBe(2);
  expect(stderr).toContain('was made by a program, whose environment is not known here: ');
});

test.each([
  ['tree', []],
  ['export', ['--out', 'x']],
])('%s says that a benchmark keeps no trees', async (command, more) => {
  const bench = join(folder, `bench-${command}`);
  mkdirSync(bench);
  writeFileSync(join(bench, 'run.json'), '{"command":"bench"}');
  const { code, stderr } = await espalier(command, bench, ...more);
  const told = `Expected the run of a search, got the benchmark in \`${bench}\`, which keeps no trees.\n`;
  expect([code, stderr]).toEqual([2, told]);
});

test('what is wrong with a published file is told with its name', async () => {
  const file = fileIn(folder, 'broken.jsonl', '{"question": 5}\n');
  const { code, stderr } = await espalier('export', file, '--from', 'omegaprm', '--out', 'x');
  expect(code).toBe(2);
  expect(stderr).toContain(`\`${file}\`: The OmegaPRM file cannot be read: line 1, `);
});
