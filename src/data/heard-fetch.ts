/**
 * A `fetch` that ends a request for which no byte was sent or received for some time, whatever its length. An answer is
 * read to its end before it is handed over; that of a failure is not read.
 *
 * @param ms - How long it may be silent, in milliseconds.
 */
export function heardFetch(
  send: typeof fetch,
  ms: number,
): {
  readonly ask: typeof fetch;
  /** Whether a request was ended. */
  readonly fellSilent: () => boolean;
} {
  let fellSilent = false;
  return {
    fellSilent: () => fellSilent,
    ask: async (input, init = {}) => {
      const silence = new AbortController();
      const timer = setTimeout(() => {
        fellSilent = true;
        silence.abort(new Error('Nothing was heard.'));
      }, ms);
      const heard = () => timer.refresh();
      const signals = [silence.signal, ...(init.signal ? [init.signal] : [])];
      const body = init.body instanceof Blob ? telling(init.body, heard) : init.body;
      const limited = { ...init, ...(body && { body }), signal: AbortSignal.any(signals) };
      try {
        const response = await send(input, limited);
        return response.ok ? await readWhole(response, heard) : response;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** The Hub answers in a few kilobytes, and with an address for each part of a large file. */
const longestAnswer = 64 << 20;

async function readWhole(response: Response, heard: () => unknown): Promise<Response> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    heard();
    bytes += chunk.length;
    if (bytes > longestAnswer) throw new Error('The answer is too long.');
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(chunks.length === 0 ? null : new Blob(chunks), { status, headers });
}

/** The same file, which reports each piece that is read from it. */
function telling(file: Blob, heard: () => unknown): Blob {
  const transform = (piece: unknown, controller: { enqueue(piece: unknown): void }) => {
    heard();
    controller.enqueue(piece);
  };
  const stream = () => file.stream().pipeThrough(new TransformStream({ transform }));
  return Object.create(file, { stream: { value: stream } }) as Blob;
}
