import type { JsonValue } from '../../contracts/json.ts';
import type { TokenAlternative, TokenLogprob } from '../../contracts/language-model.ts';

/** Log-probabilities in the form of Chat Completions. */
export function chatLogprobs(logprobs: readonly TokenLogprob[] | undefined): JsonValue {
  if (logprobs === undefined) return null;
  return { content: logprobs.map(tokenOf), refusal: null };
}

/** One token in the form of Chat Completions. */
export function tokenOf({ token, logprob, top = [] }: TokenLogprob): JsonValue {
  return { ...alternativeOf({ token, logprob }), top_logprobs: top.map(alternativeOf) };
}

function alternativeOf({ token, logprob }: TokenAlternative) {
  return { token, logprob, bytes: [...Buffer.from(token)] };
}

/** Log-probabilities in the form of text completions. */
export function textLogprobs(logprobs: readonly TokenLogprob[] | undefined): JsonValue {
  if (logprobs === undefined) return null;
  let offset = 0;
  return {
    tokens: logprobs.map(({ token }) => token),
    token_logprobs: logprobs.map(({ logprob }) => logprob),
    top_logprobs: logprobs.map(({ token, logprob, top }) =>
      top === undefined
        ? { [token]: logprob }
        : Object.fromEntries(top.map((other) => [other.token, other.logprob])),
    ),
    text_offset: logprobs.map(({ token }) => {
      offset += token.length;
      return offset - token.length;
    }),
  };
}
