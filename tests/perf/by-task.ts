// Writes docs/benchmarks-by-task.md: every task that comes with the package and can be measured with what comes with it,
// by `espalier bench` as anybody would run it. The others are named with the reason.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchTasks } from 'espalier/bench';

const model = 'tokens=500,1k';
const puzzle = `--limit 150 --temperature 0.7 --methods mcts,beam --budgets ${model}`;
const measured: Readonly<Record<string, string>> = {
  blocksworld: puzzle,
  countdown: puzzle,
  game24: puzzle,
  tiles: '--limit 150 --model none --methods mcts,astar,best-first --budgets calls=50,200,800',
  // A call runs git and the tests of a repository, which takes most of a second.
  worktrees: '--limit 30 --model none --methods mcts,best-first --budgets calls=20',
};

const root = join(import.meta.dirname, '../..');
const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const folder = mkdtempSync(join(tmpdir(), 'espalier-by-task-'));
const sections: string[] = [];
try {
  for (const { name, title } of benchTasks) {
    const options = measured[name];
    if (options === undefined) continue;
    const out = join(folder, name);
    const args = ['bench', '--task', name, ...options.split(' '), '--no-times', '--out', out];
    execFileSync(process.execPath, [join(root, 'dist/cli/main.js'), ...args], { stdio: 'inherit' });
    const command = `espalier ${args.slice(0, -2).join(' ')}`;
    const report = readFileSync(join(out, 'report.md'), 'utf8')
      .replaceAll(/^#/gm, '##')
      .replace(` --out ${out}`, '');
    sections.push(`\`\`\`sh\n${command}\n\`\`\`\n\n${report.trim()}`);
    process.stdout.write(`${title}: done.\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const left = benchTasks
  .filter(({ name }) => measured[name] === undefined)
  .map(({ title }) => title);
const text = [
  '---',
  'title: Benchmarks by task',
  'group: Background',
  '---',
  '',
  '# Benchmarks by task',
  '',
  `Written by \`npm run bench:tasks\` on commit ${git('rev-parse', '--short', 'HEAD')}, Node ${process.versions.node}, ${cpus().length} cores.`,
  'Puzzles are drawn from the seed 0 and were not seen by the model that comes with the package, which proposes and judges;',
  'sliding tiles and worktrees, which it was not taught, are searched with the legal moves and a hand-written estimate.',
  '',
  `Not measured, because they need a model of your own: ${left.join('; ')}.`,
  '',
  sections.join('\n\n'),
  '',
].join('\n');
writeFileSync(join(root, 'docs/benchmarks-by-task.md'), text);
