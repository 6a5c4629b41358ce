/** Where Node stores the dispatcher of its `fetch`, newest first. */
const places = [Symbol.for('undici.globalDispatcher.2'), Symbol.for('undici.globalDispatcher.1')];

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

/**
 * The platform's `fetch` without its own time limits, because callers have one. Node's gives up after 300 s without
 * headers or without further bytes; everything else, including proxies, is unchanged. It follows no redirects, because
 * a key would be sent to another place.
 */
export const patientFetch: typeof globalThis.fetch = async (input, given) => {
  const init: RequestInit = { ...given, redirect: 'manual' };
  // Node sets it up at the first use of a `fetch` class.
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
