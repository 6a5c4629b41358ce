import { asRead } from '../../base/as-read.ts';
import { canonicalJson, contentAddress } from '../../base/canonical-json.ts';
import { expectMethods } from '../../base/expect.ts';
import { asNative } from '../../base/is-thenable.ts';
import { modelName } from '../../base/model-name.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import type { MaybePromise } from '../../contracts/json.ts';
import type { GenerateRequest, LanguageModel, ModelCall } from '../../contracts/language-model.ts';
import type { ModelOperation } from './model-operation.ts';
import { mostTokensOfPrompt } from './tokens.ts';

/** How long a call waits for the token count of its prompt, in milliseconds. */
export const countMs = 2000;

/** The number of failed counts in a row after which a model is not asked for another. */
const mostFailures = 3;

/** The maximum number of tokens that a chat template may add by itself. */
const mostUnasked = 2048;

/** The number of consecutive failed counts of a model. */
const failures = new WeakMap<LanguageModel, number>();

/** The address of a counted prompt in a journal. */
export function addressOfPrompt({ messages, tools, schema, toolChoice }: GenerateRequest): string {
  const prompt = [asRead(messages), tools ?? null, schema ?? null, toolChoice ?? null];
  return contentAddress(canonicalJson('request', prompt));
}

/**
 * Counts the tokens of prompts. Counting is a separate, free call, so that its result is in the journal and
 * reservations in a replay depend on no clock and no server.
 */
export function count(model: LanguageModel): ModelOperation<GenerateRequest, number | null> {
  expectMethods('model', model, ['count']);
  return {
    kind: 'count',
    name: modelName(model),
    repeatable: true,
    isFree: true,
    // The prompt itself is in the journal, with the call that it is counted for.
    address: addressOfPrompt,
    worstCase: () => ({ calls: 0 }),
    run: (request, call) => counted(model, request, call),
  };
}

async function counted(
  model: LanguageModel,
  request: GenerateRequest,
  call: ModelCall,
): Promise<number | null> {
  const before = failures.get(model) ?? 0;
  if (before >= mostFailures) return null;
  const tokens = await inTime(() => model.count?.(request), call);
  call.signal.throwIfAborted();
  const isSound = isPossible(tokens, request);
  failures.set(model, isSound ? 0 : before + 1);
  return isSound ? tokens : null;
}

function isPossible(tokens: unknown, request: GenerateRequest): tokens is number {
  const most = mostTokensOfPrompt(request) + mostUnasked;
  return Number.isSafeInteger(tokens) && Number(tokens) >= 1 && Number(tokens) <= most;
}

/** The result of a promise; `undefined` if it fails or takes too long. */
async function inTime<Value>(
  work: () => MaybePromise<Value>,
  { clock, signal }: ModelCall,
): Promise<Value | undefined> {
  const over = new AbortController();
  try {
    const working = asNative(work());
    if (!(working instanceof Promise)) return working;
    const late = clock.sleep(countMs, over.signal).then(() => undefined);
    // A late failure is ignored.
    late.catch(() => {});
    return await unlessAborted(Promise.race([working, late]), signal);
  } catch {
    return undefined;
  } finally {
    over.abort();
  }
}
