import { spawnSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { algorithmNames } from '../../src/runs/algorithms.ts';
import { espalier, fileIn, temporaryFolder } from './espalier.ts';

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
  [['bench', '--methods', 'mcts,agent'], ['mcts,agent-q']],
  [['bench', '--baseline', 'best-of'], ['best-of-n']],
  [['rows', 'data', '--rule', 'math-sh'], ['math-shepherd']],
  [['search', '--model', 'oll'], ['ollama:']],
  [['generate', '--method', 'agent'], ['agent-q']],
  [['export', 'runs/x', '--rule', 'math-sh'], ['math-shepherd']],
  [
    ['export', '--format', 'llama'],
    ['llama-factory', 'llama-factory-sharegpt'],
  ],
  [['export', '--rule', 'agent-q,ma'], ['agent-q,math-shepherd']],
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
  expect(stdout).toContain("-l save -r -d 'save the run there");
});

const lines = [
  ['espalier ch', 'check-dataset'],
  ['espalier search --al', '--algorithm'],
  ['espalier search --task g', 'game24'],
  ['espalier export --rule agent-q,ma', 'agent-q,math-shepherd'],
] as const;

/** What a shell prints for a program; `undefined` if the shell is not installed. */
function printed(shell: string, args: readonly string[]): string | undefined {
  const { error, stdout } = spawnSync(shell, args, { encoding: 'utf8', timeout: 30_000 });
  return error === undefined ? stdout : undefined;
}

test.for(lines)('fish completes %j', async ([line, expected], { skip }) => {
  skip(printed('fish', ['--version']) === undefined, 'fish is not installed');
  const { stdout } = await espalier('completion', 'fish');
  const offers = printed('fish', ['--no-config', '-c', `${stdout}\ncomplete -C '${line}'`]) ?? '';
  expect(offers.split('\n').map((offer) => offer.split('\t')[0])).toContain(expected);
});

test.for(lines)('zsh completes %j at a terminal', async ([line, expected], { skip }) => {
  skip(printed('zsh', ['--version']) === undefined, 'zsh is not installed');
  const folder = temporaryFolder();
  const script = fileIn(folder, 'espalier.zsh', (await espalier('completion', 'zsh')).stdout);
  const begin = `PS1=; cd ${folder}; autoload -Uz compinit && compinit -D -u; source ${script}; print REA""DY`;
  const session = [
    'zmodload zsh/zpty; zpty shell "zsh -f -i"',
    `zpty -w shell '${begin}'; zpty -r shell out '*READY*'`,
    `zpty -w -n shell '${line}'$'\\t\\C-a: \\C-m'; zpty -w shell 'print DO""NE'`,
    'zpty -r shell out "*DONE*"; print -r -- "$out"',
  ].join('\n');
  expect(printed('zsh', ['-f', '-c', session])).toContain(` ${expected}`);
});

test('another shell is refused', async () => {
  const { code, stderr } = await espalier('completion', 'bsh');
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `Expected \`shell\` to be 'bash' or 'zsh' or 'fish', got \`"bsh"\`. Did you mean 'bash'?\n`,
  });
});
