import { AsyncLocalStorage } from 'node:async_hooks';
import { hash } from 'node:crypto';
import { setMaxListeners } from 'node:events';

/** A value that code can read while it runs inside a scope, also after an `await`. */
export interface Scope<Value> {
  /** Runs something inside the scope. */
  run<Result>(value: Value, inside: () => Result): Result;
  /** The value of the scope that the calling code runs in. */
  getStore(): Value | undefined;
}

/** A scope that is preserved across awaits. Node.js never frees one, and each slows down every promise from then on. */
export function openScope<Value>(): Scope<Value> {
  return new AsyncLocalStorage<Value>();
}

/** The SHA-256 of bytes, or of a text in UTF-8, in base64url. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'base64url' as 'hex');
}

/** Allows many listeners on this signal without a leak warning. */
export function letManyListen(signal: AbortSignal): void {
  setMaxListeners(0, signal);
}

/** The number of bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** Resolves after one turn of the event loop, when all code that waits for nothing external has run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
