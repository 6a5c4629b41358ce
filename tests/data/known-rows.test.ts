import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { auditDataset } from '../../src/data/audit/audit-dataset.ts';
import { trlTools } from '../../src/data/formats/trl-conversational.ts';
import type { RowRule, TrainingRow } from '../../src/data/rows.ts';
import {
  tools as anyTools,
  asks,
  preference,
  prompt,
  says,
  sft,
  stepwise,
  unpaired,
} from './formats-rows.ts';
import { alpaca, out, text, turns, useFolders, write } from './writing.ts';

useFolders();

const same = 'The same row was made of another problem.';
const opposite = 'A row before it says the opposite.';
const tools = (name: string) => anyTools.map((tool) => ({ ...tool, name }));

/** Two problems with one row each. */
function each(first: TrainingRow, second: TrainingRow): RowRule {
  return {
    name: 'each',
    kind: first.kind,
    *rows([record]) {
      yield record?.problem === 'a' ? first : second;
    },
  };
}

const no = { chosen: [says('no')], rejected: [says('yes')] };
const yes = { chosen: [says('yes')], rejected: [says('no')] };
const step = (own: string, label: boolean) => ({
  text: own,
  value: Number(label),
  label,
  rating: label ? (1 as const) : (-1 as const),
});
const solution = (...steps: readonly ReturnType<typeof step>[]) =>
  stepwise({ steps, alternatives: steps.map((own) => [own]), taken: steps.map(() => 0) });

const cases = [
  [
    'a pair with other space',
    preference(yes),
    preference({ chosen: [says(' yes')], rejected: [says('no ')] }),
    same,
  ],
  [
    'a reversed pair with other space',
    preference(yes),
    preference({ chosen: [says('no ')], rejected: [says(' yes')] }),
    opposite,
  ],
  [
    'a pair with other tools',
    preference({ ...yes, tools: tools('f') }),
    preference({ ...yes, tools: tools('g') }),
    same,
  ],
  [
    'a reversed pair with other tools',
    preference({ ...yes, tools: tools('f') }),
    preference({ ...no, tools: tools('g') }),
    opposite,
  ],
  [
    'a completion with other space',
    sft({ completion: [says('yes')] }),
    sft({ completion: [says('\tyes')] }),
    same,
  ],
  [
    'the other label with other space',
    unpaired({ completion: [says('yes')], label: true }),
    unpaired({ completion: [says('yes ')], label: false }),
    opposite,
  ],
] as const;

describe.each(cases.map(([name, first, second, reason]) => ({ name, first, second, reason })))(
  '$name',
  ({ first, second, reason }) => {
    test.each([
      ['trl', text],
      ['llama-factory', alpaca],
    ])(
      'of another problem is left out of %s, and the files pass an audit',
      async (_form, format) => {
        const configs = [{ name: 'c', rule: each(first, second), format }];
        const report = await write(['a', 'b'], { configs });

        expect(report.configs[0]).toMatchObject({ rows: 1, refused: [{ reason, rows: 1 }] });
        const { findings } = await auditDataset(out);
        expect(findings.map(({ code }) => code)).not.toContain('contradiction');
        expect(findings.map(({ code }) => code)).not.toContain('duplicate');
      },
    );
  },
);

test('a row whose tools its form shows is another row with other tools', async () => {
  const rule = each(
    preference({ ...yes, tools: tools('f') }),
    preference({ ...no, tools: tools('g') }),
  );
  const report = await write(['a', 'b'], {
    configs: [{ name: 'c', rule, format: trlTools({ provenance: false }) }],
  });

  expect(report.configs[0]).toMatchObject({ rows: 2, refused: [] });
  const { findings } = await auditDataset(out);
  expect(findings.map(({ code }) => code)).not.toContain('contradiction');
});

test('a solution whose beginning another problem labels otherwise is left out', async () => {
  const rule = each(
    solution(step('one', true), step('two', true)),
    solution(step('one', false), step('three', false)),
  );
  const report = await write(['a', 'b'], { configs: [{ name: 'c', rule, format: text }] });

  expect(report.configs[0]).toMatchObject({
    rows: 1,
    refused: [{ reason: 'A row before it labels the same steps otherwise.', rows: 1 }],
  });
});

test.each([
  ['text', text],
  ['turns', turns],
])(
  'a prompt, as %s, with another answer is a contradiction, and no duplicate',
  async (_name, format) => {
    const [seven, eight] = ['7', '8'].map((answer) =>
      prompt({ prompt: [asks('How many?')], answer }),
    );
    if (seven === undefined || eight === undefined) return;
    const configs = [{ name: 'c', rule: each(seven, eight), format }];
    const report = await write(['a', 'b'], { configs });

    expect(report.configs[0]).toMatchObject({
      rows: 1,
      refused: [{ reason: 'A row before it has the same prompt and another answer.', rows: 1 }],
    });
    const file = join(out, 'c/train-00000-of-00001.jsonl');
    const written = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(
      file,
      [written, { ...written, answer: '8' }].map((row) => `${JSON.stringify(row)}\n`).join(''),
    );
    const { findings } = await auditDataset(out);
    expect(findings.map(({ code }) => code)).toEqual(['contradiction']);
  },
);
