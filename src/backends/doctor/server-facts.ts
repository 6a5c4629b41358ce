import { withDeadline } from '../../base/deadline.ts';
import type { LanguageModel } from '../../contracts/language-model.ts';
import { isHosted } from '../openai-compatible/presets.ts';
import type { OpenAiCompatibleModel } from '../openai-compatible/server.ts';
import type { ServerFacts } from './examination.ts';

/** The scoring endpoints of servers. */
const scoringPaths = [
  '/pooling',
  '/classify',
  '/score',
  '/v1/score',
  '/v1/systemone',
  '/v1/decisions',
];

/** Options of {@link serverFacts}. */
export interface ServerFactsOptions {
  /** Aborts the requests. */
  readonly signal?: AbortSignal | undefined;
  /** Makes the requests. @defaultValue the `fetch` of the platform */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * The information that a model's server gives about itself; `undefined` for models without their own server.
 *
 * @throws ModelCallError if it cannot be reached.
 */
export async function serverFacts(
  model: LanguageModel,
  { signal = new AbortController().signal, fetch = globalThis.fetch }: ServerFactsOptions = {},
): Promise<ServerFacts | undefined> {
  if (!isServed(model)) return undefined;
  const { preset, baseUrl, models, contextLength } = await model.server(signal);
  const root = baseUrl.replace(/\/v1\/?$/, '');
  // Endpoints cannot be found by an empty request at a provider, or at a server that answers any path.
  const isBlind = isHosted(preset) || (await exists(`${root}/no-such-path`, { signal, fetch }));
  const paths = isBlind ? [] : scoringPaths;
  const found = await Promise.all(
    paths.map(async (path) => ((await exists(root + path, { signal, fetch })) ? [path] : [])),
  );
  return {
    kind: preset,
    models: models.map(({ id }) => id),
    ...(contextLength !== undefined && { contextLength }),
    scoring: found.flat(),
  };
}

function isServed(model: LanguageModel): model is OpenAiCompatibleModel {
  return typeof (model as Partial<OpenAiCompatibleModel>).server === 'function';
}

/** Whether a path exists: an existing one reports an error in an empty request, a missing one is not found. */
async function exists(
  url: string,
  { signal, fetch }: { readonly signal: AbortSignal; readonly fetch: typeof globalThis.fetch },
): Promise<boolean> {
  try {
    const response = await withDeadline(signal, 5000, (within) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        signal: within,
      }),
    );
    await response.body?.cancel();
    return [200, 400, 422].includes(response.status);
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
