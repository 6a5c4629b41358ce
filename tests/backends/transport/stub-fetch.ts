import type { ModelCall, ModelWarning, RateLimits } from '../../../src/index.ts';
import { manualClock } from '../../../src/testing/index.ts';

/** A request as it was sent. */
export interface StubRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly redirect: string | undefined;
}

/** What is answered. */
export interface StubReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
}

type Answer = StubReply | Error | ((request: StubRequest) => StubReply | Error);

/** A `fetch` that gives these answers in turn, the last one again and again, and remembers the requests. */
export function stubFetch(...answers: readonly Answer[]): {
  readonly fetch: typeof globalThis.fetch;
  readonly requests: StubRequest[];
} {
  const requests: StubRequest[] = [];
  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    init.signal?.throwIfAborted();
    const request: StubRequest = {
      url: String(input),
      method: init.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      body: typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : undefined,
      redirect: init.redirect,
    };
    requests.push(request);
    const given = answers[Math.min(requests.length, answers.length) - 1];
    const answer = typeof given === 'function' ? given(request) : given;
    if (answer === undefined) throw new Error('The test has no answer for this request.');
    if (answer instanceof Error) throw answer;
    const { status = 200, headers = {}, json, text = JSON.stringify(json) } = answer;
    return new Response(text, {
      status,
      headers: { 'content-type': 'application/json', ...headers },
    });
  };
  return { fetch, requests };
}

/** A call that notes what it is told. */
export function notedCall(changes: Partial<ModelCall> = {}): ModelCall & {
  readonly warnings: ModelWarning[];
  readonly told: RateLimits[];
  readonly furthers: string[];
} {
  const warnings: ModelWarning[] = [];
  const told: RateLimits[] = [];
  const furthers: string[] = [];
  return {
    signal: new AbortController().signal,
    clock: manualClock({ auto: true }),
    warn: (warning) => void warnings.push(warning),
    limits: (limits) => void told.push(limits),
    async requestExtraCall(reason) {
      furthers.push(reason);
    },
    ...changes,
    warnings,
    told,
    furthers,
  };
}

/** What a promise is rejected with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome;
  throw new Error('It was not rejected with an error.');
}

/** A reply of Chat Completions with these texts. */
export function chatReply(...texts: readonly string[]): StubReply {
  return {
    json: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'served-1',
      choices: texts.map((content, index) => ({
        index,
        message: { role: 'assistant', content },
        finish_reason: 'stop',
      })),
      usage: { prompt_tokens: 10, completion_tokens: 2 * texts.length },
    },
  };
}
