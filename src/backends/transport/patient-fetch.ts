/** Where Node keeps what its `fetch` sends requests with, newest first. */
const places = [Symbol.for('undici.globalDispatcher.2'), Symbol.for('undici.globalDispatcher.1')];

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

/**
 * The platform's `fetch` with no limit of time of its own: whoever calls it has one. Node's gives up after
 * 300 s without headers, and without a further byte; all else that it does, proxies included, stays. It follows no
 * redirection: a key would go where it was not meant to.
 */
export const patientFetch: typeof globalThis.fetch = async (input, given) => {
  const init: RequestInit = { ...given, redirect: 'manual' };
  // Node puts it there at the first use of what belongs to `fetch`.
  void globalThis.Headers;
  const usual = places
    .map((place) => Reflect.get(globalThis, place) as Dispatcher | undefined)
    .find((dispatcher) => dispatcher !== undefined);
  if (usual === undefined) return globalThis.fetch(input, init);
  const dispatcher: Dispatcher = {
    dispatch: (options, handler) =>
      usual.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  };
  return globalThis.fetch(input, { ...init, dispatcher } as RequestInit);
};
