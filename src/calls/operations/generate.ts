import * as z from 'zod/mini';
import { byteLength } from '#platform';
import { asRead } from '../../base/as-read.ts';
import { canonicalJson, contentAddress } from '../../base/canonical-json.ts';
import { EspalierError, ModelCallError } from '../../base/errors.ts';
import { expectArray, expectInteger, expectObject, expectText } from '../../base/expect.ts';
import { expectCapabilities } from '../../base/expect-capabilities.ts';
import { expectMessages } from '../../base/expect-messages.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type {
  Completion,
  GenerateRequest,
  Generation,
  LanguageModel,
} from '../../contracts/language-model.ts';
import type { WorstCase } from '../../contracts/operation.ts';
import { faultOfCounts } from '../usage.ts';
import { answerAttributes, requestAttributes } from './chat-attributes.ts';
import { count } from './count.ts';
import type { LeftOf, ModelOperation, Parts, SampleRange } from './model-operation.ts';
import { ofModel } from './of-model.ts';
import { imageTokensOf, mostTokensOfPrompt } from './tokens.ts';

/** The completion length that a reservation assumes if a request sets no `maxTokens`. */
export const defaultMaxTokens = 1024;

const known =
  'messages samples offset maxTokens temperature topP topK stop seed logprobs topLogprobs schema tools toolChoice';

/** The number of sample indices in one round of a request. */
const samplesOfRound = 2 ** 20;

/** Asks for text. */
export function generate(model: LanguageModel): ModelOperation<GenerateRequest, Generation> {
  const common = ofModel('generate', model);
  return {
    ...common,
    check(request) {
      expectCapabilities('model.capabilities', model.capabilities);
      expectInteger('model.thoughtTokens', model.thoughtTokens ?? 0, { min: 0 });
      expectObject('request', request);
      expectOptions('context.generate', request, known);
      expectMessages(request.messages);
      expectSeeing(common.name, model, request);
      const { tools = [] } = request;
      expectArray('tools', tools);
      for (const [place, tool] of tools.entries()) {
        expectOptions(`tools[${place}]`, tool, 'name description input');
      }
      expectSamples(request.samples ?? 1);
      expectInteger('offset', request.offset ?? 0, { min: 0 });
      expectInteger('maxTokens', request.maxTokens ?? 1, { min: 1 });
    },
    address: contentOf,
    samples: rangeOf,
    again: ({ offset = 0, ...request }, round) => ({
      ...request,
      offset: offset + round * samplesOfRound,
    }),
    get mayWait() {
      return model.capabilities.batch === true;
    },
    worstCase: (request, promptTokens) => worstCase(model, request, promptTokens),
    prompt: (request) => ({ ...request, imageTokens: imageTokensOf(model) }),
    ...(model.count !== undefined && { counting: count(model) }),
    usageFault,
    run: (request, call) => model.generate(request, call),
    accept: ({ samples = 1 }, reply) => accept(common.name, reply, samples),
    isAnswer: ({ completions }) =>
      completions.every(({ finishReason }) => finishReason !== 'refusal'),
    named: ({ completions, ...rest }, callId) => ({
      completions: completions.map((completion) => ({ ...completion, callId })),
      ...rest,
    }),
    parts: partsOf(common.name, model),
    describedBy: ['capabilities', 'thoughtTokens', 'leastPrefixTokens'],
    telemetry: { operation: 'chat', request: requestAttributes, answer: answerAttributes },
    extent: ({ samples = 1 }, { completions }) => {
      const sizes = completions.map(bytesOf);
      return {
        requests: samples,
        answers: sizes.filter((bytes) => bytes > 0).length,
        bytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
      };
    },
  };
}

/** Throws if images would be shown to a model that is not known to accept them. */
function expectSeeing(
  name: string,
  { capabilities }: LanguageModel,
  { messages }: GenerateRequest,
): void {
  if (capabilities.images === true || messages.every(({ images = [] }) => images.length === 0)) {
    return;
  }
  const message = `${name} is not known to support images. Choose a model that does, or declare \`images\` in its \`capabilities\`.`;
  throw new EspalierError('usage', message);
}

