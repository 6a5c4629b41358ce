import { describe, expect, test } from 'vitest';
import { fetchWithin, replyText, telling } from '../../../src/backends/transport/reply-text.ts';
import { rejectionOf } from './stub-fetch.ts';

const { signal } = new AbortController();
const context = { provider: 'maker', modelId: 'm', signal };

/** A response that comes in these parts, and notes whether it was let go. */
function streamed(...parts: readonly Uint8Array[]) {
  const rest = [...parts];
  const state = { isCancelled: false };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = rest.shift();
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
    cancel() {
      state.isCancelled = true;
    },
  });
  return { response: new Response(body), state };
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe('the text of a reply', () => {
  test('is put together, characters that were cut in two included', async () => {
    const euro = bytes('€');
    const { response } = streamed(bytes('a'), euro.slice(0, 1), euro.slice(1), bytes('b'));
    expect(await replyText(response, { context, maxReplyBytes: 5 })).toBe('a€b');
  });

  test('is empty where there is none', async () => {
    expect(await replyText(new Response(null), { context, maxReplyBytes: 1 })).toBe('');
  });

  test('has a limit, in bytes, behind which nothing is read', async () => {
    const { response, state } = streamed(bytes('€'), bytes('ab'), bytes('never read'));
    const error = await rejectionOf(replyText(response, { context, maxReplyBytes: 4 }));
    expect(error).toMatchObject({
      kind: 'malformed',
      message: 'maker:m answered with more than 4 bytes, the limit of a reply.',
    });
    expect(state.isCancelled).toBe(true);
  });

  test.each([
    ['in its middle', [bytes('a'), new Uint8Array([0xff]), bytes('b')]],
    ['at its end', [bytes('a'), bytes('€').slice(0, 2)]],
  ])('has to be UTF-8, %s too', async (_where, parts) => {
    const { response } = streamed(...parts);
    expect(await rejectionOf(replyText(response, { context, maxReplyBytes: 99 }))).toMatchObject({
      kind: 'malformed',
      message: 'maker:m answered with bytes that are not UTF-8.',
    });
  });
});

describe('a fetch within limits', () => {
  test('hands out a whole reply, with its status and headers', async () => {
    const headers = { 'x-one': '1', 'content-type': 'text/plain' };
    const fetch = fetchWithin(async () => new Response('Hi', { status: 418, headers }), {
      context,
      maxReplyBytes: 9,
      learn: () => {},
    });
    const response = await fetch('http://host');
    expect([response.status, response.headers.get('x-one'), await response.text()]).toEqual([
      418,
      '1',
      'Hi',
    ]);
  });

  test('hands out a reply without a body', async () => {
    const fetch = fetchWithin(async () => new Response(null, { status: 204 }), {
      context,
      maxReplyBytes: 9,
      learn: () => {},
    });
    expect((await fetch('http://host')).status).toBe(204);
  });

  test('refuses one that is too large', async () => {
    const fetch = fetchWithin(async () => new Response('too large'), {
      ...{ context, maxReplyBytes: 3, learn: () => {} },
    });
    expect(await rejectionOf(fetch('http://host'))).toMatchObject({ kind: 'malformed' });
  });
});

describe('a stream of events, to an SDK', () => {
  const usual = { context, maxReplyBytes: 9, learn: () => {} };
  const events = (...parts: readonly Uint8Array[]) => {
    const { response, state } = streamed(...parts);
    const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
    return { state, response: new Response(response.body, { headers }) };
  };

  test('is handed on as it comes, with word of each part', async () => {
    let parts = 0;
    const { response } = events(bytes('data'), bytes(': 1'));
    const fetch = fetchWithin(async () => response, usual);
    const init = telling(() => void parts++).fetchOptions;
    const reply = await fetch('http://here', init);
    expect(parts).toBe(0);
    expect(await reply.text()).toBe('data: 1');
    expect(parts).toBe(2);
  });

  test('has the limits of any reply', async () => {
    const { response, state } = events(bytes('data: 1\n'), bytes('data: 2'), bytes('never read'));
    const reply = await fetchWithin(async () => response, usual)('http://here');
    expect(await rejectionOf(reply.text())).toMatchObject({ kind: 'malformed' });
    expect(state.isCancelled).toBe(true);
  });

  test('is let go where nobody wants more of it', async () => {
    const { response, state } = events(bytes('a'), bytes('b'), bytes('c'));
    const reply = await fetchWithin(async () => response, usual)('http://here');
    const reader = reply.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(state.isCancelled).toBe(true);
  });
});
