import { AsyncLocalStorage } from 'node:async_hooks';
import { hash } from 'node:crypto';
import { setMaxListeners } from 'node:events';

/** What a call runs inside of, also behind an `await`. */
export interface Scope<Value> {
  /** Runs something inside of it. */
  run<Result>(value: Value, inside: () => Result): Result;
  /** What the code that asks runs inside of. */
  getStore(): Value | undefined;
}

/** A scope that follows what is awaited. */
export function openScope<Value>(): Scope<Value> {
  return new AsyncLocalStorage<Value>();
}

/** The SHA-256 of bytes, or of a text in UTF-8, in base64url. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'base64url' as 'hex');
}

/** Many may listen to this signal; that is no leak. */
export function letManyListen(signal: AbortSignal): void {
  setMaxListeners(0, signal);
}

/** How many bytes a text is in UTF-8. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** Resolves when everything that can run without the outside has run: one turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