function expectSamples(samples: number): void {
  if (samples === Number.POSITIVE_INFINITY) throw new EspalierError('usage', unlimited);
  expectInteger('samples', samples, { min: 1 });
}

const unlimited =
  'Expected `samples` to be an integer from 1 up, got `Infinity`: a policy whose `count` is `Infinity` is asked for all actions, and has to choose how many to draw, unless the algorithm has a `width`.';

/** The part of a request that is common to all samples and read by the model. */
function contentOf({ samples: _, offset: __, ...content }: GenerateRequest): JsonValue {
  return { ...content, messages: asRead(content.messages) } as unknown as JsonValue;
}

function rangeOf({ samples = 1, offset = 0 }: GenerateRequest): SampleRange {
  return [offset, samples];
}

function worstCase(
  model: LanguageModel,
  request: GenerateRequest,
  promptTokens?: number,
): WorstCase {
  const { samples = 1, maxTokens = defaultMaxTokens } = request;
  const prompt = { ...request, imageTokens: imageTokensOf(model) };
  return {
    calls: samples,
    inputTokens: promptTokens ?? mostTokensOfPrompt(prompt),
    outputTokens: samples * (maxTokens + (model.thoughtTokens ?? 0)),
  };
}

/** A text that cost nothing must come from a cache and be marked so. */
function usageFault(_: GenerateRequest, { completions, usage, fromCache = false }: Generation) {
  const { inputTokens, outputTokens } = { ...usage };
  const isPaid = fromCache || inputTokens !== 0 || outputTokens !== 0;
  const isFree = !isPaid && completions.some(({ text }) => text !== '');
  return isFree ? 'no token for a text' : faultOfCounts(usage);
}

/** A generation with the requested number of completions. */
function accept(name: string, reply: Generation, count: number): Generation {
  expectObject(`reply of ${name}`, reply);
  expectArray(`completions of ${name}`, reply.completions);
  for (const [place, completion] of reply.completions.entries()) {
    const nameOf = (field: string) => `completions[${place}]${field} of ${name}`;
    expectObject(nameOf(''), completion);
    const { text, toolCalls, logprobs } = completion;
    expectText(nameOf('.text'), text);
    if (toolCalls !== undefined) expectArray(nameOf('.toolCalls'), toolCalls);
    if (logprobs !== undefined) expectArray(nameOf('.logprobs'), logprobs);
  }
  if (reply.completions.length === count) return { ...reply };
  throw new ModelCallError({
    kind: 'malformed',
    message: `${name} gave ${reply.completions.length} of ${count} completions.`,
  });
}

const alternative = { token: z.string(), logprob: z.number() };

/** A sample as stored in a cache: stores outlive versions, and other programs may write to them. */
const sampleSchema = z.object({
  completion: z.object({
    text: z.string(),
    finishReason: z.exactOptional(z.enum(['stop', 'length', 'tool', 'refusal', 'other'])),
    logprobs: z.exactOptional(
      z.array(z.object({ ...alternative, top: z.exactOptional(z.array(z.object(alternative))) })),
    ),
    toolCalls: z.exactOptional(
      z.array(z.object({ id: z.string(), name: z.string(), input: z.json() })),
    ),
    reasoning: z.exactOptional(z.string()),
    original: z.exactOptional(z.object({ provider: z.string(), data: z.json() })),
  }),
  answeredBy: z.exactOptional(z.string()),
});

