import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { uploadDataset } from '../../src/data/upload-dataset.ts';

/** It lists one of the two configurations. */
const card = `---
configs:
- config_name: "dpo"
  data_files:
  - split: "train"
    path: "dpo/train-*.jsonl"
---
`;
const token = 'hf_secret0123456789';
const folder = mkdtempSync(join(tmpdir(), 'espalier-upload-'));
let server: Server;
let hubUrl = '';
let asked: { readonly path: string; readonly authorization: string; readonly body: string }[] = [];
/** What the server answers in place of what is right, by the beginning of the path. */
let faults: Readonly<Record<string, (response: ServerResponse) => void>> = {};

beforeAll(async () => {
  mkdirSync(join(folder, 'dpo', '.writing'), { recursive: true });
  writeFileSync(join(folder, 'README.md'), card);
  mkdirSync(join(folder, 'old'));
  writeFileSync(join(folder, 'old', 'train-00000-of-00001.jsonl'), '{}\n');
  writeFileSync(join(folder, 'dpo', 'train-00000-of-00009.jsonl.bak'), '{}\n');
  writeFileSync(join(folder, 'dpo', 'train-00000-of-00001.jsonl'), '{"prompt":"p"}\n');
  writeFileSync(join(folder, 'dpo', '.writing', 'half.jsonl'), '{');
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  hubUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  asked = [];
});
afterEach(() => {
  faults = {};
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await buffer(request)).toString('utf8');
  const path = request.url ?? '';
  asked.push({ path, authorization: request.headers.authorization ?? '', body });
  const fault = Object.entries(faults).find(([beginning]) => path.startsWith(beginning));
  if (fault !== undefined) {
    fault[1](response);
    return;
  }
  response.setHeader('content-type', 'application/json');
  if (path === '/api/repos/create') {
    response.end(JSON.stringify({ url: `${hubUrl}/datasets/me/rows`, id: '1', name: 'me/rows' }));
  } else if (path.includes('/preupload/')) {
    const { files } = JSON.parse(body) as { readonly files: readonly { readonly path: string }[] };
    const modes = files.map((file) => ({ ...file, uploadMode: 'regular', shouldIgnore: false }));
    response.end(JSON.stringify({ files: modes }));
  } else {
    response.end(
      JSON.stringify({ success: true, commitOid: 'a', commitUrl: `${hubUrl}/commit/a` }),
    );
  }
}

function refuse(status: number, message: string): (response: ServerResponse) => void {
  return (response) => {
    response.statusCode = status;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ error: message }));
  };
}

function upload(changes: Partial<Parameters<typeof uploadDataset>[0]> = {}): Promise<string> {
  return uploadDataset({ folder, repo: 'me/rows', token, hubUrl, ...changes });
}

test('puts the files into one commit of a private repository', async () => {
  expect(await upload()).toBe(`${hubUrl}/datasets/me/rows`);
  expect(asked.every(({ authorization }) => authorization === `Bearer ${token}`)).toBe(true);
  const [create, , commit] = asked;
  expect(JSON.parse(create?.body ?? '')).toMatchObject({ name: 'rows', organization: 'me' });
  expect(create?.body).toContain('private');
  const lines = (commit?.body ?? '')
    .trim()
    .split('\n')
    .map(
      (line) =>
        JSON.parse(line) as { readonly key: string; readonly value: Record<string, string> },
    );
  const files = lines.filter(({ key }) => key === 'file').map(({ value }) => value);
  expect(files.map(({ path }) => path)).toEqual(['README.md', 'dpo/train-00000-of-00001.jsonl']);
  expect(Buffer.from(files[1]?.['content'] ?? '', 'base64').toString()).toBe('{"prompt":"p"}\n');
  expect(commit?.path).toBe('/api/datasets/me/rows/commit/main');
  expect(asked.map(({ body }) => body).join('')).not.toContain(token);
});

test('goes on where the repository is there already', async () => {
  faults = { '/api/repos/create': refuse(409, 'You already created this dataset repo') };
  expect(await upload()).toBe(`${hubUrl}/datasets/me/rows`);
  expect(asked).toHaveLength(3);
});

test.each([
  ['/api/repos/create', 401, 'it does not know the access token'],
  ['/api/repos/create', 403, 'the access token may not write there'],
  ['/api/datasets/me/rows/preupload', 500, 'status 500.'],
  ['/api/datasets/me/rows/commit', 404, 'there is no such owner or branch'],
])('says what the Hub refused in words of its own: %s %d', async (path, status, reason) => {
  const echo = [token, Buffer.from(token).toString('base64'), token.slice(0, 12), '\u001b[31m'];
  faults = { [path]: refuse(status, `${echo.join(' ')} ${'x'.repeat(100_000)}`) };
  const error = await upload().then(
    () => undefined,
    (cause: unknown) => cause as Error & { readonly code?: string },
  );
  expect(error?.code).toBe('unavailable');
  expect(error?.message).toMatch(/^The dataset was not uploaded to me\/rows: .+\.$/);
  expect(error?.message).toContain(reason);
  for (const said of echo)
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(said);
  expect(error?.message.length).toBeLessThan(200);
});

test.each([
  ['/api/repos/create', 429],
  ['/api/datasets/me/rows/commit', 503],
])('waits where the Hub asks to: %s %d', async (path, status) => {
  let left = 2;
  faults = {
    [path]: (response) => {
      left -= 1;
      if (left === 0) faults = {};
      response.setHeader('retry-after', '0');
      refuse(status, 'slow')(response);
    },
  };
  expect(await upload()).toBe(`${hubUrl}/datasets/me/rows`);
  expect(asked.filter((request) => request.path.startsWith(path))).toHaveLength(3);
});

test('gives up where the Hub asks to wait for ever', async () => {
  faults = {
    '/api/repos/create': (response) => {
      response.setHeader('retry-after', '0');
      refuse(429, 'slow')(response);
    },
  };
  await expect(upload()).rejects.toThrow('too many requests');
  expect(asked).toHaveLength(5);
});

test.each([
  ['/api/repos/create', () => undefined],
  [
    '/api/repos/create',
    (response: ServerResponse) => {
      response.setHeader('retry-after', '50');
      refuse(429, 'slow')(response);
    },
  ],
])(
  'an abort ends a request that hangs, and a wait: %s',
  async (path, fault) => {
    faults = { [path]: fault };
    const controller = new AbortController();
    const going = upload({ signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 100);
    await expect(going).rejects.toThrow('enough');
  },
  3_000,
);

test('a connection that breaks is an error of one sentence', async () => {
  faults = { '/api/datasets/me/rows/commit': (response) => response.destroy() };
  await expect(upload()).rejects.toThrow(/^The dataset was not uploaded to me\/rows: .+\.$/);
});

test('an abort rejects with its reason', async () => {
  await expect(upload({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
    'enough',
  );
  expect(asked).toEqual([]);
});

test.each([
  [{ repo: 'rows' }, 'Expected `repo` to be owner/name, got `"rows"`.'],
  [{ repo: '../me/rows' }, 'Expected `repo` to be owner/name'],
  [{ token: ' ' }, 'Expected `token` to be an access token, got an empty text.'],
  [{ folder: join(folder, 'nowhere') }, '/nowhere` could not be used: '],
  [{ folder: join(folder, 'dpo') }, 'it has no README.md.'],
])('refuses %o', async (changes, message) => {
  await expect(upload(changes)).rejects.toThrow(message);
  expect(asked).toEqual([]);
});
