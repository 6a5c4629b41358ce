import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { uploadDataset } from '../../src/data/upload-dataset.ts';

const token = 'hf_secret0123456789';
const folder = mkdtempSync(join(tmpdir(), 'espalier-upload-'));
let server: Server;
let hubUrl = '';
let asked: { readonly path: string; readonly authorization: string; readonly body: string }[] = [];
/** What the server answers in place of what is right, by the beginning of the path. */
let faults: Readonly<Record<string, (response: ServerResponse) => void>> = {};

beforeAll(async () => {
  mkdirSync(join(folder, 'dpo', '.writing'), { recursive: true });
  writeFileSync(join(folder, 'README.md'), '# Rows\n');
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
  ['/api/repos/create', 401, 'Invalid username or password.'],
  ['/api/repos/create', 403, `You have no rights with ${token}`],
  ['/api/datasets/me/rows/preupload', 500, 'Internal error'],
  ['/api/datasets/me/rows/commit', 503, 'Service Unavailable'],
])('says what the Hub said, and never the token: %s %d', async (path, status, message) => {
  faults = { [path]: refuse(status, message) };
  const error = await upload().then(
    () => undefined,
    (reason: unknown) => reason as Error & { readonly code?: string },
  );
  expect(error?.code).toBe('unavailable');
  expect(error?.message).toMatch(/^The dataset was not uploaded to me\/rows: .+\.$/);
  expect(error?.message).toContain(message.replace(token, '…').replace(/\.$/, ''));
  expect(`${error?.message} ${error?.stack} ${JSON.stringify(error)}`).not.toContain(token);
  expect(error?.cause).toBeUndefined();
});

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
