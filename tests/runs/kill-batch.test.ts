import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { type Emulator, emulator } from '../../src/testing/index.ts';

// biome-ignore lint/style/noProcessEnv: `npm run verify:kills` asks for twenty
const kills = Number(process.env['ESPALIER_KILLS'] ?? 3);
// biome-ignore lint/style/noProcessEnv: so that each of them finds something to do
const count = Number(process.env['ESPALIER_KILLS'] ?? 10) >= 20 ? 40 : 10;
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'espalier-kill-batch-'));
const random = seededRandom('kill batch');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the process that is to be killed asks of its server: where it is killed, and how. */
interface Watched {
  readonly server: Emulator;
  /** Hears of each request, with its method and path. */
  hear: (request: string) => void;
}

async function serve(dialect: 'anthropic' | 'openai'): Promise<Watched> {
  const watched = { hear: (_: string) => {} };
  const server = await emulator({
    dialect,
    models: [dialect === 'openai' ? 'gpt-6-luna' : 'claude-haiku-5-5'],
    batchMs: 150,
    faults: ({ path }) => {
      watched.hear(path);
      return undefined;
    },
    // Fixed by the conversation and the sample, whoever asks when.
    answer: ({ messages, sample }) => {
      const prompt = messages.map(({ content }) => content).join('\n');
      if (prompt.includes('Judge how likely')) {
        return ['sure', 'likely', 'impossible'][hash(prompt) % 3] ?? 'likely';
      }
      const first = Number(/What is (\d+)/.exec(prompt)?.[1]);
      const draw = hash(`${prompt}#${sample}`) % 4;
      return draw > 1
        ? `Both are ${first}, so think again about part ${draw + sample}.`
        : `The answer is ${2 * first + draw}.`;
    },
  });
  return Object.assign(watched, { server });
}

function start(dialect: string, { url }: Emulator, name: string): ChildProcess {
  const place = join(folder, `${dialect}-${name}`);
  mkdirSync(place, { recursive: true });
  return spawn(
    process.execPath,
    [join(root, 'tests/fixtures/batch-worker.js'), dialect, url, place, String(count)],
    { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
  );
}

function killAt(
  child: ChildProcess,
  watched: Watched,
  request: string | undefined,
): Promise<unknown> {
  const closed = once(child, 'close');
  const kill = () => child.kill('SIGKILL');
  if (request === undefined) setTimeout(kill, 200 + random.next() * 1200);
  watched.hear = (heard) => {
    if (request !== undefined && heard.includes(request)) kill();
  };
  return closed;
}

describe.each(['openai', 'anthropic'] as const)('batches of %s', (dialect) => {
  test('a run that is killed again and again buys nothing twice', async () => {
    const undisturbed = await serve(dialect);
    const [code] = await once(start(dialect, undisturbed.server, 'undisturbed'), 'close');
    assert.equal(code, 0);
    const killed = await serve(dialect);
    const moments = [
      undefined,
      '/batches',
      undefined,
      dialect === 'openai' ? '/files' : '/results',
    ];
    let died = 0;
    for (let done = 0; done < kills; done++) {
      const child = start(dialect, killed.server, 'killed');
      const [exit] = (await killAt(child, killed, moments[done % moments.length])) as [
        number | null,
      ];
      if (exit === null) died += 1;
    }
    killed.hear = () => {};
    const [last] = await once(start(dialect, killed.server, 'killed'), 'close');
    assert.equal(last, 0);

    const asked = submitted(undisturbed.server);
    process.stdout.write(
      `kill -9 in batches of ${dialect}: ${died} kills over ${count} problems, ${asked.length} requests in ${undisturbed.server.batches.length} batches undisturbed, ${submitted(killed.server).length} in ${killed.server.batches.length} killed\n`,
    );
    expect(died).toBe(kills);
    expect(asked.length).toBeGreaterThan(5 * count);
    expect(submitted(killed.server)).toEqual(asked);
    expect(dataset(dialect, 'killed')).toEqual(dataset(dialect, 'undisturbed'));
    expect(killed.server.account.inputTokens).toBe(undisturbed.server.account.inputTokens);
    for (const [name, { account }] of Object.entries({
      killed: killed.server,
      undisturbed: undisturbed.server,
    })) {
      const { calls, tokens, usd } = reportOf(dialect, name).spend;
      expect(calls, name).toBe(account.completionsServed);
      expect(tokens, name).toBe(account.inputTokens + account.outputTokens);
      expect(usd, name).toBeCloseTo(fullPrice(account) / 2, 12);
    }
    await Promise.all([undisturbed.server.close(), killed.server.close()]);
  }, 300_000);
});

/** What both models cost by themselves, in dollars: 0.10 for a million tokens read, 0.50 for those written. */
function fullPrice(account: Emulator['account']): number {
  const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens } = account;
  const plain = inputTokens - cachedTokens - cacheWriteTokens;
  const millionths =
    plain * 0.1 + cachedTokens * 0.01 + cacheWriteTokens * 0.125 + outputTokens * 0.5;
  return millionths / 1_000_000;
}

/** What was submitted, whatever the order: bodies and samples. */
function submitted({ batches }: Emulator): readonly string[] {
  return batches
    .flatMap(({ items }) => items)
    .map(({ customId, body }) => JSON.stringify([customId.replace(/^.*_s/, ''), body]))
    .toSorted();
}

function dataset(dialect: string, name: string): readonly (readonly [string, string])[] {
  const place = join(folder, `${dialect}-${name}`, 'data');
  const files = readdirSync(place, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.jsonl'))
    .toSorted()
    .map((file) => [file, readFileSync(join(place, file), 'utf8')]);
}

function reportOf(dialect: string, name: string) {
  const path = join(folder, `${dialect}-${name}`, 'report.json');
  return JSON.parse(readFileSync(path, 'utf8')) as {
    readonly spend: Readonly<Record<'calls' | 'tokens' | 'usd', number>>;
  };
}

function hash(text: string): number {
  let value = 2_166_136_261;
  for (const character of text) {
    value = Math.imul(value ^ character.charCodeAt(0), 16_777_619) >>> 0;
  }
  return value >>> 8;
}
