import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { build, espalier, fileIn, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();

beforeAll(build, 60_000);

function lines(name: string, rule: string): readonly Record<string, unknown>[] {
  return readFileSync(join(folder, name, rule, 'train-00000-of-00001.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('export says what a source lacks, takes options of rules, and makes steps', async () => {
  const tree = {
    question: 'What is 2 + 2?',
    reasoning_steps: {
      text: 'What is 2 + 2?',
      mc_value: 0.5,
      children: [
        { text: 'Two and two.', mc_value: 0.75, children: [{ text: 'Four.', mc_value: 1 }] },
        { text: 'Five.', mc_value: 0 },
      ],
    },
  };
  const file = fileIn(folder, 'right-only.jsonl', `${JSON.stringify(tree)}\n`);
  const from = ['export', file, '--from', 'omegaprm'];
  const labels = await espalier(
    ...[...from, '--rule', 'math-shepherd:delimiter=\\n\\n\\n', '--out', join(folder, 'labels')],
  );
  expect(labels).toMatchObject({ code: 0 });
  expect(labels.stdout).toContain('step labels are the recorded estimates');
  const rows = lines('labels', 'math-shepherd');
  expect(rows.map((row) => [row['step_values'], row['delimiter']])).toEqual([
    [[0], '\n\n\n'],
    [[0.75, 1], '\n\n\n'],
  ]);

  const steps = ['--rule', 'best-trajectories', '--unit', 'step', '--no-provenance'];
  const split = ['--split', 'train=0.999,test=0.001'];
  const { code, stdout } = await espalier(
    ...from,
    ...steps,
    ...split,
    '--out',
    join(folder, 'steps'),
  );
  expect(code).toBe(0);
  expect(stdout).toContain(
    'No rows in `test`, which got no problem that makes any: search more problems.\n',
  );
  const [first] = lines('steps', 'best-trajectories');
  expect(first).toEqual({ prompt: 'What is 2 + 2?\n', completion: 'Two and two.' });
});

test('export says which part of a split has few problems', async () => {
  const trees = Array.from({ length: 25 }, (_, place) => ({
    question: `What is ${place} + ${place}?`,
    reasoning_steps: { text: '', mc_value: 1, children: [{ text: `${2 * place}.`, mc_value: 1 }] },
  }));
  const text = trees.map((tree) => `${JSON.stringify(tree)}\n`).join('');
  const file = fileIn(folder, 'sums.jsonl', text);
  const written = async (name: string, ...split: readonly string[]) => {
    const rows = ['--from', 'omegaprm', '--rule', 'best-trajectories', '--split', ...split];
    const { code, stdout } = await espalier('export', file, ...rows, '--out', join(folder, name));
    expect(code).toBe(0);
    return stdout;
  };
  const exact = await written('exact', 'train=0.96,test=0.04', '--exact-split');
  expect(exact).toContain('train 24 from 24 problems, test 1 from 1 problem');
  expect(exact).toContain('Only 1 of 25 problems in `test`: search more problems.\n');
  const drawn = await written('drawn', 'train=0.8,test=0.2', '--split-seed', '6');
  expect(drawn).toContain(
    'Only 2 of 25 problems in `test`: search more problems, or use --exact-split.\n',
  );
  const fair = await written('fair', 'train=0.8,test=0.2', '--exact-split');
  expect(fair).toContain('test 5 from 5 problems');
  expect(fair).not.toContain('Only');
});

test('whole paths become conversations where single steps are left out', async () => {
  const leaf = (text: string, mc_value: number) => ({ text, mc_value });
  const tree = {
    question: 'What is 2 + 2?',
    reasoning_steps: {
      text: '',
      mc_value: 0.5,
      children: [
        {
          text: 'Two and two.',
          mc_value: 0.75,
          children: [leaf('Four.', 1), leaf('The answer is 5.', 0)],
        },
      ],
    },
  };
  const file = fileIn(folder, 'talk.jsonl', `${JSON.stringify(tree)}\n`);
  const asked = ['export', file, '--from', 'omegaprm', '--format', 'trl-conversational'];
  const steps = await espalier(...asked, '--rule', 'step-dpo', '--out', join(folder, 'no-steps'));
  expect(steps.code).toBe(1);
  expect(steps.stdout).toMatch(/1 left out: .*`--notation restated`/);
  const whole = await espalier(...asked, '--rule', 'trajectory', '--out', join(folder, 'whole'));
  expect(whole.code).toBe(0);
  expect(lines('whole', 'trajectory')[0]).toMatchObject({
    chosen: [{ role: 'assistant', content: 'Two and two.\n\nFour.' }],
  });
});

test('export ends with 1 where there were rows and the form could say none', async () => {
  const call = {
    node_type: 'Action Input',
    description: '{}',
    observation: 'ok',
    observation_code: 0,
  };
  const text = JSON.stringify({
    win: false,
    tree: {
      tree: {
        node_type: 'Action Input',
        description: '',
        children: [{ node_type: 'Action', description: 'look', children: [call] }],
      },
    },
    answer_generation: { query: 'Look.', function: [{ name: 'look' }] },
  });
  const file = fileIn(folder, 'tools.json', text);
  const asked = ['export', file, '--from', 'toolbench', '--rule', 'prompts'];
  const { code, stdout } = await espalier(...asked, '--out', join(folder, 'hidden'));
  expect(code).toBe(1);
  expect(stdout).toContain('1 left out: The model was offered tools');
  expect(stdout).toContain('All rows were left out; the reasons are above.');
  const said = await espalier(...asked, '--format', 'trl-tools', '--out', join(folder, 'said'));
  expect(said.code).toBe(1);
  expect(said.stdout).toContain('1 left out: The right answer is not known');
});
