import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { HubServer } from '../data/hub-server.ts';
import { build, espalier, fileIn, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();
const token = 'hf_secret0123456789';
const hub = new HubServer();

const tree = {
  question: 'What is 2 + 2?',
  reasoning_steps: {
    text: 'What is 2 + 2?',
    mc_value: 0.5,
    children: [
      { text: 'Four.', mc_value: 1 },
      { text: `Five ${'and five '.repeat(200_000)}.`, mc_value: 0 },
    ],
  },
};
const file = fileIn(folder, 'trees.jsonl', `${JSON.stringify(tree)}\n`);
const asked = ['export', file, '--from', 'omegaprm', '--push', 'me/rows'];

beforeAll(async () => {
  await build();
  await hub.start();
}, 60_000);
beforeEach(() => {
  hub.asked = [];
  hub.faults = {};
  vi.stubEnv('HF_TOKEN', token);
  vi.stubEnv('HF_ENDPOINT', `${hub.url}/`);
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => hub.stop());

test('an export is pushed to the server that HF_ENDPOINT names, a large file past the commit', async () => {
  hub.largeFrom = 1_000_000;
  const out = join(folder, 'pushed');
  const { code, stdout, stderr } = await espalier(...asked, '--out', out);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `Put on the Hub: ${hub.url}/datasets/me/rows\n`,
  });
  expect(stdout + stderr).not.toContain(token);

  const shard = readFileSync(join(out, 'omega-prm', 'train-00000-of-00001.jsonl'), 'utf8');
  expect(shard.length).toBeGreaterThan(hub.largeFrom);
  const stored = hub.asked.filter(({ method }) => method === 'PUT');
  expect(stored.map(({ body }) => body)).toEqual([shard]);
  // The storage is a server of its own, and its addresses are signed.
  expect(stored.map(({ authorization }) => authorization)).toEqual(['']);
  const commit = hub.asked.find(({ path }) => path.includes('/commit/'))?.body ?? '';
  const kinds = commit
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly key: string; readonly value: { path?: string } })
    .map(({ key, value }) => [key, value.path]);
  expect(kinds).toContainEqual(['file', 'README.md']);
  expect(kinds).toContainEqual(['lfsFile', 'omega-prm/train-00000-of-00001.jsonl']);
});

test('what the server refuses is told in one sentence without the token, and the dataset stays', async () => {
  hub.faults = {
    '/api/repos/create': (response) => {
      response.statusCode = 403;
      response.end(`no ${token}`);
    },
  };
  const out = join(folder, 'refused');
  const { code, stdout, stderr } = await espalier(...asked, '--out', out);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `The dataset was not uploaded to me/rows: the Hub answered with status 403, the access token may not write there. It stays in \`${out}\`; the same command pushes it again.\n`,
  });
  expect(stdout + stderr).not.toContain(token);
  expect(existsSync(join(out, 'README.md'))).toBe(true);
});
