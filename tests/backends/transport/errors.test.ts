import { describe, expect, test } from 'vitest';
import {
  malformed,
  modelCallErrorFrom,
  type WireContext,
} from '../../../src/backends/transport/errors.ts';
import { HttpError } from '../../../src/backends/transport/exchange.ts';
import { EspalierError, ModelCallError } from '../../../src/index.ts';

const signal = new AbortController().signal;
const context: WireContext = {
  provider: 'maker',
  modelId: 'm-1',
  baseUrl: 'http://user:word@host:8000/v1?key=abcd1234',
  keyVariable: 'MAKER_KEY',
  secrets: ['abcd1234', undefined],
  signal,
};

interface Case {
  readonly about: string;
  readonly thrown: unknown;
  readonly kind: string;
  readonly message?: string;
  readonly retryable?: boolean;
  readonly charged?: boolean;
  readonly parameter?: string;
}

/** As servers answer: the status, and the body. */
function refused(status: number, body: unknown, headers: Record<string, string> = {}): HttpError {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new HttpError(new Response(null, { status, headers }), text);
}

/** As `fetch` throws it. */
function failed(code: string, message = code): TypeError {
  const cause = Object.assign(new Error(message), { code });
  return new TypeError('fetch failed', { cause });
}

const cases: readonly Case[] = [
  {
    about: 'a wrong key',
    thrown: refused(401, { error: { message: 'Incorrect API key provided: abcd1234.' } }),
    kind: 'auth',
    message:
      'maker:m-1 refuses the key (401: Incorrect API key provided: [hidden]). Check MAKER_KEY and what it may use.',
    retryable: false,
    charged: false,
  },
  {
    about: 'a key that may not',
    thrown: refused(403, { error: { message: 'No.' } }),
    kind: 'auth',
    retryable: false,
  },
  {
    about: 'too many requests',
    thrown: refused(429, { error: { message: 'Slow down.' } }),
    kind: 'rate-limit',
    message:
      'maker:m-1 allows no more requests for now (429: Slow down). Lower the concurrency, or wait.',
    retryable: true,
    charged: false,
  },
  {
    about: 'no credit',
    thrown: refused(429, { error: { message: 'Quota.', code: 'insufficient_quota' } }),
    kind: 'credit',
    message:
      "maker:m-1 has no credit left (429: Quota). Check the account's billing and its limits, then run again.",
    retryable: false,
  },
  {
    about: 'payment required',
    thrown: refused(402, { error: 'Pay.' }),
    kind: 'credit',
    message:
      "maker:m-1 has no credit left (402: Pay). Check the account's billing and its limits, then run again.",
    retryable: false,
  },
  {
    about: 'an overloaded server',
    thrown: refused(529, { error: { message: 'Overloaded' } }),
    kind: 'overloaded',
    message:
      'maker:m-1 at http://host:8000/v1 is busy or not ready (529: Overloaded). Try again later.',
    retryable: true,
    charged: false,
  },
  {
    about: 'a page of HTML with status 500',
    thrown: refused(500, '<html><body><h1>Oops</h1></body></html>'),
    kind: 'overloaded',
    message: 'maker:m-1 at http://host:8000/v1 is busy or not ready (500: Oops). Try again later.',
  },
  {
    about: 'a gateway that gave up',
    thrown: refused(502, ''),
    kind: 'overloaded',
    retryable: true,
    charged: true,
  },
  {
    about: 'a time-out of a gateway',
    thrown: refused(504, ''),
    kind: 'timeout',
    retryable: true,
    charged: true,
  },
  {
    about: 'a model that is loading',
    thrown: refused(503, {
      error: { code: 503, message: 'Loading model', type: 'unavailable_error' },
    }),
    kind: 'overloaded',
    retryable: true,
  },
  {
    about: "OpenAI's context overflow",
    thrown: refused(400, { error: { message: 'Too long', code: 'context_length_exceeded' } }),
    kind: 'context-length',
    message:
      'The request does not fit the context of maker:m-1 (400: Too long). Shorten it, or lower `maxTokens`.',
    retryable: false,
    charged: false,
  },
  {
    about: "vLLM's context overflow",
    thrown: refused(400, {
      error: {
        message: "This model's maximum context length is 8 tokens. However, you requested 9.",
      },
    }),
    kind: 'context-length',
  },
  {
    about: "llama-server's context overflow",
    thrown: refused(400, {
      error: {
        code: 400,
        message:
          'request (9 tokens) exceeds the available context size (8 tokens), try increasing it',
        type: 'exceed_context_size_error',
      },
    }),
    kind: 'context-length',
  },
  {
    about: "SGLang's error, at the top level",
    thrown: refused(400, { object: 'error', message: 'The input is odd.', code: 400 }),
    kind: 'bad-request',
    message: 'maker:m-1 does not understand the request (400: The input is odd).',
  },
  {
    about: 'an unknown model',
    thrown: refused(404, { error: { message: 'The model `m-1` does not exist.' } }),
    kind: 'bad-request',
    message:
      "maker:m-1 at http://host:8000/v1 does not know this model or path (404: The model `m-1` does not exist). Check the model's name, and whether the base URL ends as the server expects, usually with /v1.",
    retryable: false,
  },
  {
    about: 'an unsupported value',
    thrown: refused(400, {
      error: {
        message: "Unsupported value: 'temperature' does not support 0.2 with this model.",
        code: 'unsupported_value',
        param: 'temperature',
      },
    }),
    kind: 'capability',
    message:
      "maker:m-1 does not support something that was requested (400: Unsupported value: 'temperature' does not support 0.2 with this model).",
    retryable: false,
    charged: false,
    parameter: 'temperature',
  },
  {
    about: 'a parameter that only the text names',
    thrown: refused(400, { error: { message: "'top_p' is not supported here" } }),
    kind: 'capability',
    parameter: 'top_p',
  },
  {
    about: 'a parameter within another',
    thrown: refused(400, {
      error: { message: 'not supported', param: 'response_format.type' },
    }),
    kind: 'capability',
    parameter: 'response_format',
  },
  {
    about: 'more choices than llama-server has slots',
    thrown: refused(400, {
      error: { message: "Field 'n': Value must be between 1 <= value <= 2, but got 3" },
    }),
    kind: 'capability',
    parameter: 'n',
  },
  {
    about: "llama-server's refusal of a schema",
    thrown: refused(400, { error: { message: 'Failed to initialize samplers: ' } }),
    kind: 'capability',
    parameter: 'response_format',
  },
  ...[
    'The provided JSON schema contains features not supported by xgrammar.',
    'JSON schema conversion failed: Unrecognized schema',
    'failed to parse grammar',
    "Invalid schema for response_format 'answer': 'oneOf' is not permitted.",
  ].map((said) => ({
    about: `the refusal of a schema: ${said}`,
    thrown: refused(400, { error: { message: said } }),
    kind: 'capability' as const,
    parameter: 'response_format',
  })),
  {
    about: "OpenAI's refusal of the schema of a tool",
    thrown: refused(400, {
      error: { message: "Invalid schema for function 'add': no.", param: 'tools[0].parameters' },
    }),
    kind: 'capability',
    parameter: 'strict',
  },
  {
    about: "Anthropic's refusal of a prefill",
    thrown: refused(400, {
      error: { message: 'This model does not support assistant message prefill.' },
    }),
    kind: 'capability',
    parameter: 'continuation',
  },
  {
    about: "vLLM's refusal to continue what its template rewrites",
    thrown: refused(400, {
      error: {
        message:
          'continue_final_message is set but the final message does not appear in the chat after applying the chat template!',
      },
    }),
    kind: 'capability',
    parameter: 'continuation',
  },
  {
    about: "transformers' refusal of fields",
    thrown: refused(422, { detail: "Unused fields in the request: {'logprobs'}" }),
    kind: 'capability',
    message:
      "maker:m-1 does not support something that was requested (422: Unused fields in the request: {'logprobs'}).",
    parameter: 'logprobs',
  },
  {
    about: 'a thing that is not implemented',
    thrown: refused(501, { error: { message: 'This server does not support embeddings.' } }),
    kind: 'capability',
  },
  {
    about: 'a redirection',
    thrown: refused(301, '', { location: 'https://host/v1' }),
    kind: 'bad-request',
    message: 'maker:m-1 does not understand the request (301: it has moved to https://host/v1).',
  },
  {
    about: 'a host that refuses connections',
    thrown: failed('ECONNREFUSED'),
    kind: 'network',
    message:
      'maker:m-1 at http://host:8000/v1 cannot be reached (ECONNREFUSED fetch failed). Check the address, and that the server runs.',
    retryable: true,
    charged: false,
  },
  {
    about: 'a connection that breaks',
    thrown: new TypeError('terminated', {
      cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
    }),
    kind: 'network',
    retryable: true,
    charged: true,
  },
  {
    about: 'a certificate that nobody trusts',
    thrown: failed('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'),
    kind: 'network',
    message:
      "maker:m-1 at http://host:8000/v1 has no certificate that can be trusted (DEPTH_ZERO_SELF_SIGNED_CERT). Check whether the address begins with https:// or http://, or name the certificate's authority in NODE_EXTRA_CA_CERTS.",
    retryable: false,
  },
  {
    about: 'headers that do not come',
    thrown: failed('UND_ERR_HEADERS_TIMEOUT'),
    kind: 'timeout',
    retryable: true,
    charged: true,
  },
  {
    about: 'a time-out of our own',
    thrown: new DOMException('no whole answer within 50 ms', 'TimeoutError'),
    kind: 'timeout',
    message:
      'maker:m-1 at http://host:8000/v1 did not answer in time (no whole answer within 50 ms). Raise the time-out, or lower the load.',
  },
  {
    about: 'JSON that is none',
    thrown: new SyntaxError('Unexpected end of JSON input'),
    kind: 'malformed',
    message:
      'maker:m-1 answered with something that cannot be read (Unexpected end of JSON input).',
    retryable: true,
    charged: true,
  },
];

