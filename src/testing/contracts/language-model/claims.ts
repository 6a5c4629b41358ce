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

/** The claims about a language model, for `describeLanguageModel`. The model itself declares its capabilities. */
export interface LanguageModelClaims {
  /** Creates the model, or returns an existing one: no test leaves anything behind in it. */
  readonly create: () => LanguageModel | Promise<LanguageModel>;
  /**
   * The question. It must have several possible answers, each of several tokens.
   *
   * @defaultValue a request to count
   */
  readonly prompt?: string;
  /** The maximum tokens of an answer, unless a test needs another limit. @defaultValue 24 */
  readonly maxTokens?: number;
  /** How long an abort may take, in milliseconds of real time. @defaultValue 1000 */
  readonly abortsWithinMs?: number;
  /** The names of tests that do not apply, by reason: one sentence for the report. @defaultValue none */
  readonly exempt?: Readonly<Record<string, readonly string[]>>;
}

/** A model under test. */
export type ModelSubject = Subject<LanguageModelClaims>;

/** The request of a test, apart from the conversation and the usual limit. */
export type Wish = Partial<GenerateRequest>;

/** The conversation of a test; another `topic` makes it a different one. */
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

/** The settings with which equal requests get equal answers; `undefined` if the model has none. */
export function repeatable({ capabilities }: LanguageModel): Wish | undefined {
  const { temperature, seed } = capabilities;
  if (seed === true) return { seed: 7, ...(temperature === true && { temperature: 1 }) };
  return temperature === true ? { temperature: 0 } : undefined;
}

/** Checks an abort: the call rejects promptly, with the reason of its signal. */
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
