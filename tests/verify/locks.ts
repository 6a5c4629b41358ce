// Several processes take the lock of one run folder again and again, and some of them are killed while they hold
// it: never do two hold it at once, and the lock of a dead process never keeps the others out.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openRun } from 'espalier/runs';

const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: '4' },
    acquisitions: { type: 'string', default: '5000' },
    /** After so many acquisitions a process dies while it holds the lock. */
    'dies-after': { type: 'string', default: '100' },
    worker: { type: 'string' },
  },
});

interface Report {
  readonly held: number;
  readonly double: number;
}

if (values.worker === undefined) await compete();
else work(values.worker);

/** Starts the processes, and another one for each that dies, until enough acquisitions were made. */
async function compete(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-locks-'));
  const total = Number(values.acquisitions);
  const began = performance.now();
  let held = 0;
  let double = 0;
  let deaths = 0;
  const keepOne = async (): Promise<void> => {
    while (held < total) {
      const child = fork(import.meta.filename, [
        ...['--worker', folder, '--dies-after', values['dies-after']],
      ]);
      child.on('message', (report: Report) => {
        held += report.held;
        double += report.double;
        if (held >= total) child.kill('SIGKILL');
      });
      await new Promise((resolve) => child.once('close', resolve));
      deaths++;
    }
  };
  try {
    await Promise.all(Array.from({ length: Number(values.processes) }, keepOne));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  process.stdout.write(
    `${values.processes} processes, ${held} acquisitions, ${deaths} deaths, ${double} double holders, ${seconds} s\n`,
  );
  assert.equal(double, 0);
}

/** Takes and releases the lock. While it is held nobody else's witness may stand beside it. */
function work(folder: string): void {
  const witness = join(folder, 'witness');
  for (let held = 1; held <= Number(values['dies-after']); ) {
    let run: Disposable;
    try {
      run = openRun(folder);
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, 'locked', String(error));
      continue;
    }
    const double = isAlive(readOrNothing(witness)) ? 1 : 0;
    writeFileSync(witness, String(process.pid));
    // Long enough that a second holder is seen.
    for (const end = performance.now() + Math.random(); performance.now() < end; );
    const isOther = readOrNothing(witness) !== String(process.pid);
    process.send?.({ held: 1, double: double + (isOther ? 1 : 0) } satisfies Report);
    if (held === Number(values['dies-after'])) {
      // The report must be out before the death.
      process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
      process.disconnect();
      return;
    }
    if (!isOther) rmSync(witness, { force: true });
    run[Symbol.dispose]();
    held++;
  }
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function isAlive(pid: string): boolean {
  if (pid === '' || pid === String(process.pid)) return false;
  try {
    process.kill(Number(pid), 0);
  } catch {
    return false;
  }
  // One that was killed keeps its number until its parent has noticed.
  return !readOrNothing(`/proc/${pid}/stat`).includes(') Z ');
}
