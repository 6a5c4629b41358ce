import type { JsonValue } from '../../contracts/json.ts';

/**
 * A fault of an {@link Emulator}, as real servers have them. Faults without settings are plain names.
 *
 * Habits, which change the answer:
 *
 * - `ignores-n`: returns one choice, whatever `n` is.
 * - `rejects-n`: refuses `n` above 1 with a 400.
 * - `ignores-unknown-fields`: ignores unknown fields, as vLLM and others do anyway.
 * - `rejects-unknown-fields`: refuses unknown fields with a 400, as OpenAI and Anthropic do anyway.
 * - `ignores-seed`: samples as if there were no seed.
 * - `ignores-stop`: continues through stop texts.
 * - `ignores-max-tokens`: continues beyond the token limit.
 * - `ignores-logprobs`: leaves log-probabilities out.
 * - `ignores-schema`: answers in plain text although a schema was requested.
 * - `ignores-tool-choice`: decides freely whether to call a tool.
 * - `trailing-assistant-to-user`: treats a partial answer as a user turn, and starts a new answer.
 *
 * Refusals, before anything is generated:
 *
 * - `auth`: 401, whatever the key.
 * - `unknown-model`: 404, whatever the model.
 * - `no-credit`: the account has no credit left, in the dialect's own words: OpenAI 429, others 402.
 * - `overloaded`: 529.
 * - `server-error`: 500 with a page of HTML.
 * - `top-level-error`: 400 with the error at the top level of its body.
 * - `context-overflow`: 400 in the dialect's own words, whatever the length.
 * - `stall`: reads the request and never answers.
 *
 * For items of batches:
 *
 * - `expires`: the item is not answered within 24 hours. It costs nothing.
 *
 * Faults of a reply whose tokens were generated, and count:
 *
 * - `reset`: destroys the connection before the headers.
 * - `reset-midway`: destroys the connection after half of the body.
 * - `stall-midway`: sends half of the body and then nothing more.
 * - `cut-json`: ends the body in its middle, as if it were complete.
 * - `empty`: returns no choices.
 * - `empty-body`: sends an empty body.
 * - `missing-usage`: leaves out the usage.
 * - `invalid-utf8`: puts bytes that are not valid UTF-8 into the text.
 * - `wrong-content-type`: sends a page of HTML with status 200.
 * - `wrong-language`: sends an array instead of an object.
 */
export type Fault =
  | 'ignores-n'
  | 'rejects-n'
  | 'ignores-unknown-fields'
  | 'rejects-unknown-fields'
  | 'ignores-seed'
  | 'ignores-stop'
  | 'ignores-max-tokens'
  | 'ignores-logprobs'
  | 'ignores-schema'
  | 'ignores-tool-choice'
  | 'trailing-assistant-to-user'
  | 'auth'
  | 'unknown-model'
  | 'no-credit'
  | 'overloaded'
  | 'server-error'
  | 'top-level-error'
  | 'context-overflow'
  | 'stall'
  | 'expires'
  | 'reset'
  | 'reset-midway'
  | 'stall-midway'
  | 'cut-json'
  | 'empty'
  | 'empty-body'
  | 'missing-usage'
  | 'invalid-utf8'
  | 'wrong-content-type'
  | 'wrong-language'
  | {
      /** Refuses a parameter with a 400. */
      readonly kind: 'rejects-parameter';
      /** The field of the request's body. */
      readonly parameter: string;
    }
  | {
      /** Answers 503, with llama-server's body, until the model is loaded. */
      readonly kind: 'loading';
      /** The number of requests until it is loaded. */
      readonly requests: number;
    }
  | {
      /** Answers 429. */
      readonly kind: 'rate-limited';
      /** The wait that it asks for, in milliseconds. @defaultValue none */
      readonly retryAfterMs?: number;
      /**
       * How it asks: `retry-after` in seconds, rounded up; `retry-after-ms`; or `retry-after` as a date.
       *
       * @defaultValue `'seconds'`
       */
      readonly as?: 'seconds' | 'milliseconds' | 'date';
      /** The value of `x-should-retry`. @defaultValue the header is not sent */
      readonly shouldRetry?: boolean;
    }
  | {
      /** Answers a request to the Responses API with 200 and a response that failed. Nothing is generated. */
      readonly kind: 'fails-response';
      /** The code of the error, as in `invalid_prompt`. */
      readonly code: string;
    }
  | {
      /** Reports a wrong usage. */
      readonly kind: 'tells-usage';
      /** The fields of the dialect's usage that replace the true ones. */
      readonly usage: Readonly<Record<string, JsonValue>>;
    }
  | {
      /** Sends the pieces of a stream one by one, as a model writes them. */
      readonly kind: 'trickles';
      /** The delay before each piece, in milliseconds. */
      readonly everyMs: number;
    }
  | {
      /** Sends a reply that is mostly white space. Its tokens were generated, and count. */
      readonly kind: 'gigantic';
      /** The number of bytes of white space. */
      readonly bytes: number;
    };

/** The fault with this name, if it is among those given. */
export function faultOf<Kind extends FaultKind>(
  faults: readonly Fault[],
  kind: Kind,
): Extract<Fault, Kind | { readonly kind: Kind }> | undefined {
  return faults.find((fault) => (typeof fault === 'string' ? fault : fault.kind) === kind) as never;
}

/** The name of a fault. */
export type FaultKind = Extract<Fault, string> | Exclude<Fault, string>['kind'];

/** Whether a fault is among those given. */
export function hasFault(faults: readonly Fault[], kind: FaultKind): boolean {
  return faultOf(faults, kind) !== undefined;
}
