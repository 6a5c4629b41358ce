// `node scripts/live.js [JOB …]`: the tests against real models and real servers. Each job gets what it needs for
// itself on first use. The jobs: llama-server and llama, which run where none is named; tinyllama, which takes
// minutes; and transformers, which needs Python. Exit code 1: tests failed. 3: a job could not be run.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from './build.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const all = ['llama-server', 'llama', 'tinyllama', 'transformers'];
const usual = ['llama-server', 'llama'];

const named = process.argv.slice(2);
const unknown = named.filter((job) => !all.includes(job));
if (unknown.length > 0) {
  process.stderr.write(`Expected jobs out of ${all.join(', ')}, got ${unknown.join(', ')}.\n`);
  process.exit(2);
}

const errors = await build();
if (errors !== undefined) {
  process.stderr.write(errors);
  process.exit(1);
}

const outcomes = (named.length > 0 ? named : usual).map((job) => [job, outcomeOf(job)]);
process.stdout.write('\n');
for (const [job, outcome] of outcomes) {
  process.stdout.write(outcome === 'ran' ? `${job}: passed\n` : `*** ${job}: ${outcome} ***\n`);
}
if (outcomes.some(([, outcome]) => outcome === 'FAILED')) process.exitCode = 1;
else if (outcomes.some(([, outcome]) => outcome === 'DID NOT RUN')) process.exitCode = 3;

function outcomeOf(job) {
  if (!run('--import', 'tsx', 'tests/live/prepare.ts', job)) return 'DID NOT RUN';
  const vitest = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    'tests/live/vitest.config.ts',
  ];
  return run(...vitest, '--project', job) ? 'ran' : 'FAILED';
}

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  return status === 0;
}
