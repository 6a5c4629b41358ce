// Runs every example to its end; each of them closes with an assertion.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../examples/', import.meta.url));
const examples = readdirSync(folder).filter((file) => file.endsWith('.ts'));
const failed = examples.filter((file) => {
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--conditions=source', join(folder, file)],
    { encoding: 'utf8' },
  );
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stdout.write(`${status === 0 ? 'passed' : 'FAILED'}  ${file}  ${seconds} s\n`);
  if (status !== 0) process.stdout.write(`${stdout}${stderr}`);
  return status !== 0;
});
process.stdout.write(`${examples.length - failed.length} passed, ${failed.length} failed\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
