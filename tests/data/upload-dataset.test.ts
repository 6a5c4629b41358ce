import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { uploadDataset } from '../../src/data/upload-dataset.ts';
import { HubServer } from './hub-server.ts';

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
const hub = new HubServer();

beforeAll(async () => {
  mkdirSync(join(folder, 'dpo', '.writing'), { recursive: true });
  writeFileSync(join(folder, 'README.md'), card);
  mkdirSync(join(folder, 'old'));
  writeFileSync(join(folder, 'old', 'train-00000-of-00001.jsonl'), '{}\n');
  writeFileSync(join(folder, 'dpo', 'train-00000-of-00009.jsonl.bak'), '{}\n');
  writeFileSync(join(folder, 'dpo', 'train-00000-of-00001.jsonl'), '{"prompt":"p"}\n');
  writeFileSync(join(folder, 'dpo', '.writing', 'half.jsonl'), '{');
  await hub.start();
});
beforeEach(() => {
  hub.asked = [];
});
afterEach(() => {
  hub.faults = {};
});
afterAll(() => {
  hub.stop();
  rmSync(folder, { recursive: true, force: true });
});

function refuse(status: number, message: string): (response: ServerResponse) => void {
  return (response) => {
    response.statusCode = status;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ error: message }));
  };
}

function upload(changes: Partial<Parameters<typeof uploadDataset>[0]> = {}): Promise<string> {
  return uploadDataset({ folder, repo: 'me/rows', token, hubUrl: hub.url, ...changes });
}

test('puts the files into one commit of a private repository', async () => {
  expect(await upload()).toBe(`${hub.url}/datasets/me/rows`);
  expect(hub.asked.every(({ authorization }) => authorization === `Bearer ${token}`)).toBe(true);
  const [create, , commit] = hub.asked;
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
  expect(hub.asked.map(({ body }) => body).join('')).not.toContain(token);
});

test('goes on where the repository is there already', async () => {
  hub.faults = { '/api/repos/create': refuse(409, 'You already created this dataset repo') };
  expect(await upload()).toBe(`${hub.url}/datasets/me/rows`);
  expect(hub.asked).toHaveLength(3);
});

test.each([
  ['/api/repos/create', 401, 'it does not know the access token'],
  ['/api/repos/create', 403, 'the access token may not write there'],
  ['/api/datasets/me/rows/preupload', 500, 'status 500.'],
  ['/api/datasets/me/rows/commit', 404, 'there is no such owner or branch'],
])('says what the Hub refused in words of its own: %s %d', async (path, status, reason) => {
  const echo = [token, Buffer.from(token).toString('base64'), token.slice(0, 12), '\u001b[31m'];
  hub.faults = { [path]: refuse(status, `${echo.join(' ')} ${'x'.repeat(100_000)}`) };
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
  hub.faults = {
    [path]: (response) => {
      left -= 1;
      if (left === 0) hub.faults = {};
      response.setHeader('retry-after', '0');
      refuse(status, 'slow')(response);
    },
  };
  expect(await upload()).toBe(`${hub.url}/datasets/me/rows`);
  expect(hub.asked.filter((request) => request.path.startsWith(path))).toHaveLength(3);
});

test('gives up where the Hub asks to wait for ever', async () => {
  hub.faults = {
    '/api/repos/create': (response) => {
      response.setHeader('retry-after', '0');
      refuse(429, 'slow')(response);
    },
  };
  await expect(upload()).rejects.toThrow('too many requests');
  expect(hub.asked).toHaveLength(5);
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
    hub.faults = { [path]: fault };
    const controller = new AbortController();
    const going = upload({ signal: controller.signal });
    globalThis.setTimeout(() => controller.abort(new Error('enough')), 100);
    await expect(going).rejects.toThrow('enough');
  },
  3_000,
);

