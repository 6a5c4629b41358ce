import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openRun } from '../../src/runs/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-locks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const root = join(import.meta.dirname, '../..');

test('of four processes, some of which are killed, never do two hold one folder', () => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', 'tests/verify/locks.ts', '--acquisitions', '600', '--dies-after', '60'],
    { cwd: root, encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^4 processes, 6\d\d acquisitions, \d+ deaths, 0 double holders/);
}, 120_000);

/** The lock of a process that was killed, changed as if this process had the same number. */
function deadLockOf(run: string, number: number): void {
  const script =
    "import { openRun } from 'espalier/runs'; openRun(process.argv[1]); process.kill(process.pid, 'SIGKILL');";
  spawnSync(process.execPath, ['--input-type=module', '-e', script, run], { cwd: root });
  const lock = JSON.parse(readFileSync(join(run, 'lock'), 'utf8')) as object;
  writeFileSync(join(run, 'lock'), JSON.stringify({ ...lock, pid: number }));
}

test.runIf(existsSync('/proc/self/stat')).each([
  ['this process', process.pid],
  ['another process', process.ppid],
])('the lock of a dead process whose number %s has now is taken over', (_name, number) => {
  const run = join(folder, `reused-${number}`);
  deadLockOf(run, number);
  openRun(run).close();
  expect(readdirSync(run)).toEqual([]);
});

test('a folder is locked for its own process too, until it is closed', () => {
  const run = join(folder, 'own');
  const first = openRun(run);
  expect(() => openRun(run)).toThrowError(new RegExp(`\\b${process.pid}\\b`));
  expect(() => openRun(run)).toThrowError(expect.objectContaining({ code: 'locked' }));
  first.close();
  openRun(run).close();
});

test('who closes late releases no lock but its own', () => {
  const run = join(folder, 'late');
  const first = openRun(run);
  // Somebody was told to delete the lock.
  rmSync(join(run, 'lock'));
  const second = openRun(run);
  first.close();
  expect(() => openRun(run)).toThrowError(expect.objectContaining({ code: 'locked' }));
  second.close();
});

test.each([
  ['nothing', ''],
  ['half of a lock', '{"pid":12'],
])('a lock that holds %s, as a failure of power leaves it, is taken over', (name, content) => {
  const run = join(folder, name);
  openRun(run).close();
  writeFileSync(join(run, 'lock'), content);
  openRun(run).close();
  expect(readdirSync(run)).toEqual([]);
});

test.each([0, -1, 1.5])('a lock of process %s, which is none, is taken over', (pid) => {
  const run = join(folder, `process ${pid}`);
  openRun(run).close();
  writeFileSync(join(run, 'lock'), JSON.stringify({ pid, host: hostname() }));
  openRun(run).close();
  expect(readdirSync(run)).toEqual([]);
});

test('what dead processes left of their attempts at a lock goes, what living ones need stays', () => {
  const run = join(folder, 'leftovers');
  openRun(run).close();
  const dead = spawnSync(process.execPath, ['--version']).pid;
  const left = (name: string, pid: number, host = hostname()) =>
    writeFileSync(join(run, name), JSON.stringify({ pid, host, id: name }));
  left(`lock.${randomUUID()}`, dead);
  left(`lock.${'a'.repeat(64)}`, dead);
  left(`lock.${'a'.repeat(64)}.${randomUUID()}`, dead);
  const living = [`lock.${randomUUID()}`, `lock.${randomUUID()}`] as const;
  left(living[0], process.pid);
  left(living[1], dead, 'another-machine');
  left('lock.txt', dead);
  openRun(run).close();
  expect(readdirSync(run).toSorted()).toEqual([...living, 'lock.txt'].toSorted());
});
