import type { JsonValue } from '../../src/index.ts';

/** What somebody asks of the witness. */
export type Asked =
  | { readonly op: 'get' | 'remove'; readonly key: string }
  | { readonly op: 'set'; readonly key: string; readonly value: JsonValue }
  | { readonly op: 'list'; readonly prefix: string }
  | { readonly op: 'send'; readonly id: string; readonly text: string }
  /** The harness says what begins. */
  | { readonly op: 'mark'; readonly text: string }
  | { readonly op: 'dump' }
  /** Another world, in which nothing has happened. */
  | { readonly op: 'reset' };

/** A door to a witness, here or in another process. */
export type Witnessing = (asked: Asked) => Promise<JsonValue>;

/**
 * The world outside, as it is seen by somebody who knows nothing of a search: values under keys, what was sent, and each
 * request in its order.
 */
export class Witness {
  readonly #values = new Map<string, JsonValue>();
  readonly #sent: string[] = [];
  readonly log: Asked[] = [];

  ask(asked: Asked): JsonValue {
    if (asked.op !== 'dump') this.log.push(asked);
    switch (asked.op) {
      case 'get':
        return this.#values.get(asked.key) ?? null;
      case 'set':
        this.#values.set(asked.key, asked.value);
        return null;
      case 'remove':
        return this.#values.delete(asked.key);
      case 'list':
        return this.#under(asked.prefix);
      case 'send':
        this.#sent.push(asked.text);
        return null;
      case 'mark':
        return null;
      case 'dump':
        return this.dump();
      case 'reset':
        this.#values.clear();
        this.#sent.length = 0;
        return null;
    }
  }

  /** Names that differ from run to run are left out: of items only the values are told. */
  dump(): JsonValue {
    const values = [...this.#values].filter(([key]) => !key.startsWith('items/'));
    return {
      values: Object.fromEntries(values.toSorted(([a], [b]) => (a < b ? -1 : 1))),
      items: this.#under('items/'),
      sent: [...this.#sent],
    };
  }

  #under(prefix: string): JsonValue[] {
    const values = [...this.#values].filter(([key]) => key.startsWith(prefix));
    return values.map(([, value]) => value).toSorted((a, b) => (String(a) < String(b) ? -1 : 1));
  }
}
