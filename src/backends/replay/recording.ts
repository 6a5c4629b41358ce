import { asRead } from '../../base/as-read.ts';
import { canonicalJson, contentAddress } from '../../base/canonical-json.ts';
import { EspalierError, ModelCallError } from '../../base/errors.ts';
import { isOfTools } from '../../base/tools-in-words.ts';
import type { JournalLine, LineOf } from '../../calls/journal-lines.ts';
import { addressOfPrompt } from '../../calls/operations/count.ts';
import { sumOfUsages } from '../../calls/usage.ts';
import type {
  Capabilities,
  Completion,
  GenerateRequest,
  Generation,
  Usage,
} from '../../contracts/language-model.ts';

/** One recorded sample, or its failure. */
type Sample =
  | {
      readonly completion: Completion;
      readonly generation: Generation;
      /** Its position in the request that bought it. */
      readonly place: number;
    }
  | { readonly failure: string; readonly isUnavailable: boolean };

/** The usage of all samples but the first: that of a request is reported with its first sample. */
const toldBefore: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** The recording of one model. */
export class Recording {
  /** The model, as `provider:modelId`. */
  readonly name: string;
  readonly #samples = new Map<string, Sample>();
  readonly #counts = new Map<string, number>();
  #capabilities: Capabilities = {};

  constructor(name: string) {
    this.name = name;
  }

  /** Its provider. */
  get provider(): string {
    return this.name.slice(0, Math.max(0, this.name.indexOf(':')));
  }

  /** Its name there. */
  get modelId(): string {
    return this.name.slice(this.name.indexOf(':') + 1);
  }

  /** The capabilities that its recorded requests used. */
  get capabilities(): Capabilities {
    return this.#capabilities;
  }

  /** Whether the model could count tokens. */
  get counts(): boolean {
    return this.#counts.size > 0;
  }

  /** The recorded token count of a prompt. A prompt that was never requested costs nothing, because it fails. */
  count(request: GenerateRequest): number {
    return this.#counts.get(addressOfPrompt(request)) ?? 1;
  }

  /** Adds a recorded token count. */
  addCount({ request }: LineOf<'intent'>, end: LineOf<'failure' | 'result'>): void {
    if (end.type !== 'result' || typeof end.output !== 'number') return;
    this.#counts.set(String(request), end.output);
  }

  /** Adds a recorded call. A successful sample is kept, whatever failed later. */
  add(intent: LineOf<'intent'>, end: LineOf<'failure' | 'result'>): void {
    const [first, count] = intent.samples ?? [0, 1];
    const request = intent.request as unknown as GenerateRequest;
    const address = addressOf(request);
    if (end.type === 'failure') {
      const { message: failure, unavailable: isUnavailable = false } = end;
      for (let index = first; index < first + count; index++) {
        const key = `${address}#${index}`;
        if (!this.#samples.has(key)) this.#samples.set(key, { failure, isUnavailable });
      }
      return;
    }
    const generation = end.output as unknown as Generation;
    this.#capabilities = { ...this.#capabilities, ...askedOf(request, count) };
    for (const [place, completion] of generation.completions.entries()) {
      this.#samples.set(`${address}#${first + place}`, { completion, generation, place });
    }
  }

  /** The samples of a request. */
  play(
    content: Omit<GenerateRequest, 'samples' | 'offset'>,
    [first, count]: readonly [number, number],
  ): Generation {
    const address = addressOf(content);
    const samples = Array.from({ length: count }, (_, place) => {
      const index = first + place;
      const sample = this.#samples.get(`${address}#${index}`);
      if (sample === undefined) throw this.#unrecorded(index);
      if ('failure' in sample) throw failed(sample);
      return sample;
    });
    const { answeredBy } = samples[0]?.generation ?? {};
    // The recorded charge is not charged again.
    const { usd: _, ...usage } = sumOfUsages(
      samples.map(({ generation, place }) => (place === 0 ? generation.usage : toldBefore)),
    );
    return {
      completions: samples.map(({ completion }) => structuredClone(completion)),
      usage,
      fromCache: true,
      ...(answeredBy !== undefined && { answeredBy }),
    };
  }

  #unrecorded(index: number): EspalierError {
    return new EspalierError(
      'unrecorded',
      `The journal does not contain sample ${index} of this request to ${this.name}; a replay makes no new calls.`,
    );
  }
}

/** The recording of each model in a journal, in the order of their first answers. */
export function recordingsOf(lines: Iterable<JournalLine>): readonly Recording[] {
  const recordings = new Map<string, Recording>();
  for (const [intent, end] of callsIn(lines)) {
    const recording = recordings.get(intent.name) ?? new Recording(intent.name);
    recordings.set(intent.name, recording);
    if (intent.kind === 'count') recording.addCount(intent, end);
    else recording.add(intent, end);
  }
  return [...recordings.values()];
}

/** The completed calls of language models. */
function* callsIn(
  lines: Iterable<JournalLine>,
): Generator<[LineOf<'intent'>, LineOf<'failure' | 'result'>], void, undefined> {
  const asked = new Map<string, LineOf<'intent'>>();
  for (const line of lines) {
    if (line.type === 'intent' && ['generate', 'count'].includes(line.kind)) {
      asked.set(line.key, line);
    }
    if (line.type !== 'result' && line.type !== 'failure') continue;
    const intent = asked.get(line.key);
    const isAbandoned = line.type === 'failure' && line.abandoned === true;
    if (intent !== undefined && !isAbandoned) yield [intent, line];
  }
}

/** The capabilities that a recorded request used. */
function askedOf(request: GenerateRequest, samples: number): Capabilities {
  const { temperature, seed, stop, schema, tools, topK, logprobs, topLogprobs = 0 } = request;
  const asked: Readonly<Record<keyof Omit<Capabilities, 'batch'>, boolean>> = {
    n: samples > 1,
    logprobs: logprobs === true || topLogprobs > 0,
    seed: seed !== undefined,
    stop: stop !== undefined,
    continuation: request.messages.at(-1)?.role === 'assistant',
    schema: schema !== undefined,
    tools: tools !== undefined || request.messages.some(isOfTools),
    images: request.messages.some(({ images }) => images !== undefined),
    temperature: temperature !== undefined,
    topK: topK !== undefined,
  };
  return Object.fromEntries(Object.entries(asked).filter(([, isAsked]) => isAsked));
}

/** A recorded failure. It is not charged again. */
function failed({ failure, isUnavailable }: Extract<Sample, { failure: string }>): EspalierError {
  if (isUnavailable) return new EspalierError('unavailable', failure);
  return new ModelCallError({
    kind: 'bad-request',
    message: failure,
    retryable: false,
    charged: false,
  });
}

function addressOf(request: GenerateRequest): string {
  const read = { ...request, messages: asRead(request.messages) };
  return contentAddress(canonicalJson('request', read));
}
