import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openRun } from '../../src/runs/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-locks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const root = join(import.meta.dirname, '../..');

// `npm run verify:locks` goes on to five thousand.
test('of four processes, some of which are killed, never do two hold one folder', () => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', 'tests/verify/locks.ts', '--acquisitions', '200', '--dies-after', '40'],
    { cwd: root, encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^4 processes, 2\d\d acquisitions, \d+ deaths, 0 double holders/);
}, 120_000);

/** Opens a run folder and dies. */
const script =
  "import { openRun } from 'espalier/runs'; openRun(process.argv[1]); process.kill(process.pid, 'SIGKILL');";

/** The lock of a process that was killed, changed as if this process had the same number. */
function deadLockOf(run: string, number: number): void {
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

test.runIf(existsSync('/proc/self/stat'))(
  'the lock of a process that was killed and whose parent has not noticed is taken over',
  async () => {
    const run = join(folder, 'zombie');
    // What the shell has become never asks what its child came to.
    const command = 'node --input-type=module -e "$1" "$2" & exec sleep 60';
    const parent = spawn('sh', ['-c', command, 'sh', script, run], { cwd: root, stdio: 'ignore' });
    try {
      const state = (): string | undefined => {
        const { pid } = JSON.parse(readFileSync(join(run, 'lock'), 'utf8')) as { pid: number };
        return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0];
      };
      await expect
        .poll(() => existsSync(join(run, 'lock')) && state(), { timeout: 30_000 })
        .toBe('Z');
      openRun(run).close();
    } finally {
      parent.kill('SIGKILL');
    }
  },
);

test('a closed folder is never written to again, even if another process has opened it', () => {
  const run = join(folder, 'closed');
  const closed = openRun(run);
  const { journal } = closed;
  closed.close();
  closed.close();
  const next = openRun(run);
  const line = { type: 'resume', call: 0, lost: none, charged: none } as const;
  const outcome = { problem: 'p', attempt: 0, status: 'done', reason: '', solved: true } as const;
  for (const write of [
    () => closed.journal,
    () => journal.append(line),
    () => closed.journalOf('p', 0),
    () => closed.writeRun({}),
    () => closed.writeReport({}),
    () => closed.writeProblems([]),
    () => closed.saveOutcome({ ...outcome, spend: { simulations: 0, nodes: 0, ...none, ms: 0 } }),
    () => closed.setAside('p', 0),
  ]) {
    expect(write).toThrowError(/ is closed\b/);
  }
  next.close();
});
const none = { calls: 0, tokens: 0, usd: 0 };

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
  // Such a file lives for milliseconds: what is hours old, nobody needs, whoever wrote it.
  const old = [`lock.${randomUUID()}`, `lock.${randomUUID()}`, `lock.${'b'.repeat(64)}`] as const;
  left(old[0], dead, 'another-machine');
  writeFileSync(join(run, old[1]), '');
  left(old[2], process.pid);
  const hoursAgo = Date.now() / 1000 - 2 * 3600;
  for (const name of old) utimesSync(join(run, name), hoursAgo, hoursAgo);
  const fresh = `lock.${randomUUID()}`;
  writeFileSync(join(run, fresh), '');
  openRun(run).close();
  expect(readdirSync(run).toSorted()).toEqual([...living, fresh, old[2], 'lock.txt'].toSorted());
});
