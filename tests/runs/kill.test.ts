import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { indexJournal } from '../../src/runtime/journal-index.ts';
import { readJournal } from '../../src/runtime/journal-file.ts';
import { seededRandom } from '../../src/runtime/random.ts';

const kills = 20;
const script = join(import.meta.dirname, '../fixtures/journaled-search.js');
const folder = mkdtempSync(join(tmpdir(), 'espalier-kill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function start(run: string): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [script, join(folder, run), join(folder, `${run}.count`)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code) => resolve({ code, output }));
  });
  return { child, ended };
}

function calls(run: string): number {
  return readFileSync(join(folder, `${run}.count`), 'utf8').length;
}

function journalOf(run: string): ReturnType<typeof indexJournal> {
  const path = join(folder, run, 'journal.jsonl');
  return indexJournal(existsSync(path) ? readJournal(path).lines : []);
}

test('a search that is killed twenty times ends with the tree of an undisturbed one', async () => {
  const undisturbed = await start('undisturbed').ended;
  assert.equal(undisturbed.code, 0);

  const random = seededRandom('kill');
  let open = 0;
  let done = 0;
  while (done < kills) {
    const { child, ended } = start('killed');
    // A process lives on until it has done something worth losing, and then some random time.
    const before = journalOf('killed').calls.size;
    while (child.exitCode === null && journalOf('killed').calls.size === before) await pause(2);
    await pause(random.next() * 40);
    child.kill('SIGKILL');
    const { code } = await ended;
    assert.equal(code, null, `the search ended before kill ${done + 1}: make it longer`);
    open += journalOf('killed').open.size;
    done++;
  }
  const resumed = await start('killed').ended;

  assert.equal(resumed.code, 0);
  expect(resumed.output === undisturbed.output).toBe(true);
  const [most, made] = [calls('undisturbed') + open, calls('killed')];
  process.stdout.write(
    `kill -9: ${done} kills, ${calls('undisturbed')} calls undisturbed, ${open} open at the kills, ${made} made\n`,
  );
  expect(made).toBeLessThanOrEqual(most);
}, 60_000);

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