/** Its parts are samples, by index. */
function partsOf(name: string, model: LanguageModel): Parts<GenerateRequest, Generation> {
  const batches = () => model.capabilities.n === true;
  return {
    of(request) {
      const content = canonicalJson('request', [name, contentOf(request)]);
      const address = contentAddress(content);
      const keyOf = (index: number) => `${address}#${index}`;
      const [first] = rangeOf(request);
      return {
        keys: indices(rangeOf(request)).map(keyOf),
        purchases(places, left) {
          const missing = places.map((place) => first + place);
          const ranges = rangesOf({ request, left, keyOf }, missing, batches());
          return ranges.map((range) => ({
            request: withRange(request, range),
            keys: indices(range).map(keyOf),
          }));
        },
      };
    },
    inTurn(request) {
      const { leastPrefixTokens = 0 } = model;
      const prompt = { ...request, imageTokens: imageTokensOf(model) };
      return !batches() && mostTokensOfPrompt(prompt) >= leastPrefixTokens;
    },
    split: ({ completions, usage: _, ...rest }) =>
      completions.map((completion) => ({ completions: [completion], usage: {}, ...rest })),
    join,
    keep: ({ completions: [completion], answeredBy }) => ({
      completion,
      ...(answeredBy !== undefined && { answeredBy }),
    }),
    kept(json) {
      const { completion, ...rest } = sampleSchema.parse(json);
      return { completions: [completion], usage: {}, ...rest };
    },
    requestOf: (address, range = [0, 1]) => withRange(address as unknown as GenerateRequest, range),
  };
}

interface Asking {
  readonly request: GenerateRequest;
  readonly left: LeftOf<GenerateRequest>;
  readonly keyOf: (index: number) => string;
}

/** The requests in which samples are bought: the ones in a journal unchanged, the others together or one by one. */
function rangesOf(
  asking: Asking,
  missing: readonly number[],
  batches: boolean,
): readonly SampleRange[] {
  const ranges: SampleRange[] = [];
  const isBought = (index: number) =>
    ranges.some(([first, count]) => index >= first && index < first + count);
  for (const index of missing) {
    if (!isBought(index)) ranges.push(rangeWith(index, asking, batches ? missing : [index]));
  }
  return ranges;
}

/** The samples that are bought together with one: those of a recorded request, or as many after it as possible. */
function rangeWith(
  index: number,
  { request, left, keyOf }: Asking,
  missing: readonly number[],
): SampleRange {
  const asked: SampleRange = [index, runLength(index, (next) => missing.includes(next))];
  const before = left(withRange(request, asked));
  // The previous run made exactly this request; it may have failed, and another request may have bought the sample.
  if (before === undefined || before.isAsked) return asked;
  const there = before.holding(keyOf(index));
  if (there !== undefined) return rangeOf(there);
  const isNew = (next: number) =>
    missing.includes(next) && before.holding(keyOf(next)) === undefined;
  return [index, runLength(index, isNew)];
}

function withRange(request: GenerateRequest, [offset, samples]: SampleRange): GenerateRequest {
  return { ...request, samples, offset };
}

function indices([first, count]: SampleRange): readonly number[] {
  return Array.from({ length: count }, (_, place) => first + place);
}

/** The number of consecutive indices from `start` on. */
function runLength(start: number, includes: (index: number) => boolean): number {
  let count = 0;
  while (includes(start + count)) count++;
  return count;
}

/** Joins results. The model and the request id are reported only if all results have the same. */
function join(results: readonly Generation[], usage: Generation['usage']): Generation {
  const [answeredBy, ...others] = new Set(results.map((result) => result.answeredBy));
  const [requestId, ...more] = new Set(results.flatMap((result) => result.requestId ?? []));
  return {
    completions: results.flatMap(({ completions }) => completions),
    usage,
    ...(results.every(({ fromCache }) => fromCache) && { fromCache: true }),
    ...(answeredBy !== undefined && others.length === 0 && { answeredBy }),
    ...(requestId !== undefined && more.length === 0 && { requestId }),
  };
}

function bytesOf({ text, reasoning = '', toolCalls = [] }: Completion): number {
  const calls = toolCalls.map(({ name, input }) => name + JSON.stringify(input));
  return byteLength([text, reasoning, ...calls].join(''));
}
