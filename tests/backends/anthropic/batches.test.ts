import { expect, test } from 'vitest';
import { MessageBatches } from '../../../src/backends/anthropic/batches.ts';
import { openClient } from '../../../src/backends/anthropic/client.ts';
import { Line } from '../../../src/backends/transport/line.ts';
import { Sdk } from '../../../src/backends/transport/sdk.ts';

const at = Date.UTC(2026, 10, 22, 12);
const { signal } = new AbortController();
const batch = { key: 'espalier-1', at, names: ['espalier-1_0_s0', 'espalier-1_1_s0'] };

/** A batch as `MessageBatch` in resources/messages/batches.d.ts of the SDK has it. */
function listed(id: string, own: object = {}) {
  return {
    ...{ id, type: 'message_batch', processing_status: 'ended' },
    ...{ archived_at: null, cancel_initiated_at: null, ended_at: new Date(at).toISOString() },
    created_at: new Date(at + 1000).toISOString(),
    expires_at: new Date(at + 86_400_000).toISOString(),
    request_counts: { canceled: 0, errored: 0, expired: 0, processing: 0, succeeded: 2 },
    results_url: `http://127.0.0.1/v1/messages/batches/${id}/results`,
    ...own,
  };
}

/** What a server that has these batches says; results are told by name. */
function service(batches: readonly object[], names: Readonly<Record<string, string>> = {}) {
  const fetch: typeof globalThis.fetch = async (input) => {
    const { pathname, searchParams } = new URL(String(input));
    const [, id = ''] = /batches\/([^/]+)/.exec(pathname) ?? [];
    if (pathname.endsWith('/results')) {
      const lines = [0, 1].map((place) => ({
        custom_id: `${names[id]}_${place}_s0`,
        result: { type: 'expired' },
      }));
      const text = lines.map((line) => JSON.stringify(line)).join('\n');
      return new Response(text, { headers: { 'content-type': 'application/x-jsonl' } });
    }
    if (id !== '') {
      return Response.json(batches.find((each) => (each as { id: string }).id === id));
    }
    const after = searchParams.get('after_id');
    const from = batches.findIndex((each) => (each as { id: string }).id === after) + 1;
    const data = batches.slice(from, from + 2);
    return Response.json({
      data,
      has_more: from + 2 < batches.length,
      first_id: (data[0] as { id?: string } | undefined)?.id ?? null,
      last_id: (data.at(-1) as { id?: string } | undefined)?.id ?? null,
    });
  };
  const line = new Line({
    provider: 'anthropic',
    model: 'claude-haiku-5-5',
    apiKey: 'none',
    fetch,
  });
  const sdk = new Sdk(line, undefined, (own) => openClient({ apiKey: 'none' }, own));
  return new MessageBatches({ line, sdk, headers: {} });
}

test('a batch is known by the names of its requests, on whichever page of the list it is', async () => {
  const batches = ['a', 'b', 'c', 'd', 'e'].map((id) => listed(id));
  const names = { a: 'other', b: 'other', c: 'other', d: 'espalier-1', e: 'other' };
  expect(await service(batches, names).find(batch, signal)).toEqual({ id: 'd' });
});

test('a batch of another size, or one that is older, is not asked for its results', async () => {
  const counts = { canceled: 0, errored: 1, expired: 0, processing: 0, succeeded: 2 };
  const old = new Date(at - 90_000_000).toISOString();
  const batches = [listed('a', { request_counts: counts }), listed('b', { created_at: old })];
  const names = { a: 'espalier-1', b: 'espalier-1' };
  expect(await service(batches, names).find(batch, signal)).toBeUndefined();
});

test('while a batch of its size has not ended, nobody can tell', async () => {
  const going = listed('a', { processing_status: 'in_progress', results_url: null });
  expect(await service([going]).find(batch, signal)).toBe('later');
});

test('where the results of such a batch are not kept any more, it stops with a sentence', async () => {
  const archived = listed('a', { archived_at: new Date(at).toISOString(), results_url: null });
  await expect(service([archived]).find(batch, signal)).rejects.toMatchObject({
    code: 'unavailable',
    scope: 'run',
    message:
      'anthropic:claude-haiku-5-5 no longer has the results of the batch a, so it is unknown whether it belongs to this run and was paid for. Look it up at the provider, and use another run folder.',
  });
});
