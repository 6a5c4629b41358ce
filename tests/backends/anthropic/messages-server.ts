import { inspect } from 'node:util';
import { type AnthropicOptions, anthropic } from '../../../src/backends/index.ts';
import { ModelCallError } from '../../../src/base/errors.ts';
import type {
  GenerateRequest,
  Generation,
  LanguageModel,
  Message,
  ModelCall,
  ModelWarning,
  RateLimits,
} from '../../../src/contracts/language-model.ts';
import { manualClock } from '../../../src/testing/manual-clock.ts';

/** A request as it went over the wire. */
export interface Seen {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** What stands in for the server. */
export interface Stub {
  readonly fetch: typeof globalThis.fetch;
  readonly seen: readonly Seen[];
}

/** A `fetch` that gives these replies, one after the other; the last one for ever. */
export function stub(...replies: readonly (object | (() => Response | Promise<Response>))[]): Stub {
  const seen: Seen[] = [];
  return {
    seen,
    fetch: async (input, init) => {
      init?.signal?.throwIfAborted();
      const { headers, body } = init ?? {};
      seen.push({
        url: String(input),
        headers: new Headers(headers),
        body: JSON.parse(String(body)) as Record<string, unknown>,
      });
      const reply = replies[Math.min(seen.length, replies.length) - 1];
      if (typeof reply === 'function') return reply();
      return Response.json(reply ?? message('fine'), { headers: { 'request-id': 'req_7' } });
    },
  };
}

/** A reply of the Messages API. */
export function message(text: string, changes: object = {}): object {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5-5-20261001',
    content: [{ type: 'text', text, citations: null }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 12, output_tokens: 3 },
    ...changes,
  };
}

/** The events of a message whose text comes in these pieces, as `RawMessageStreamEvent` of the SDK names them. */
export function messageEvents(pieces: readonly string[]): readonly object[] {
  const usage = { input_tokens: 5, output_tokens: 1 };
  return [
    { type: 'message_start', message: message('', { content: [], stop_reason: null, usage }) },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...pieces.map((text) => ({
      ...{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ];
}

/** A reply that streams events. */
export function streamOf(events: readonly object[]): () => Response {
  return () =>
    new Response(
      events
        .map(
          (data) => `event: ${(data as { type: string }).type}\ndata: ${JSON.stringify(data)}\n\n`,
        )
        .join(''),
      { headers: { 'content-type': 'text/event-stream', 'request-id': 'req_3' } },
    );
}

/** An error of the Messages API. */
export function refusal(
  status: number,
  message: string,
  { type = 'some_error', headers = {} }: RefusalDetails = {},
): () => Response {
  return () =>
    Response.json(
      { type: 'error', error: { type, message }, request_id: 'req_9' },
      { status, headers: { 'request-id': 'req_9', ...headers } },
    );
}

interface RefusalDetails {
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The model of these tests, on a stub. */
export function modelOn({ fetch }: Stub, options: Partial<AnthropicOptions> = {}): LanguageModel {
  const model = 'claude-sonnet-5-5';
  const usual = {
    model,
    apiKey: 'sk-test-key-123456',
    fetch,
    retry: false,
    thoughtTokens: 0,
  } as const;
  return anthropic({ ...usual, ...options });
}

/** One user turn. */
export function user(content: string): Message {
  return { role: 'user', content };
}

/** What came of a call, and what was said on the way. */
export interface Asked {
  readonly generation: Generation;
  readonly warnings: readonly ModelWarning[];
  readonly limits: readonly RateLimits[];
  readonly further: readonly string[];
}

/** Asks a model. */
export async function ask(
  model: LanguageModel,
  request: Partial<GenerateRequest> = {},
  changes: Partial<ModelCall> = {},
): Promise<Asked> {
  const warnings: ModelWarning[] = [];
  const limits: RateLimits[] = [];
  const further: string[] = [];
  const call: ModelCall = {
    signal: new AbortController().signal,
    clock: manualClock({ auto: true }),
    warn: (warning) => void warnings.push(warning),
    limits: (limit) => void limits.push(limit),
    requestExtraCall: async (reason) => void further.push(reason),
    ...changes,
  };
  const generation = await model.generate({ messages: [user('Why?')], ...request }, call);
  return { generation, warnings, limits, further };
}

/** The error that a call comes to. */
export async function errorOf(asking: Promise<unknown>): Promise<ModelCallError> {
  const error = await asking.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!ModelCallError.isInstance(error)) throw new Error(`got ${inspect(error)}`);
  return error;
}
