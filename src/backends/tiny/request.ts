import { expectation, expectInteger, expectNumber, expectOneOf } from '../../base/expect.ts';
import { defaultMaxTokens } from '../../calls/operations/generate.ts';
import type { GenerateRequest, Message } from '../../contracts/language-model.ts';

/** A request that has been checked, in full and as plain data: what goes to the thread of the model. */
export interface TinyRequest {
  /** The conversation. */
  readonly messages: readonly Message[];
  /** How many samples. */
  readonly samples: number;
  /** The index of the first one. */
  readonly offset: number;
  /** The limit on the tokens of each. */
  readonly maxTokens: number;
  /** The temperature. */
  readonly temperature: number;
  /** The probability mass to draw from. */
  readonly topP: number | undefined;
  /** From how many of the likeliest tokens to draw. */
  readonly topK: number | undefined;
  /** Texts at which a sample ends. */
  readonly stop: readonly string[];
  /** The seed. */
  readonly seed: number;
  /** How many alternatives to tell for each token; `undefined` where no log-probabilities are wanted. */
  readonly topLogprobs: number | undefined;
}

/**
 * Checks a request and fills in what it leaves out.
 *
 * @throws EspalierError `usage` where something is out of its range.
 */
export function checkedRequest(request: GenerateRequest, seed: number): TinyRequest {
  const { samples = 1, offset = 0, maxTokens = defaultMaxTokens, temperature = 1 } = request;
  const { topP, topK, stop = [], logprobs = false, topLogprobs = 0 } = request;
  expectMessages(request.messages);
  expectInteger('samples', samples, { min: 1 });
  expectInteger('offset', offset, { min: 0 });
  expectInteger('maxTokens', maxTokens, { min: 1 });
  expectNumber('temperature', temperature, { min: 0 });
  if (topP !== undefined && !(topP > 0 && topP <= 1)) {
    throw expectation('topP', 'a number above 0, up to 1', topP);
  }
  if (topK !== undefined) expectInteger('topK', topK, { min: 1 });
  expectStops(stop);
  if (request.seed !== undefined) expectInteger('seed', request.seed);
  expectInteger('topLogprobs', topLogprobs, { min: 0, max: 20 });
  if (request.schema !== undefined) {
    throw expectation(
      'schema',
      'absent, because this model cannot be bound to one',
      request.schema,
    );
  }
  return {
    messages: request.messages.map(({ role, content }) => ({ role, content })),
    ...{ samples, offset, maxTokens, temperature, topP, topK },
    stop: [...stop],
    seed: request.seed ?? seed,
    topLogprobs: logprobs || topLogprobs > 0 ? topLogprobs : undefined,
  };
}

function expectMessages(messages: readonly Message[]): void {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw expectation('messages', 'an array of at least one message', messages);
  }
  for (const [place, { role, content }] of messages.entries()) {
    expectOneOf(`messages[${place}].role`, role, ['system', 'user', 'assistant']);
    if (typeof content !== 'string') {
      throw expectation(`messages[${place}].content`, 'a string', content);
    }
  }
}

function expectStops(stop: readonly string[]): void {
  if (!Array.isArray(stop)) throw expectation('stop', 'an array of strings', stop);
  for (const [place, text] of stop.entries()) {
    if (typeof text === 'string' && text !== '') continue;
    throw expectation(`stop[${place}]`, 'a string that is not empty', text);
  }
}
