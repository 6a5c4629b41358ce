// `node scripts/live.js [JOB …]`: the tests against real models and real servers. Each job gets what it needs for
// itself on first use. The jobs: llama-server and llama, which run where none is named; tinyllama, which takes
// minutes; transformers, which needs Python; and embeddings, a sentence-embedding model. Exit code 1: tests failed.
// 3: a job could not be run.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const all = ['llama-server', 'llama', 'tinyllama', 'transformers', 'embeddings'];
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
  // A job may bring its own configuration.
  const own = `tests/live/${job}`;
  const home = existsSync(join(root, own, 'vitest.config.ts')) ? own : 'tests/live';
  if (!run('--import', 'tsx', `${home}/prepare.ts`, job)) return 'DID NOT RUN';
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', `${home}/vitest.config.ts`];
  return run(...vitest, '--project', job) ? 'ran' : 'FAILED';
}

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  return status === 0;
}
