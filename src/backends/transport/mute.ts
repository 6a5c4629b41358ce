import type { LanguageModel } from '../../contracts/language-model.ts';
import type { ConnectionOptions } from './connection.ts';

const makers = new WeakMap<LanguageModel, () => LanguageModel>();

/**
 * Keeps how to make a model again that sends nothing. One that has a client of the user's own is not kept: what that
 * sends, and with which credentials, is its own affair.
 */
export function withMute<
  Model extends LanguageModel,
  Options extends ConnectionOptions & { readonly client?: unknown },
>(model: Model, make: (options: Options) => LanguageModel, options: Options): Model {
  const fetch = () => Promise.reject(new TypeError('Nothing is sent.'));
  if (options.client === undefined) {
    makers.set(model, () => make({ ...options, fetch, retry: false }));
  }
  return model;
}

/**
 * A model like this one that sends nothing: whatever else a request needs, such as a key, it looks for as this one does.
 * `undefined` for all but those that are asked over HTTP.
 */
export function muteOf(model: LanguageModel): LanguageModel | undefined {
  return makers.get(model)?.();
}
