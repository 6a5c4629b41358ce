import { spawnSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { algorithmNames } from '../../src/runs/algorithms.ts';
import { espalier } from './espalier.ts';

let bash: string;
beforeAll(async () => {
  bash = (await espalier('completion', 'bash')).stdout;
});

/** What bash offers behind these words, the last of which is being typed. */
function offered(...words: readonly string[]): readonly string[] {
  const typed = words.map((word) => `'${word}'`).join(' ');
  const asked = `COMP_WORDS=(espalier ${typed}); COMP_CWORD=${words.length}; _espalier; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', `${bash}\n${asked}`], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

test.each([
  [['ch'], ['check-dataset']],
  [['search', '--al'], ['--algorithm']],
  [['search', '--algorithm', ''], algorithmNames],
  [['search', '--task', 'g'], ['game24']],
  [['bench', '--task', 'gs'], ['gsm8k']],
  [['search', '--model', 'oll'], ['ollama:']],
  [['generate', '--method', 'agent'], ['agent-q']],
  [['export', 'runs/x', '--rule', 'math-sh'], ['math-shepherd']],
  [
    ['export', '--format', 'llama'],
    ['llama-factory', 'llama-factory-sharegpt'],
  ],
  [['completion', 'f'], ['fish']],
  [['search', '--calls', ''], []],
])('bash completes %j', (words, expected) => {
  expect(offered(...words)).toEqual(expected);
});

test('zsh takes the same script, and fish one of its own', async () => {
  expect((await espalier('completion', 'zsh')).stdout).toContain(bash);
  const { stdout } = await espalier('completion', 'fish');
  expect(stdout).toContain(
    "complete -c espalier -n '__fish_seen_subcommand_from search' -l order -x -a 'arrival issued' -d 'in which results take effect: arrival, issued'\n",
  );
  expect(stdout).toContain("-l save -r -d 'keep the run there");
});

test('another shell is refused', async () => {
  const { code, stderr } = await espalier('completion', 'bsh');
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'Unknown value `"bsh"` of `shell`. Did you mean `bash`?\n',
  });
});
