/** Bare requests to a server: what it says, as it says it. */

/** A reply. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  /** Its JSON; `undefined` where it is none. */
  readonly json: Json;
}

/** JSON that a test reaches into. What is not there is `undefined`. */
export interface Json {
  readonly [key: string]: Json;
}

/** Sends JSON. */
export async function post(url: string, body: unknown, signal?: AbortSignal): Promise<Reply> {
  return replyOf(
    await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    }),
  );
}

/** Asks for something. */
export async function get(url: string): Promise<Reply> {
  return replyOf(await fetch(url));
}

async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  return { status: response.status, text, json: parsed(text) };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined as unknown as Json;
  }
}

/** The data of a stream of events. */
export function events(text: string): readonly string[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length));
}

/** A number that a server counts, by its name in the text of `/metrics`. */
export async function metric(url: string, name: string): Promise<number> {
  const { text } = await get(`${url}/metrics`);
  const found = new RegExp(`^llamacpp:${name} (\\S+)$`, 'm').exec(text)?.[1];
  if (found === undefined) throw new Error(`The server counts no ${name}.`);
  return Number(found);
}
