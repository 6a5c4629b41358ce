import { ModelCallError, type ModelCallErrorOptions } from '../../../src/base/errors.ts';
import type { Random } from '../../../src/contracts/context.ts';
import type {
  GenerateRequest,
  Generation,
  LanguageModel,
  ModelCall,
} from '../../../src/contracts/language-model.ts';
import { seededRandom } from '../../../src/index.ts';
import { type ManualClock, manualClock } from '../../../src/testing/index.ts';
import { samplesOf } from '../harness.ts';

/** A call, its clock, and how to abort it. */
export interface TestCall {
  readonly call: ModelCall;
  readonly clock: ManualClock;
  readonly abort: (reason: unknown) => void;
}

/** A call that nobody else has a part in. */
export function testCall(changes: Partial<ModelCall> = {}): TestCall {
  const clock = manualClock();
  const controller = new AbortController();
  const call = { signal: controller.signal, clock, ...changes };
  return { call, clock, abort: (reason) => controller.abort(reason) };
}

/** The same clock, another caller. */
export function besides({ clock }: TestCall, changes: Partial<ModelCall> = {}): TestCall {
  return { ...testCall({ clock, ...changes }), clock };
}

/** A failure of a server. */
export function failure(
  kind: ModelCallErrorOptions['kind'],
  changes: Partial<ModelCallErrorOptions> = {},
): ModelCallError {
  return new ModelCallError({ kind, message: 'The server is busy.', ...changes });
}

/** A request for one short answer. */
export const request: GenerateRequest = { messages: [{ role: 'user', content: 'hello' }] };

/** What a model of {@link playing} does in one call. */
export type Act = (call: ModelCall, request: GenerateRequest) => Promise<Generation>;

/** A model that plays one act after another, then answers, and notes when it was asked. */
export interface PlayingModel extends LanguageModel {
  readonly times: readonly number[];
  readonly requests: readonly GenerateRequest[];
}

/** A model that fails with each error, or does as each act says, and then answers. */
export function playing(
  acts: readonly (Error | Act)[] = [],
  options: Partial<LanguageModel> & { readonly latencyMs?: number } = {},
): PlayingModel {
  const { latencyMs, ...described } = options;
  const times: number[] = [];
  const requests: GenerateRequest[] = [];
  return {
    provider: 'test',
    modelId: 'playing',
    capabilities: { n: true },
    ...described,
    times,
    requests,
    async generate(asked, call) {
      const act = acts[times.length];
      times.push(call.clock.now());
      requests.push(asked);
      if (latencyMs !== undefined) await call.clock.sleep(latencyMs, call.signal);
      if (act instanceof Error) throw act;
      return act === undefined ? samplesOf(asked) : act(call, asked);
    },
  };
}

/** A source that draws the same number again and again. */
export function drawing(number: number): Random {
  return { ...seededRandom(), next: () => number };
}

/** What a promise was rejected with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  let error: unknown;
  await promise.then(
    () => {
      throw new Error('Expected a rejection.');
    },
    (thrown: unknown) => {
      error = thrown;
    },
  );
  return error;
}

/** A promise that is watched: what it came to so far. */
export function watched<Value>(promise: Promise<Value>): {
  state: 'open' | Value;
  error?: unknown;
} {
  const seen: { state: 'open' | Value; error?: unknown } = { state: 'open' };
  promise.then(
    (value) => {
      seen.state = value;
    },
    (error: unknown) => {
      seen.error = error;
    },
  );
  return seen;
}
