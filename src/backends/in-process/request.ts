import { expectOneOf } from '../../base/expect.ts';
import { defaultMaxTokens } from '../../calls/operations/generate.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest, Message } from '../../contracts/language-model.ts';
import { expectRequest } from '../transport/expect-request.ts';

/** A checked request, complete and as plain data, for the thread of the model. */
export interface InProcessRequest {
  readonly messages: readonly Message[];
  readonly samples: number;
  /** The index of the first sample. */
  readonly offset: number;
  /** The maximum tokens of each sample. */
  readonly maxTokens: number;
  readonly temperature: number;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  /** Texts at which a sample ends. */
  readonly stop: readonly string[];
  readonly seed: number;
  /** The number of alternatives reported per token; `undefined` if no log-probabilities are requested. */
  readonly topLogprobs: number | undefined;
  /** The schema that the text must satisfy. */
  readonly schema: JsonValue | undefined;
}

/**
 * Checks a request and fills in what it leaves out.
 *
 * @throws EspalierError `usage` if something is out of range.
 */
export function checkedRequest(request: GenerateRequest, seed: number): InProcessRequest {
  const { samples = 1, offset = 0, maxTokens = defaultMaxTokens, temperature = 1 } = request;
  const { topP, topK, stop = [], logprobs = false, topLogprobs = 0, schema } = request;
  expectRequest(request);
  for (const [place, { role }] of request.messages.entries()) {
    expectOneOf(`messages[${place}].role`, role, ['system', 'user', 'assistant']);
  }
  return {
    messages: request.messages.map(({ role, content }) => ({ role, content })),
    ...{ samples, offset, maxTokens, temperature, topP, topK, schema },
    stop: [...stop],
    seed: request.seed ?? seed,
    topLogprobs: logprobs || topLogprobs > 0 ? topLogprobs : undefined,
  };
}
