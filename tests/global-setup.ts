import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Some tests run the built package in processes of their own: it is built once, before all of them. Their temporary files
 * are in one folder, which is removed at the end.
 */
export function setup(): () => void {
  const root = join(import.meta.dirname, '..');
  const { status } = spawnSync(process.execPath, ['scripts/build.js'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The build failed.');
  const folder = mkdtempSync(join(tmpdir(), 'espalier-'));
  // One test looks at its files as another user.
  chmodSync(folder, 0o755);
  // biome-ignore lint/style/noProcessEnv: the environment is the only way to tell the workers
  process.env['TMPDIR'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
