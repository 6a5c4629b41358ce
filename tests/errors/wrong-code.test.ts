import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Emulator, emulator } from '../../src/testing/index.ts';
import { temporaryFolder } from '../cli/espalier.ts';
import { reported, sentencesIn } from './sentences.ts';
import { model, wrongCode } from './wrong-code.ts';

const folder = temporaryFolder();
let server: Emulator;

beforeAll(async () => {
  vi.stubEnv('ANTHROPIC_API_KEY', undefined);
  server = await emulator({ dialect: 'openai', models: ['m'], answer: () => 'ANSWER: 2' });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

const uses = wrongCode({ folder, server: '' }).map(([use], place) => [use, place] as const);

test.each(uses)('%s is refused in a sentence', async (_use, place) => {
  const wrong = wrongCode({ folder, server: server.url.replace(/\/v1$/, '') })[place];
  if (wrong === undefined) throw new Error('No such use.');
  const [use, make, names, expected = 'usage'] = wrong;
  let error: unknown = 'nothing was thrown';
  try {
    await make();
  } catch (thrown) {
    error = thrown;
  }
  const { code, message = String(error) } = error as {
    readonly code?: string;
    readonly message?: string;
  };
  reported('code', use, message.replaceAll(folder, '.'));
  expect.soft(code).toBe(expected);
  for (const name of names) expect.soft(message).toMatch(new RegExp(name));
  expect.soft(sentencesIn(message).length).toBeOneOf([1, 2]);
  expect.soft(model.requests).toHaveLength(0);
});
