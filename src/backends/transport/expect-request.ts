import { expectation, expectInteger, expectNumber } from '../../base/expect.ts';
import { expectMessages } from '../../base/expect-messages.ts';
import type { GenerateRequest } from '../../contracts/language-model.ts';

/**
 * Checks a request before anything is sent.
 *
 * @throws EspalierError `usage` if something is out of range.
 */
export function expectRequest(request: GenerateRequest): void {
  const { samples, offset, maxTokens, temperature, topP, topK, seed, topLogprobs } = request;
  const { messages } = request;
  if (!Array.isArray(messages) || messages.length === 0) {
    throw expectation('messages', 'an array of at least one message', messages);
  }
  expectMessages(messages);
  if (samples !== undefined) expectInteger('samples', samples, { min: 1 });
  if (offset !== undefined) expectInteger('offset', offset, { min: 0 });
  if (maxTokens !== undefined) expectInteger('maxTokens', maxTokens, { min: 1 });
  if (temperature !== undefined) expectNumber('temperature', temperature, { min: 0 });
  if (topP !== undefined && !(topP > 0 && topP <= 1)) {
    throw expectation('topP', 'a number above 0, up to 1', topP);
  }
  if (topK !== undefined) expectInteger('topK', topK, { min: 1 });
  if (seed !== undefined) expectInteger('seed', seed);
  if (topLogprobs !== undefined) expectInteger('topLogprobs', topLogprobs, { min: 0, max: 20 });
  expectStops(request.stop);
}

function expectStops(stop: readonly string[] | undefined): void {
  if (stop === undefined) return;
  if (!Array.isArray(stop)) throw expectation('stop', 'an array of strings', stop);
  for (const [place, text] of stop.entries()) {
    if (typeof text === 'string' && text !== '') continue;
    throw expectation(`stop[${place}]`, 'a string that is not empty', text);
  }
}
