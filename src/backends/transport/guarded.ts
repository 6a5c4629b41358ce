import { inspect } from 'node:util';
import { EspalierError, ModelCallError } from '../../base/errors.ts';
import { modelName } from '../../base/model-name.ts';
import { aroundCalls } from '../../calls/middleware/wrap.ts';
import { ImpossibleUsages, withoutUsage } from '../../calls/usage.ts';
import type { Generation, ModelCall, Payee } from '../../contracts/language-model.ts';
import { type KnownSecrets, withoutSecrets, withoutSecretsIn } from './secrets.ts';
import { faultOfUsage } from './usage-fault.ts';

/**
 * A model whose answers, errors and warnings are all checked here first: credentials are removed, and an impossible
 * usage counts as unknown, with a warning.
 *
 * @param secrets - Returns the credentials known at that time.
 */
export function guarded<Model extends Payee>(model: Model, secrets: () => KnownSecrets): Model {
  const guard = aroundCalls((next) => {
    const impossible = new ImpossibleUsages();
    return (asked, call, make) =>
      withSecretsKept(secrets, async () => {
        const answer = await make(cautious(call, secrets));
        const fault = faultOfUsage(asked, answer);
        if (fault === undefined) return answer;
        impossible.tell(modelName(next), { fault, call });
        return withoutUsage(answer);
      });
  });
  return guard(model);
}

/** The result of something, without credentials. */
export async function withSecretsKept<Value>(
  secrets: () => KnownSecrets,
  run: () => Promise<Value>,
): Promise<Value> {
  try {
    const value = await run();
    return withoutSecretsIn(withoutTellingTokens(value, secrets()), secrets());
  } catch (error) {
    throw discreet(error, secrets());
  }
}

function cautious(call: ModelCall, secrets: () => KnownSecrets): ModelCall {
  return {
    ...call,
    warn: (warning) =>
      call.warn?.({ ...warning, message: withoutSecrets(warning.message, secrets()) }),
  };
}

/** Tokens contain a secret in pieces: if their text changes, their log-probabilities no longer apply. */
function withoutTellingTokens<Value>(value: Value, secrets: KnownSecrets): Value {
  const { completions } = Object(value) as Partial<Generation>;
  if (!Array.isArray(completions)) return value;
  return {
    ...value,
    completions: (completions as Generation['completions']).map(({ logprobs, ...rest }) => {
      const text = (logprobs ?? []).map(({ token }) => token).join('');
      const isPlain = logprobs !== undefined && withoutSecretsIn(text, secrets) === text;
      return isPlain ? { ...rest, logprobs } : rest;
    }),
  };
}

/** The same error, without credentials in its message and causes. */
function discreet(error: unknown, secrets: KnownSecrets): unknown {
  if (!EspalierError.isInstance(error)) return error;
  const message = withoutSecrets(error.message, secrets);
  const cause = discreetCause(error.cause, secrets);
  const isPlain = message === error.message && cause === error.cause;
  if (!ModelCallError.isInstance(error)) {
    return isPlain ? error : new EspalierError(error.code, message, { cause });
  }
  const fields = withoutSecretsIn({ ...error }, secrets);
  if (isPlain && fields.requestId === error.requestId && fields.parameter === error.parameter) {
    return error;
  }
  return new ModelCallError({ ...fields, message, cause });
}

/** The original exception, or only its message if the rest would reveal a credential. */
function discreetCause(cause: unknown, secrets: KnownSecrets): unknown {
  const shown = inspect(cause, { depth: 9 });
  if (withoutSecretsIn(shown, secrets) === shown) return cause;
  return new Error(withoutSecrets(cause instanceof Error ? cause.message : String(cause), secrets));
}
