import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { formats, rlRules, writeDataset } from '../../src/data/index.ts';
import { formOf, prompt } from './formats-rows.ts';
import { planted } from './pairs-trees.ts';

const folder = mkdtempSync(join(tmpdir(), 'cards-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hasPython = spawnSync('python3', ['--version']).status === 0;
const unknown = /^The right answer is not known/;

describe('prompts', () => {
  test.each(['trl', 'trl-conversational', 'trl-tools', 'verl'])(
    'are left out by %s where the answer is not known',
    (format) => {
      const form = formOf(format, 'prompt');
      expect(form.write(prompt({ answer: ' ' }))).toMatch(unknown);
      expect(form.write(prompt({ answer: '4' }))).toBeTypeOf('object');
    },
  );

  test.skipIf(!hasPython)(
    'are rewarded by the last number, and not by what stands somewhere',
    () => {
      const [, code = ''] = /```python\n([\s\S]*?)```/.exec(formOf('trl', 'prompt').usage) ?? [];
      const reward = code
        .slice(0, code.indexOf('dataset = '))
        .replace(/^from (datasets|trl) .*$/gm, '');
      const said = ['2 + 2\nThe answer is 4.', 'Not 4 but 5', '14', '', '1,204', 'so 2/15', 'Yes'];
      const right = ['4', '4', '4', '4', '1204', '2/15', 'yes'];
      const script = `${reward}
import json
print(json.dumps(reward(${JSON.stringify(said)}, ${JSON.stringify(right)})
  + reward([[{"role": "assistant", "content": "It is 4"}], "", "x"], ["4", "", ""])))`;
      const out = execFileSync('python3', ['-c', script], { encoding: 'utf8' });
      expect(JSON.parse(out)).toEqual([1, 0, 0, 0, 1, 1, 1, 1, 0, 0]);
    },
  );
});

test.each(['trl', 'trl-conversational', 'trl-tools'])(
  'rollouts of %s are for a loss of their own: no trainer samples them again',
  (format) => {
    const { usage, columns } = formOf(format, 'rollout');
    expect(usage).not.toContain('reward_funcs');
    const read = [...usage.matchAll(/row\["(\w+)"\]/g)].map(([, name]) => name);
    expect(read.toSorted()).toEqual(['advantages', 'step_advantages', 'steps']);
    expect(Object.keys(columns)).toEqual(expect.arrayContaining(read));
  },
);

describe('files', () => {
  const write = (format: 'openAiFiles' | 'trl' | 'verl', file?: 'jsonl' | 'parquet') =>
    writeDataset({
      out: join(folder, `${format}-${file}`),
      problems: [[planted([{ text: 'a', end: 1 }], { answer: '4' })]],
      configs: [
        format === 'openAiFiles'
          ? {
              rule: { name: 'none', kind: 'preference', rows: () => [] },
              format: formats.openAiFiles(),
            }
          : { rule: rlRules.prompts(), format: formats[format]() },
      ],
      ...(file !== undefined && { file }),
    });

  test('are JSON lines, unless the trainer reads nothing but Parquet', async () => {
    const namesOf = async (report: ReturnType<typeof write>) =>
      (await report).configs.flatMap(({ splits }) => splits.flatMap(({ files }) => files));
    expect(await namesOf(write('trl'))).toEqual(['train-00000-of-00001.jsonl']);
    expect(await namesOf(write('verl'))).toEqual(['train-00000-of-00001.parquet']);
    const card = readFileSync(join(folder, 'verl-undefined', 'README.md'), 'utf8');
    expect(card).toContain('prompts/train-00000-of-00001.parquet \\');
    await expect(write('verl', 'jsonl')).rejects.toThrow(
      'Expected `file` to be parquet for verl-prompt, which is what its trainer reads, got `"jsonl"`.',
    );
    await expect(write('openAiFiles', 'parquet')).rejects.toThrow('jsonl for openai-preference');
  });

  test('of a configuration without rows have no part on how to use them', async () => {
    await write('openAiFiles');
    const card = readFileSync(join(folder, 'openAiFiles-undefined', 'README.md'), 'utf8');
    expect(card).toContain('## none');
    expect(card).not.toContain('### Use');
  });
});
