import type { JsonValue } from '../../contracts/json.ts';

/**
 * Something that an {@link Emulator} does wrong, as real servers do. Those with nothing to set are words.
 *
 * Habits, which change what is answered:
 *
 * - `ignores-n`: gives one choice, whatever `n` says.
 * - `rejects-n`: refuses `n` above 1 with a 400.
 * - `ignores-unknown-fields`: takes no notice of fields it does not know, as vLLM and its like do anyway.
 * - `rejects-unknown-fields`: refuses fields it does not know with a 400, as OpenAI and Anthropic do anyway.
 * - `ignores-seed`: samples as if there were no seed.
 * - `ignores-stop`: writes on through stop texts.
 * - `ignores-max-tokens`: writes on beyond the limit of tokens.
 * - `ignores-logprobs`: leaves log-probabilities out.
 * - `ignores-schema`: answers in plain text where a schema was asked for.
 * - `ignores-tool-choice`: calls a tool only if it likes to, though told to.
 * - `trailing-assistant-to-user`: takes a partial answer for a turn of the user, and begins anew.
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
 * Of items of batches:
 *
 * - `expires`: is not answered within its 24 hours. It costs nothing.
 *
 * Faults of a reply whose tokens were generated, and count:
 *
 * - `reset`: destroys the connection before the headers.
 * - `reset-midway`: destroys the connection after half of the body.
 * - `stall-midway`: sends half of the body and falls silent.
 * - `cut-json`: ends the body in its middle, as if it were complete.
 * - `empty`: lists no choice.
 * - `empty-body`: sends no byte of a body.
 * - `missing-usage`: leaves the count of tokens out.
 * - `invalid-utf8`: puts bytes that are no UTF-8 into the text.
 * - `wrong-content-type`: sends a page of HTML with status 200.
 * - `wrong-language`: sends an array where an object is due.
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
      /** How many requests it takes. */
      readonly requests: number;
    }
  | {
      /** Answers 429. */
      readonly kind: 'rate-limited';
      /** How long it asks to wait, in milliseconds. @defaultValue it does not say */
      readonly retryAfterMs?: number;
      /**
       * How it says so: `retry-after` in seconds, rounded up; `retry-after-ms`; or `retry-after` as a date.
       *
       * @defaultValue `'seconds'`
       */
      readonly as?: 'seconds' | 'milliseconds' | 'date';
      /** Whether it says `x-should-retry`, and what. @defaultValue it does not say */
      readonly shouldRetry?: boolean;
    }
  | {
      /** Answers a request to the Responses API with 200 and a response that failed. Nothing is generated. */
      readonly kind: 'fails-response';
      /** The code of the error, as in `invalid_prompt`. */
      readonly code: string;
    }
  | {
      /** Tells another usage than the true one. */
      readonly kind: 'tells-usage';
      /** What it tells: fields of the dialect's own usage, which replace those of the same name. */
      readonly usage: Readonly<Record<string, JsonValue>>;
    }
  | {
      /** Sends the pieces of a stream one by one, as a model writes them. */
      readonly kind: 'trickles';
      /** How long it waits before each piece, in milliseconds. */
      readonly everyMs: number;
    }
  | {
      /** Sends a reply that is mostly white space. Its tokens were generated, and count. */
      readonly kind: 'gigantic';
      /** How many bytes of white space. */
      readonly bytes: number;
    };

/** The fault with this name, where it is among those given. */
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
