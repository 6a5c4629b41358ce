import type {
  GenerateRequest,
  TokenAlternative,
  TokenLogprob,
} from '../../contracts/language-model.ts';
import { fieldsOf, itemsOf, type JsonFields } from './json.ts';

/** The placeholder for a token that is too unlikely to be reported. */
const untold = -9999;

/** Whether a request asks for log-probabilities. */
export function wantsLogprobs({ logprobs = false, topLogprobs = 0 }: GenerateRequest): boolean {
  return logprobs || topLogprobs > 0;
}

/** A request without log-probabilities. */
export function withoutLogprobs(request: GenerateRequest): GenerateRequest {
  const { logprobs: _, topLogprobs: __, ...rest } = request;
  return rest;
}

/**
 * The log-probabilities of a choice, of Chat Completions or of the older Completions. `undefined` if they were not
 * requested or not reported, or if that of a written token is −9999, which means unknown: a sum over it would be
 * meaningless.
 */
export function logprobsOf(
  told: unknown,
  {
    request,
    warn,
  }: {
    readonly request: GenerateRequest;
    readonly warn: (about: 'logprobs', message: string) => void;
  },
): readonly TokenLogprob[] | undefined {
  if (!wantsLogprobs(request)) return undefined;
  const fields = fieldsOf(told);
  const isOlder = Array.isArray(fields['token_logprobs']);
  if (!isOlder && !Array.isArray(fields['content'])) {
    warn('logprobs', 'reported no log-probabilities: answers come without them.');
    return undefined;
  }
  const tokens = isOlder ? olderTokens(fields) : itemsOf(fields['content']).map(fieldsOf);
  const read = tokens.map((token) => tokenOf(token, request.topLogprobs ?? 0));
  if (read.every((token) => token !== undefined)) return read;
  warn(
    'logprobs',
    'wrote a token too unlikely to be reported: that answer comes without log-probabilities.',
  );
  return undefined;
}

/** A token of a log-probability list, with its alternatives. */
export function tokenOf(fields: JsonFields, count: number): TokenLogprob | undefined {
  const written = alternativeOf(fields);
  if (written === undefined || count === 0) return written;
  const top = itemsOf(fields['top_logprobs'])
    .map((other) => alternativeOf(fieldsOf(other)))
    .filter((other) => other !== undefined)
    .toSorted((one, other) => other.logprob - one.logprob)
    .slice(0, count);
  return { ...written, top };
}

function alternativeOf({ token, logprob }: JsonFields): TokenAlternative | undefined {
  if (typeof token !== 'string' || typeof logprob !== 'number' || logprob <= untold) {
    return undefined;
  }
  // Rounding may put a certain token slightly above 0.
  return { token, logprob: Math.min(0, logprob) };
}

/** Combines the lists of the older Completions, token by token. */
function olderTokens(fields: JsonFields): readonly JsonFields[] {
  const logprobs = itemsOf(fields['token_logprobs']);
  const tops = itemsOf(fields['top_logprobs']);
  return itemsOf(fields['tokens']).map((token, place) => ({
    token,
    logprob: logprobs[place],
    top_logprobs: Object.entries(fieldsOf(tops[place])).map(([other, logprob]) => ({
      token: other,
      logprob,
    })),
  }));
}
