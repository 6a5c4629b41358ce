import assert from 'node:assert/strict';
import { systemClock } from '../../../base/clock.ts';
import type { Clock } from '../../../contracts/clock.ts';
import type {
  GenerateRequest,
  Generation,
  LanguageModel,
  Message,
} from '../../../contracts/language-model.ts';
import { manualClock } from '../../manual-clock.ts';
import type { Subject } from '../../test-runner.ts';

/** What a language model claims, for `describeLanguageModel`. What it supports it declares itself. */
export interface LanguageModelClaims {
  /** Makes the model, or gives one that already exists: no test leaves anything behind in it. */
  readonly create: () => LanguageModel | Promise<LanguageModel>;
  /**
   * What it is asked. It must have several answers, each of several tokens.
   *
   * @defaultValue a request to count
   */
  readonly prompt?: string;
  /** The maximum tokens of an answer where nothing else is tested. @defaultValue 24 */
  readonly maxTokens?: number;
  /** How long an abort may take, in milliseconds of real time. @defaultValue 1000 */
  readonly abortsWithinMs?: number;
  /** The names of the tests that do not apply, by the reason why not: one sentence for the report. @defaultValue none */
  readonly exempt?: Readonly<Record<string, readonly string[]>>;
}

/** A model under test. */
export type ModelSubject = Subject<LanguageModelClaims>;

/** What a test asks for, beside the conversation and the usual limit. */
export type Wish = Partial<GenerateRequest>;

/** The conversation of a test; `topic` makes it another one. */
export function conversation(
  { prompt = 'Count from one to twenty, in words.' }: LanguageModelClaims,
  topic = '',
): readonly Message[] {
  return [{ role: 'user', content: topic === '' ? prompt : `${prompt} ${topic}` }];
}

/** The whole request of a test. */
export function requestOf(claims: LanguageModelClaims, wish: Wish = {}): GenerateRequest {
  return { messages: conversation(claims), maxTokens: claims.maxTokens ?? 24, ...wish };
}

/** Asks a model. */
export async function ask(
  model: LanguageModel,
  request: GenerateRequest,
  call: { readonly signal?: AbortSignal; readonly clock?: Clock } = {},
): Promise<Generation> {
  const { signal = new AbortController().signal, clock = manualClock({ auto: true }) } = call;
  return model.generate(request, { signal, clock });
}

/** The texts of a generation. */
export function textsOf({ completions }: Generation): readonly string[] {
  return completions.map(({ text }) => text);
}

/** What is needed for the same request to be answered the same: nothing where the model cannot do that. */
export function repeatable({ capabilities }: LanguageModel): Wish | undefined {
  const { temperature, seed } = capabilities;
  if (seed === true) return { seed: 7, ...(temperature === true && { temperature: 1 }) };
  return temperature === true ? { temperature: 0 } : undefined;
}

/** Holds a call to its abort: it rejects with the reason of its signal, and soon. */
export async function assertAborts(
  {
    call,
    reason,
    mayBeOver = false,
  }: { readonly call: Promise<unknown>; readonly reason: unknown; readonly mayBeOver?: boolean },
  { abortsWithinMs = 1000 }: LanguageModelClaims,
): Promise<void> {
  const patience = new AbortController();
  const outcome = await Promise.race([
    call.then(
      () => 'answered' as const,
      (error: unknown) => ({ error }),
    ),
    systemClock.sleep(abortsWithinMs, patience.signal).then(() => 'still going on' as const),
  ]);
  patience.abort();
  if (mayBeOver && outcome === 'answered') return;
  assert.ok(typeof outcome === 'object', `the call was ${outcome} after its abort`);
  assert.equal(outcome.error, reason, 'it was not rejected with the reason of the signal');
}