test('a connection that breaks is an error of one sentence', async () => {
  hub.faults = { '/api/datasets/me/rows/commit': (response) => response.destroy() };
  await expect(upload()).rejects.toThrow(/^The dataset was not uploaded to me\/rows: .+\.$/);
});

test('a Hub that falls silent is left after the last byte, and one that goes on is not', async () => {
  hub.faults = { '/api/datasets/me/rows/commit': () => {} };
  await expect(upload({ timeoutMs: 200 })).rejects.toThrow(
    /^The dataset was not uploaded to me\/rows: the Hub was silent for 0\.2 s\.$/,
  );
  const begins: HubServer['faults'] = {
    '/api/datasets/me/rows/commit': (response) => response.write('{"success":'),
  };
  hub.faults = begins;
  await expect(upload({ timeoutMs: 200 })).rejects.toThrow('was silent');

  hub.faults = {
    '/api/datasets/me/rows/commit': (response) => {
      const pieces = '{"success":true,"commitOid":"a","commitUrl":"u"}'.match(/.{1,5}/g) ?? [];
      const timer = setInterval(() => {
        const piece = pieces.shift();
        if (piece !== undefined) response.write(piece);
        else {
          clearInterval(timer);
          response.end();
        }
      }, 200);
    },
  };
  const start = performance.now();
  expect(await upload({ timeoutMs: 1500 })).toBe(`${hub.url}/datasets/me/rows`);
  expect(performance.now() - start).toBeGreaterThan(1500);
});

test('a large file may take its time, piece by piece', async () => {
  writeFileSync(join(folder, 'dpo', 'train-00000-of-00001.jsonl'), '{"prompt":"p"}\n'.repeat(1e5));
  hub.largeFrom = 1_000_000;
  let bytes = 0;
  const slow: typeof fetch = async (input, init) => {
    if (init?.method === 'PUT' && init.body instanceof Blob) {
      for await (const piece of init.body.stream()) {
        bytes += piece.length;
        init.signal?.throwIfAborted();
        await setTimeout(60);
      }
    }
    return fetch(input, init);
  };
  const start = performance.now();
  expect(await upload({ timeoutMs: 1000, fetch: slow })).toBe(`${hub.url}/datasets/me/rows`);
  expect(performance.now() - start).toBeGreaterThan(1000);
  expect(bytes).toBe(1.5e6);
  expect(hub.asked.find(({ method }) => method === 'PUT')?.body.length).toBe(1.5e6);
});

test.each(['{}', '{"success":false}'])(
  'an answer %s to the commit is no upload',
  async (answer) => {
    hub.faults = { '/api/datasets/me/rows/commit': (response) => response.end(answer) };
    await expect(upload()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('names no commit'),
    });
  },
);

test('an answer that does not end is not read for ever', async () => {
  let pieces = 0;
  hub.faults = {
    '/api/repos/create': (response) => {
      const more = () => {
        pieces += 1;
        if (pieces < 200 && !response.destroyed) response.write(Buffer.alloc(1 << 20, ' '), more);
        else response.end('{}');
      };
      more();
    },
  };
  await expect(upload()).rejects.toMatchObject({ code: 'unavailable' });
  expect(pieces).toBeLessThan(150);
});

test('an abort rejects with its reason', async () => {
  await expect(upload({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
    'enough',
  );
  expect(hub.asked).toEqual([]);
});

test.each([
  [{ repo: 'rows' }, 'Expected `repo` to be owner/name, got `"rows"`.'],
  [{ repo: '../me/rows' }, 'Expected `repo` to be owner/name'],
  [{ token: ' ' }, 'Expected `token` to be an access token, got an empty text.'],
  [{ folder: join(folder, 'nowhere') }, '/nowhere` could not be used: '],
  [{ folder: join(folder, 'dpo') }, 'it has no README.md.'],
])('refuses %o', async (changes, message) => {
  await expect(upload(changes)).rejects.toThrow(message);
  expect(hub.asked).toEqual([]);
});