describe('errors of wires', () => {
  test.each(cases)('$about is of kind $kind', (given) => {
    const error = modelCallErrorFrom(given.thrown, context);
    if (!ModelCallError.isInstance(error)) throw error;
    expect(error.kind).toBe(given.kind);
    if (given.message !== undefined) expect(error.message).toBe(given.message);
    if (given.retryable !== undefined) expect(error.retryable).toBe(given.retryable);
    if (given.charged !== undefined) expect(error.charged).toBe(given.charged);
    expect(error.parameter).toBe(given.parameter);
    expect(`${error.message} ${error.stack}`).not.toMatch(/abcd1234|user:word/);
  });

  test('tell how long to wait, and the name of the request', () => {
    const headers = { 'retry-after': '3', 'x-request-id': 'req_1' };
    const error = modelCallErrorFrom(refused(429, '', headers), context);
    expect(error).toMatchObject({ status: 429, retryAfterMs: 3000, requestId: 'req_1' });
  });

  test('of our own pass as they are, also from within an SDK', () => {
    const own = new EspalierError('usage', 'Wrong.');
    expect(modelCallErrorFrom(own, context)).toBe(own);
    expect(modelCallErrorFrom(new Error('Connection error.', { cause: own }), context)).toBe(own);
  });

  test('are of kind aborted where the caller gave up', () => {
    const gone = { ...context, signal: AbortSignal.abort() };
    expect(modelCallErrorFrom(failed('ECONNRESET'), gone)).toMatchObject({
      kind: 'aborted',
      message: 'The call of maker:m-1 was abandoned.',
    });
  });

  test('show no more than a line of what was said', () => {
    const error = modelCallErrorFrom(refused(400, `a\n\n${'b'.repeat(300)}`), context);
    expect(error.message).toBe(
      `maker:m-1 does not understand the request (400: a ${'b'.repeat(197)}…).`,
    );
  });

  test('about replies that cannot be read hide keys, too', () => {
    expect(malformed(context, 'the words sk-verysecret123 and abcd1234')).toMatchObject({
      kind: 'malformed',
      message: 'maker:m-1 answered with the words [hidden] and [hidden].',
    });
  });
});
