import { StringDecoder } from 'node:string_decoder';
import { withoutCredentials } from '../../base/address.ts';
import { messageOf, sentenceOf, shortened } from '../../base/failure.ts';
import { isPlainObject } from '../../base/json.ts';
import { visible } from '../../base/visible.ts';
import type { JsonValue } from '../../contracts/json.ts';
import { startProgram } from './run-program.ts';

/** A connection to a server of worlds. */
export interface Wire {
  /**
   * Sends one request. If the server does anything but answer, the connection ends.
   *
   * @param isLast - Whether the request is sent although the connection is closed right after.
   */
  ask(
    method: string,
    params: { readonly [name: string]: JsonValue },
    isLast?: boolean,
  ): Promise<JsonValue>;
  close(): Promise<void>;
}

/** The longest line, in bytes. */
const longest = 16 * 1024 * 1024;

/** How long a program may take to end by itself when it is closed, in milliseconds. */
const patience = 1_000;

interface Asked {
  readonly id: number;
  resolve(result: JsonValue): void;
  reject(error: Error): void;
}

/** A program that communicates over standard input and output, one line per message, and one request at a time. */
export function programWire(command: readonly string[], cwd: string | undefined): Wire {
  const { child, end } = startProgram(command, { cwd, stdio: 'pipe' });
  const { stdin, stdout, stderr } = child;
  let asked: Asked | undefined;
  let fault: Error | undefined;
  let errors = '';
  let id = 0;

  const fail = (message: string): void => {
    // Once: it may write millions of lines before it has ended.
    if (fault !== undefined) return;
    fault = new Error(`The program \`${command[0]}\` ${sentenceOf(visible(message))}`);
    asked?.reject(fault);
    asked = undefined;
    void end();
  };
  const lines = new Lines(longest, {
    line(text) {
      const answer = answerIn(text);
      if (answer === undefined)
        return fail(`wrote something that is not an answer: ${shortened(text)}`);
      if (asked === undefined || answer.id !== asked.id) {
        return fail(
          `answered ${shortened(JSON.stringify(answer.id ?? null))}, which was not asked.`,
        );
      }
      const { resolve, reject } = asked;
      asked = undefined;
      if ('error' in answer) reject(new Error(answer.error));
      else resolve(answer.result);
    },
    overflow: () => fail(`wrote a line of more than ${longest} bytes.`),
  });
  stdout?.on('data', (chunk: Buffer) => {
    if (fault === undefined) lines.add(chunk);
  });
  stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2_000);
  });
  // A program that has ended accepts no more input; its exit is reported instead.
  stdin?.on('error', () => {});
  child.once('error', ({ message }) =>
    fail(`could not be started: ${sentenceOf(message)} Check \`command\`, and \`cwd\`.`),
  );
  const ended = new Promise<void>((resolve) => {
    child.once('close', (code, signal) => {
      fail(`ended with ${signal ?? code}. ${errors}`);
      resolve();
    });
    child.once('error', () => resolve());
  });

  return {
    ask: (method, params) =>
      new Promise((resolve, reject) => {
        if (fault !== undefined) return reject(fault);
        asked?.reject(new Error('It got another request before it had answered.'));
        asked = { id: ++id, resolve, reject };
        stdin?.write(`${JSON.stringify({ id, method, params })}\n`);
      }),
    async close() {
      stdin?.end();
      const timer = setTimeout(() => void end(), patience);
      await ended;
      clearTimeout(timer);
      await end();
    },
  };
}

