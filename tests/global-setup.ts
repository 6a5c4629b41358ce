import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Some tests run the built package in processes of their own: it is built once, before all of them. */
export function setup(): void {
  const root = join(import.meta.dirname, '..');
  const { status } = spawnSync(process.execPath, ['scripts/build.js'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The build failed.');
}
