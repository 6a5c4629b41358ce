import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type JsonValue, seededRandom } from '../../src/index.ts';
import type { Loose } from '../support/loose.ts';
import { Witness } from '../support/witness.ts';
import { startWitness, type WitnessProcess } from '../support/witness-process.ts';
import { add, call, mail, set } from './world-path.ts';
import { byHand, furnish } from './world-tools.ts';

let witness: WitnessProcess;
beforeAll(async () => {
  witness = await startWitness();
});
afterAll(() => witness.close());

/** When a process is killed. */
interface Kill {
  readonly afterMs?: number;
  /** How long the journal is by then. */
  readonly atByte?: number;
}

/** Runs a process; what it says, unless it is killed before. */
async function run(
  work: string,
  [journal, seed]: readonly [string, string],
  kill?: Kill,
): Promise<JsonValue> {
  const program = join(import.meta.dirname, 'world-worker.ts');
  const given = ['--import', 'tsx', program, work, witness.url, journal, seed];
  const child = spawn(process.execPath, given, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let said: JsonValue = null;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line !== 'begins') said = JSON.parse(line) as JsonValue;
    else if (kill?.afterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), kill.afterMs);
    else if (kill?.atByte !== undefined) killAt(kill.atByte, journal, () => child.kill('SIGKILL'));
  }
  await ended;
  return said;
}

function killAt(byte: number, path: string, kill: () => boolean): void {
  const timer = setInterval(() => {
    if (existsSync(path) && statSync(path).size < byte) return;
    kill();
    clearInterval(timer);
  }, 1);
}

// Three kills each.
// biome-ignore lint/style/noProcessEnv: how many kills there are is the caller's choice
const seeds = Array.from({ length: Math.ceil(Number(process.env['ESPALIER_KILLS'] ?? 3) / 3) });

/** What the witness sees of a commit that came to its end, with the call that may have happened and without. */
async function possible(committed: Loose): Promise<JsonValue[]> {
  const ways = committed.status === 'unknown' ? [0, 1] : [0];
  return Promise.all(
    ways.map((more) => {
      const other = new Witness();
      const calls = [...committed.done, ...committed.notDone.slice(0, more)];
      return byHand(async (asked) => other.ask(asked), calls);
    }),
  );
}

test.each(seeds.map((_, seed) => String(seed)))(
  'a search, a recovery and a commit whose processes are killed leave nothing but the path: %s',
  { timeout: 120_000 },
  async (seed) => {
    const folder = mkdtempSync(join(tmpdir(), 'world-kills-'));
    const random = seededRandom('kills').split(seed);
    const some = (): Kill =>
      random.integer(2) === 0
        ? { afterMs: random.integer(250) }
        : { atByte: 500 + random.integer(15_000) };
    try {
      const on = [join(folder, 'journal.jsonl'), seed] as const;
      await witness.ask({ op: 'reset' });
      await furnish(witness.ask);
      const before = await witness.ask({ op: 'dump' });
      await run('search', on, some());
      await run('recover', on, { afterMs: random.integer(40) });
      expect(await run('recover', on)).toMatchObject({ failed: [] });
      expect(await witness.ask({ op: 'dump' })).toEqual(before);
      const log = witness.log();
      const searched = log.slice(log.findLastIndex(({ op }) => op === 'reset'));
      expect(searched.filter(({ op }) => op === 'send')).toEqual([]);

      const other = [join(folder, 'commit.jsonl'), seed] as const;
      await run('commit', other, { afterMs: random.integer(120) });
      const committed: Loose = await run('commit', other);
      expect(['committed', 'unknown']).toContain(committed.status);
      expect(await possible(committed)).toContainEqual(await witness.ask({ op: 'dump' }));
      if (committed.status === 'committed') {
        const there = new Witness();
        const calls = [set('a', '1'), mail('m'), add('x'), call('c'), set('b', seed)];
        const expected = await byHand(async (asked) => there.ask(asked), calls);
        expect(await witness.ask({ op: 'dump' })).toEqual(expected);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