/** A server over HTTP: each request is posted. */
export function httpWire(url: string, fetch: typeof globalThis.fetch): Wire {
  const server = `The server \`${withoutCredentials(url)}\``;
  const blanked = withoutSecrets(url);
  let asked: AbortController | undefined;
  let count = 0;
  return {
    async ask(method, params, isLast = false) {
      const id = ++count;
      // A separate signal, because listeners may keep the original one alive for long.
      const own = new AbortController();
      if (!isLast) asked = own;
      const { ok, status, text } = await posted(
        () =>
          fetch(url, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ id, method, params }),
            redirect: 'error',
            signal: isLast ? AbortSignal.timeout(patience) : own.signal,
          }),
        (cause) => {
          if (own.signal.aborted) return own.signal.reason;
          const reason = reasonOf(cause);
          const told = blanked(reason);
          return new Error(
            `${server} could not be reached: ${told} Check that it runs, and that the address is right.`,
            told === reason && blanked(messageOf(cause)) === messageOf(cause) ? { cause } : {},
          );
        },
      );
      if (!ok) throw new Error(`${server} answered with status ${status}.`);
      if (text === undefined) throw new Error(`${server} wrote more than ${longest} bytes.`);
      const answer = answerIn(text);
      if (answer === undefined || answer.id !== id) {
        throw new Error(
          `${server} wrote something that is not an answer: ${sentenceOf(visible(shortened(blanked(text))))}`,
        );
      }
      if ('error' in answer) throw new Error(blanked(answer.error));
      return answer.result;
    },
    close: async () => asked?.abort(new Error('The environment was closed.')),
  };
}

/** Removes possible keys from a server's text: the values in the query of the address. */
function withoutSecrets(url: string): (text: string) => string {
  const { search } = new URL(url);
  const written = search
    .slice(1)
    .split('&')
    .map((part) => part.slice(part.indexOf('=') + 1));
  const values = [...written, ...new URLSearchParams(search).values()]
    // Shorter values may occur in any text.
    .filter((value) => value.length >= 4)
    .sort((one, other) => other.length - one.length);
  return (text) => values.reduce((told, value) => told.replaceAll(value, '…'), text);
}

/** The platform only says `fetch failed`; the reason is in the cause. */
function reasonOf(error: unknown): string {
  const { cause } = Object(error) as { readonly cause?: unknown };
  const { code } = Object(cause) as { readonly code?: unknown };
  const told = messageOf(cause ?? error) || String(code ?? error);
  return sentenceOf(told);
}

interface Posted {
  readonly ok: boolean;
  readonly status: number;
  /** Undefined if it is too long. */
  readonly text: string | undefined;
}

async function posted(
  post: () => Promise<Response>,
  failed: (cause: unknown) => unknown,
): Promise<Posted> {
  try {
    const response = await post();
    return { ok: response.ok, status: response.status, text: await limited(response) };
  } catch (cause) {
    throw failed(cause);
  }
}

async function limited(response: Response): Promise<string | undefined> {
  const decoder = new StringDecoder();
  let [text, size] = ['', 0];
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length;
    if (size > longest) return undefined;
    text += decoder.write(Buffer.from(chunk as Uint8Array));
  }
  return text + decoder.end();
}

type Answer = { readonly id: unknown } & (
  | { readonly result: JsonValue }
  | { readonly error: string }
);

function answerIn(text: string): Answer | undefined {
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isPlainObject(told)) return undefined;
  const { id, result, error } = told;
  if (isPlainObject(error)) {
    const { message } = error;
    const told = typeof message === 'string' ? message : JSON.stringify(error);
    return { id, error: visible(shortened(told, 500)) };
  }
  return result === undefined ? undefined : { id, result: result as JsonValue };
}

/** Splits bytes into lines, reading each byte once. */
class Lines {
  readonly #limit: number;
  readonly #heard: { line(text: string): void; overflow(): void };
  #parts: Buffer[] = [];
  #size = 0;

  constructor(limit: number, heard: { line(text: string): void; overflow(): void }) {
    this.#limit = limit;
    this.#heard = heard;
  }

  add(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      this.#keep(chunk.subarray(start, end));
      const whole = Buffer.concat(this.#parts).toString();
      [this.#parts, this.#size] = [[], 0];
      this.#heard.line(whole);
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size <= this.#limit) {
      this.#parts.push(part);
      return;
    }
    [this.#parts, this.#size] = [[], 0];
    this.#heard.overflow();
  }
}
