import { Lead } from '../../calls/lead.ts';
import { sumOfUsages } from '../../calls/usage.ts';
import type {
  Completion,
  GenerateRequest,
  Generation,
  ModelCall,
} from '../../contracts/language-model.ts';
import type { Downgrades } from './downgrades.ts';

/** The header by which a server, a proxy or a log can distinguish the samples of one prompt. */
export const sampleHeader = 'x-espalier-sample';

/** The context of requests for the samples of one prompt. */
export interface Surroundings {
  /** The call that they belong to. */
  readonly call: ModelCall;
  /** The features that the model does not support. */
  readonly downgrades: Downgrades;
  /** Whether samples are requested separately, although the server supports several. @defaultValue false */
  readonly oneByOne?: boolean;
}

/** One request to a server: `samples` from index `offset` on. */
export type Ask = (request: GenerateRequest, call: ModelCall) => Promise<Generation>;

/**
 * All samples of a request: in one request if the server supports `n`; otherwise first one, which fills the prefix
 * cache, and the others in separate requests as soon as the first answer begins to arrive. A server that ignores `n` is
 * recognised by the number of its answers, remembered, and asked for the rest one by one. Each further request needs
 * permission, because it reads the prompt again.
 *
 * @param ask - Sends one request. It may return fewer samples than requested, or more, which are dropped.
 */
export async function askForSamples(
  ask: Ask,
  request: GenerateRequest,
  surroundings: Surroundings,
): Promise<Generation> {
  const { call, downgrades, oneByOne = false } = surroundings;
  const { samples = 1, offset = 0 } = request;
  const lead = oneByOne && samples > 1 ? new Lead() : undefined;
  // A batch does not report when an answer begins.
  const waits = lead !== undefined && call.batch === undefined;
  const first = waits ? lead.first(call) : call;
  const asked = askTogether(ask, request, { ...surroundings, call: first });
  // If it fails after it has begun, the others are awaited first.
  asked.catch(() => {});
  if (waits) await Promise.race([asked, lead.begun(call.signal)]);
  const count = lead === undefined ? (await asked).completions.length : 1;
  const missing = Array.from(
    { length: Math.max(0, samples - count) },
    (_, place) => offset + count + place,
  );
  if (missing.length > 0 && batches(surroundings)) downgrades.drop('n', call);
  const others = await allOrNone(
    missing.map(async (index) => {
      await call.requestExtraCall?.('One request brings one sample.');
      return askTogether(ask, { ...request, samples: 1, offset: index }, surroundings);
    }),
  );
  const answer = await asked;
  const generations = [answer, ...others];
  return {
    ...answer,
    completions: [
      ...answer.completions.slice(0, samples - missing.length),
      ...others.flatMap(({ completions }) => completions.slice(0, 1)),
    ],
    usage: sumOfUsages(generations.map(({ usage }) => usage)),
  };
}

function askTogether(
  ask: Ask,
  request: GenerateRequest,
  surroundings: Surroundings,
): Promise<Generation> {
  return surroundings.downgrades.send(
    () => ask(batches(surroundings) ? request : { ...request, samples: 1 }, surroundings.call),
    surroundings.call,
  );
}

function batches({ downgrades, oneByOne = false }: Surroundings): boolean {
  return !oneByOne && downgrades.capabilities.n === true;
}

/** Waits for all, so that none is in flight when one of them fails. */
async function allOrNone<Value>(promises: readonly Promise<Value>[]): Promise<readonly Value[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** Cuts an answer off at the first stop text. */
export function cutAtStop(completion: Completion, stop: readonly string[] = []): Completion {
  const places = stop
    .filter((end) => end !== '')
    .map((end) => completion.text.indexOf(end))
    .filter((place) => place >= 0);
  if (places.length === 0) return completion;
  const { logprobs, ...rest } = completion;
  const text = completion.text.slice(0, Math.min(...places));
  return {
    ...rest,
    text,
    finishReason: 'stop',
    ...(logprobs !== undefined && { logprobs: withinText(logprobs, text.length) }),
  };
}

/** The tokens that begin within a text. */
function withinText<Token extends { readonly token: string }>(
  tokens: readonly Token[],
  length: number,
): readonly Token[] {
  let start = 0;
  return tokens.filter(({ token }) => {
    const isWithin = start < length;
    start += token.length;
    return isWithin;
  });
}
