import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openRun } from '../../src/runs/index.ts';
import { type Emulator, emulator } from '../../src/testing/index.ts';
import { espalier, fileIn, temporaryFolder } from '../cli/espalier.ts';
import { reported, sentencesIn } from './sentences.ts';
import { wrongCommands } from './wrong-commands.ts';

const secret = 'sk-do-not-print-this-0123456789';
// Without a Hugging Face token, and with a key that must not be seen.
const folder = temporaryFolder();
const run = join(folder, 'run');
const locked = join(folder, 'locked');
const data = join(folder, 'data');
let server: Emulator;
let held: { [Symbol.dispose](): void };

beforeAll(async () => {
  for (const name of ['ANTHROPIC_API_KEY', 'HF_TOKEN']) vi.stubEnv(name, undefined);
  for (const name of ['OPENAI_API_KEY', 'MISTRAL_API_KEY']) vi.stubEnv(name, secret);
  server = await emulator({ dialect: 'openai', models: ['m'], answer: () => 'ANSWER: 2' });
  const game = ['search', '--task', 'game24', '--input', '4 9 10 13', '--model', 'none'];
  await espalier(...game, '--simulations', '5', '--save', run);
  const problems = fileIn(folder, 'one.txt', '4 9 10 13\n');
  await espalier(
    ...['generate', '--problems', problems, '--task', 'game24', '--model', 'none'],
    ...['--simulations', '50', '--run', join(folder, 'many'), '--out', data],
  );
  mkdirSync(locked);
  held = openRun(locked);
});
afterAll(async () => {
  held[Symbol.dispose]();
  vi.unstubAllEnvs();
  await server.close();
});

const around = { folder, server: '', run, locked, dataset: data };
const uses = wrongCommands(around).map(([use], place) => [use, place] as const);

test.each(uses)('%s is refused in a sentence', async (_use, place) => {
  const wrong = wrongCommands({ ...around, server: server.url })[place];
  if (wrong === undefined) throw new Error('No such use.');
  const [use, args, names, expected = 2] = wrong;
  const before = server.requests.length;
  const { code, stdout, stderr } = await espalier(...args);
  // What was wrong only on the way stands in the report.
  const [, failure = stdout] = /^The search failed: (.*)$/m.exec(stdout) ?? [];
  const message = expected === 2 ? stderr : failure;
  const shown = [`${use}: \`${args.join(' ')}\``, message].map((cell) =>
    cell.replaceAll(folder, '.'),
  );
  reported('command line', ...shown);
  expect
    .soft({ code, nothing: expected === 2 ? stdout : stderr })
    .toEqual({ code: expected, nothing: '' });
  for (const name of names) expect.soft(message).toMatch(new RegExp(name));
  expect.soft(`${stdout}${stderr}`).not.toMatch(/^ +at /m);
  expect.soft(`${stdout}${stderr}`).not.toContain(secret);
  expect.soft(sentencesIn(message).length).toBeOneOf([1, 2]);
  if (expected === 2) expect.soft(server.requests).toHaveLength(before);
});
