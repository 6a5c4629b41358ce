import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { readJournal } from '../../src/calls/journal-file.ts';

// biome-ignore lint/style/noProcessEnv: `npm run verify:kills` asks for twenty
const kills = Number(process.env['ESPALIER_KILLS'] ?? 5);
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

/** How many calls a journal says were started, and of how many it knows what became of them. */
function countsOf(run: string): { readonly started: number; readonly ended: number } {
  const path = join(folder, run, 'journal.jsonl');
  if (!existsSync(path)) return { started: 0, ended: 0 };
  const types = [...readJournal(path).lines].map(({ type }) => type);
  return {
    started: types.filter((type) => type === 'intent').length,
    ended: types.filter((type) => type === 'result' || type === 'failure').length,
  };
}

test('a search that is killed again and again ends with the tree of an undisturbed one', async () => {
  const undisturbed = await start('undisturbed').ended;
  assert.equal(undisturbed.code, 0);

  const random = seededRandom('kill');
  for (let done = 0; done < kills; done++) {
    const { child, ended } = start('killed');
    // A process lives on until it has done something worth losing, and then some random time.
    const before = countsOf('killed').ended;
    while (child.exitCode === null && countsOf('killed').ended === before) await pause(2);
    await pause(random.next() * 40);
    child.kill('SIGKILL');
    const { code } = await ended;
    assert.equal(code, null, `the search ended before kill ${done + 1}: make it longer`);
  }
  // A call that was under way at a kill is started again: what was started and has no end was open then.
  const { started, ended } = countsOf('killed');
  const open = started - ended;
  const resumed = await start('killed').ended;

  assert.equal(resumed.code, 0);
  expect(resumed.output === undisturbed.output).toBe(true);
  const made = calls('killed');
  process.stdout.write(
    `kill -9: ${kills} kills, ${calls('undisturbed')} calls undisturbed, ${open} open at the kills, ${made} made\n`,
  );
  // Every call that was answered was made once, and beside them those that were open.
  expect(made).toBeLessThanOrEqual(calls('undisturbed') + open);
  const [whole, killed] = [countsOf('undisturbed'), countsOf('killed')];
  expect(killed.ended).toBe(whole.ended);
  expect(killed.started).toBe(whole.started + open);
}, 60_000);

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
