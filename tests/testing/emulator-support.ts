import { expect, onTestFinished } from 'vitest';
import { type Emulator, type EmulatorOptions, emulator } from '../../src/testing/index.ts';

/** An emulator that is closed when the test is over. */
export async function opened(options: EmulatorOptions): Promise<Emulator> {
  const server = await emulator(options);
  onTestFinished(() => server.close());
  return server;
}

/** A reply, read. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; `undefined` where it is none. */
  readonly body: unknown;
}

/** What is sent besides the body. */
export interface Sending {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Sends JSON. */
export function post(
  { url }: Emulator,
  path: string,
  sending: Sending & { readonly body: unknown },
): Promise<Answered> {
  const { headers = {}, body, ...rest } = sending;
  return read(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...rest,
  });
}

/** Asks for information. */
export function get({ url }: Emulator, path: string, sending: Sending = {}): Promise<Answered> {
  return read(`${url}${path}`, sending);
}

/** One turn of a user. */
export function hi(rest: object = {}): object {
  return { model: 'emulated', messages: [{ role: 'user', content: 'Hi' }], ...rest };
}

/** Asks for a chat completion. */
export function chat(
  server: Emulator,
  rest: object = {},
  sending: Sending = {},
): Promise<Answered> {
  return post(server, '/v1/chat/completions', { body: hi(rest), ...sending });
}

/** Asks for one of Anthropic's messages. */
export function message(
  server: Emulator,
  rest: object = {},
  { headers = {}, ...sending }: Sending = {},
): Promise<Answered> {
  return post(server, '/v1/messages', {
    body: hi({ max_tokens: 50, ...rest }),
    headers: { 'anthropic-version': '2026-10-21', ...headers },
    ...sending,
  });
}

/** The data of the events of a stream, words as they are. */
export function eventsOf({ text }: Answered): readonly unknown[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.slice(event.indexOf('data: ') + 'data: '.length))
    .map((data) => (data.startsWith('{') ? (JSON.parse(data) as unknown) : data));
}

/** The text of the first choice of a chat completion. */
export function textOf({ body }: Answered): string {
  const reply = body as { choices: readonly { message: { content: string } }[] };
  return reply.choices[0]?.message.content ?? '';
}

/** The texts of all choices of a chat completion. */
export function textsOf({ body }: Answered): readonly string[] {
  const reply = body as { choices: readonly { message: { content: string } }[] };
  return reply.choices.map((choice) => choice.message.content);
}

/** Waits until something is so. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

async function read(url: string, init: RequestInit): Promise<Answered> {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Anything of a kind, in what is expected. */
export function some(kind: StringConstructor | NumberConstructor): unknown {
  return expect.any(kind);
}

/** Any text like this, in what is expected. */
export function like(pattern: RegExp): unknown {
  return expect.stringMatching(pattern);
}
