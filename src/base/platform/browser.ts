import { sha256 as digest } from '@noble/hashes/sha2.js';
import { isThenable } from '../is-thenable.ts';
import type { Scope } from './node.ts';

// Some browsers lack it; `using` then uses this one.
if (!Object.hasOwn(Symbol, 'dispose')) {
  Object.defineProperty(Symbol, 'dispose', { value: Symbol.for('Symbol.dispose') });
}

/**
 * A browser cannot track scopes across awaits: as long as anything runs in a scope, all code counts as inside the scope
 * that was entered last.
 */
export function openScope<Value>(): Scope<Value> {
  const entered: Value[] = [];
  const leave = (value: Value): void => void entered.splice(entered.lastIndexOf(value), 1);
  return {
    run(value, inside) {
      entered.push(value);
      let result: ReturnType<typeof inside> | undefined;
      try {
        result = inside();
        return result;
      } finally {
        if (isThenable(result)) {
          const end = (): void => leave(value);
          void result.then(end, end);
        } else leave(value);
      }
    },
    getStore: () => entered.at(-1),
  };
}

/** The SHA-256 of bytes, or of a text in UTF-8, in base64url. */
export function sha256(content: string | Uint8Array): string {
  const bytes = digest(typeof content === 'string' ? encoder.encode(content) : content);
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace('=', '');
}

/** Browsers never warn of many listeners. */
export function letManyListen(_signal: AbortSignal): void {}

/** The number of bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** Resolves after one turn of the event loop, when all code that waits for nothing external has run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}

const encoder = new TextEncoder();
