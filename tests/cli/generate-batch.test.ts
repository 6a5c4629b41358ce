import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Emulator, emulator } from '../../src/testing/index.ts';
import { build, espalier, fileIn, start, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();
const model = 'openai:gpt-6-luna';
let server: Emulator;
let problems: string;
/** The time of the server, and how far it goes on each time that the server looks at it, in milliseconds. */
let time = Date.now();
let pace = 0;

beforeAll(async () => {
  await build();
  server = await emulator({
    dialect: 'openai',
    models: ['gpt-6-luna'],
    batchMs: 3_600_000,
    now: () => (time += pace),
    answer: ({ sample }) => `The answer is ${2 + (sample % 2)}.`,
  });
  vi.stubEnv('OPENAI_API_KEY', 'none');
  vi.stubEnv('OPENAI_BASE_URL', `${server.url}/v1`);
  const lines = ['a', 'b', 'c'].map((id) => ({ id, question: `What of ${id}?`, answer: '2' }));
  problems = fileIn(folder, 'problems.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'));
}, 60_000);
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

function options(name: string, ...more: readonly string[]): readonly string[] {
  const place = ['--run', join(folder, `run-${name}`), '--out', join(folder, name)];
  const how = ['--algorithm', 'best-of-n', '--calls', '4', '--rule', 'unpaired-ends'];
  return ['generate', '--problems', problems, '--model', model, ...place, ...how, ...more];
}

test('Ctrl-C leaves the batch at its provider, and the same command goes on with it', async () => {
  const command = options('interrupted', '--batch', '--budget-usd', '1');
  const { process: child, finished } = start(...command);
  while (server.batches.length === 0) await sleep(20);
  child.kill('SIGINT');
  // Its time stands still: whoever waited for the batch would wait for ever.
  const first = await finished;
  expect(first.stdout).toContain(
    'Searched 3 problems: 0 trees grown, 0 of them solved; ended by Ctrl-C.',
  );
  expect(first.stdout).toContain('3 trees still to be grown: the same command goes on.');
  expect(first.code).toBe(130);
  pace = 3_600_000;
  const second = await espalier(...command, '--json');
  expect(second.stderr).toBe('');
  // No sample made a step: there are no rows.
  expect(second.code).toBe(1);
  const items = server.batches.flatMap((batch) => batch.items);
  const asked = items.map(({ customId, body }) => [customId.replace(/.*_s/, ''), body]);
  expect(items.length).toBeGreaterThanOrEqual(12);
  expect(new Set(asked.map((each) => JSON.stringify(each))).size).toBe(items.length);
  const { inputTokens, outputTokens } = server.account;
  const { spend } = JSON.parse(second.stdout) as { spend: { usd: number; tokens: number } };
  expect(spend.tokens).toBe(inputTokens + outputTokens);
  expect(spend.usd).toBeCloseTo((inputTokens * 0.1 + outputTokens * 0.5) / 2e6, 12);
});

test('a run with batches is no run without, and the other way round', async () => {
  await espalier(...options('alone'));
  const { code, stderr } = await espalier(...options('alone', '--batch'));
  expect(stderr).toContain(
    'it was made without `--batch`, this command has it. Take another `--run`.',
  );
  expect(code).toBe(2);
  await espalier(...options('together', '--batch', '--batch-deadline', '0'));
  const other = await espalier(...options('together'));
  expect(other.stderr).toContain(
    'it was made with `--batch`, this command has none. Take another `--run`.',
  );
  const run = readFileSync(join(folder, 'run-together', 'run.json'), 'utf8');
  expect(JSON.parse(run)).toMatchObject({ batch: true });
});

test.each([
  [['--batch', '--ms', '9'], 'Expected no `--ms` beside `--batch`'],
  [['--batch-deadline', '9'], 'Expected `--batch-deadline` beside `--batch`.'],
  [
    ['--batch', '--model', 'vllm:http://127.0.0.1:9/v1#m'],
    'Expected `--model` to be one whose provider takes batches (openai:MODEL or anthropic:MODEL) beside `--batch`, got vllm:m.',
  ],
])('%j is refused before anything is asked', async (more, message) => {
  const before = server.requests.length;
  const { code, stderr } = await espalier(...options('refused', ...more));
  expect(stderr).toContain(message);
  expect(code).toBe(2);
  expect(server.requests).toHaveLength(before);
});
