import { expectFunction, wrongResult } from '../base/expect.ts';
import { expectCapabilities } from '../base/expect-capabilities.ts';
import { expectOptions } from '../base/expect-options.ts';
import type {
  Capabilities,
  Completion,
  GenerateRequest,
  Generation,
  LanguageModel,
  ModelCall,
  Usage,
} from '../contracts/language-model.ts';

/** Options of {@link scriptedModel}. */
export interface ScriptedModelOptions {
  /**
   * The answer to a request. `index` is the index of the sample: `request.offset` for the first. If it throws, the call
   * fails.
   */
  readonly answer: (request: GenerateRequest, index: number) => string | Completion;
  /**
   * The latency of a call, in milliseconds on the search's clock; `call` counts calls from 0.
   *
   * @defaultValue none
   */
  readonly latencyMs?: number | ((request: GenerateRequest, call: number) => number);
  /** Its capabilities. @defaultValue several completions per request */
  readonly capabilities?: Capabilities;
  /** The usage of a request. @defaultValue one token per four characters, rounded up */
  readonly usage?: (request: GenerateRequest, completions: readonly Completion[]) => Usage;
  /** Its provider. @defaultValue `'scripted'` */
  readonly provider?: string;
  /** Its model id, also used for prices. @defaultValue `'script'` */
  readonly modelId?: string;
}

/** A scripted model that records its requests. */
export interface ScriptedModel extends LanguageModel {
  /** All requests, in order of arrival. */
  readonly requests: readonly GenerateRequest[];
  /** The number of completions returned. */
  readonly completions: number;
  /** The number of calls in flight. */
  readonly inFlight: number;
  /** The maximum number of concurrent calls so far. */
  readonly mostInFlight: number;
  /** The number of aborted calls. */
  readonly aborted: number;
}

/**
 * A model that answers from a function.
 *
 * @example
 * ```ts
 * const model = scriptedModel({ answer: ({ messages }) => messages.at(-1)?.content ?? '' });
 * ```
 */
export function scriptedModel(options: ScriptedModelOptions): ScriptedModel {
  expectOptions('scriptedModel', options, 'answer latencyMs capabilities usage provider modelId');
  const { answer, latencyMs, usage = tokensOf } = options;
  const { capabilities = { n: true }, provider = 'scripted', modelId = 'script' } = options;
  expectFunction('answer', answer);
  expectCapabilities('capabilities', capabilities);
  const requests: GenerateRequest[] = [];
  let completions = 0;
  let inFlight = 0;
  let mostInFlight = 0;
  let aborted = 0;

  async function respond(request: GenerateRequest, call: ModelCall): Promise<Generation> {
    const number = requests.push(request) - 1;
    const latency = typeof latencyMs === 'function' ? latencyMs(request, number) : latencyMs;
    if (latency !== undefined) await call.clock.sleep(latency, call.signal);
    const { samples = 1, offset = 0 } = request;
    const answers = Array.from({ length: samples }, (_, place) =>
      completionOf(answer(request, offset + place)),
    );
    completions += samples;
    return { completions: answers, usage: usage(request, answers) };
  }

  return {
    provider,
    modelId,
    capabilities,
    requests,
    get completions() {
      return completions;
    },
    get inFlight() {
      return inFlight;
    },
    get mostInFlight() {
      return mostInFlight;
    },
    get aborted() {
      return aborted;
    },
    async generate(request, call) {
      mostInFlight = Math.max(mostInFlight, ++inFlight);
      try {
        return await respond(request, call);
      } catch (error) {
        if (call.signal.aborted) aborted++;
        throw error;
      } finally {
        inFlight--;
      }
    },
  };
}

function completionOf(answer: string | Completion): Completion {
  if (typeof answer === 'string') return { text: answer, finishReason: 'stop' };
  if (typeof Object(answer).text === 'string') return answer;
  throw wrongResult('answer', answer, { returns: 'a text or a completion', scope: 'item' });
}

function tokensOf({ messages }: GenerateRequest, completions: readonly Completion[]): Usage {
  const read = messages.reduce((sum, { content }) => sum + Math.ceil(content.length / 4), 0);
  const written = completions.reduce((sum, { text }) => sum + Math.ceil(text.length / 4), 0);
  return { inputTokens: read, outputTokens: written };
}
