import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { readJournal } from '../../src/calls/journal-file.ts';
import { type Emulator, emulator } from '../../src/testing/index.ts';

// biome-ignore lint/style/noProcessEnv: `npm run verify:kills` asks for twenty
const kills = Number(process.env['ESPALIER_KILLS'] ?? 2);
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'espalier-kill-generate-'));
const problems = join(folder, 'problems.jsonl');
const random = seededRandom('kill generate');
let server: Emulator;
let asked = 0;

beforeAll(async () => {
  const lines = Array.from({ length: 40 }, (_, index) => ({
    id: `sum ${index}`,
    question: `What is ${index} + ${index}?`,
    answer: `${2 * index}`,
  }));
  writeFileSync(problems, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  server = await emulator({
    dialect: 'vllm',
    models: ['sums'],
    latencyMs: () => 5 + random.next() * 20,
    // Fixed by the conversation and the sample, whoever asks when.
    answer: ({ messages, sample }) => {
      if (sample === 0) asked += 1;
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
}, 60_000);
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function start(name: string): ChildProcess {
  const spec = `vllm:${server.url}#sums`;
  return spawn(
    process.execPath,
    [
      ...['dist/cli/main.js', 'generate', '--problems', problems, '--model', spec],
      ...['--run', join(folder, `run-${name}`), '--out', join(folder, name)],
      ...['--calls', '24', '--concurrency', '4', '--rule', 'agent-q,math-shepherd'],
      ...['--split', 'train=0.8,test=0.2'],
    ],
    { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
  );
}

test('generation killed again and again ends with the dataset of an undisturbed one', async () => {
  const [undisturbedCode] = (await once(start('undisturbed'), 'close')) as [number | null];
  assert.equal(undisturbedCode, 0);
  const undisturbed = asked;
  asked = 0;

  for (let done = 0; done < kills; done++) {
    const child = start('killed');
    const closed = once(child, 'close');
    const before = asked;
    while (child.exitCode === null && asked === before) await pause(2);
    await pause(random.next() * 150);
    child.kill('SIGKILL');
    const [code] = (await closed) as [number | null];
    assert.equal(code, null, `the run ended before kill ${done + 1}: make it longer`);
    // What the server had under way must not count for the next session.
    await pause(30);
  }
  const open = openCalls('killed');
  const [code] = (await once(start('killed'), 'close')) as [number | null];
  assert.equal(code, 0);

  process.stdout.write(
    `kill -9 of generate: ${kills} kills over 40 problems, ${undisturbed} calls undisturbed, ${open} open at the kills, ${asked} made\n`,
  );
  const files = dataFiles('undisturbed');
  expect(files.length).toBeGreaterThan(3);
  expect(dataFiles('killed')).toEqual(files);
  for (const file of files) {
    const [left, right] = ['undisturbed', 'killed'].map((name) =>
      readFileSync(join(folder, name, file)),
    );
    expect(right?.equals(left ?? Buffer.alloc(0)), file).toBe(true);
    expect(left?.length).toBeGreaterThan(1_000);
  }
  expect(asked).toBeLessThanOrEqual(undisturbed + open);
}, 180_000);

/** Files of rows; the card tells what was spent, and calls that a kill cut off cost too. */
function dataFiles(name: string): readonly string[] {
  return readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.jsonl'))
    .toSorted();
}

/** Calls that were started and whose result is not on disk; one that was started again counts each time. */
function openCalls(name: string): number {
  const journals = join(folder, `run-${name}`, 'journals');
  if (!existsSync(journals)) return 0;
  return readdirSync(journals)
    .flatMap((file) => [...readJournal(join(journals, file)).lines])
    .reduce((open, { type }) => {
      if (type === 'intent') return open + 1;
      return type === 'result' || type === 'failure' ? open - 1 : open;
    }, 0);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function hash(text: string): number {
  let value = 2_166_136_261;
  for (const character of text) {
    value = Math.imul(value ^ character.charCodeAt(0), 16_777_619) >>> 0;
  }
  return value >>> 8;
}
