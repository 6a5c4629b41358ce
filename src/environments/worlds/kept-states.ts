import type { JsonValue } from '../../contracts/json.ts';
import type { Workspace } from '../../contracts/world.ts';

/** A saved state of a workspace: a copy, or its own snapshot. */
export interface Kept<W extends Workspace> {
  readonly copy?: W;
  readonly snapshot?: JsonValue;
  /** The list to which the snapshot is added when it is to be discarded. */
  readonly forgotten?: JsonValue[];
  /** Serialises copying: one copy is made at a time. */
  tail: Promise<unknown>;
}

/**
 * The saved states of a pool, least recently used first. Copies serve all instances; a snapshot only serves the
 * instance that took it.
 */
export class KeptStates<W extends Workspace> {
  readonly #limit: number;
  readonly #kept = new Map<string, Kept<W>>();
  readonly #closing = new Set<Promise<void>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The saved state at a place: a copy, or a snapshot of this instance. */
  find(instance: number, place: string): Kept<W> | undefined {
    return this.#kept.get(place) ?? this.#kept.get(`${instance} ${place}`);
  }

  /** Saves a state, and discards the least recently used one if there are too many. */
  add(instance: number, place: string, kept: Kept<W>): void {
    const key = kept.copy === undefined ? `${instance} ${place}` : place;
    // Two instances may reach the same state at the same time.
    this.#giveUp(key);
    this.#kept.set(key, kept);
    const [least] = this.#kept.keys();
    if (this.#kept.size > this.#limit && least !== undefined) this.#giveUp(least);
  }

  /** Marks a state as just used. */
  touch(kept: Kept<W>): void {
    for (const [key, other] of this.#kept) {
      if (other !== kept) continue;
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return;
    }
  }

  /** Drops the snapshots of an instance that is closed. */
  drop(instance: number): void {
    for (const key of this.#kept.keys()) {
      if (key.startsWith(`${instance} `)) this.#kept.delete(key);
    }
  }

  /** Closes all copies. */
  async close(): Promise<void> {
    for (const key of [...this.#kept.keys()]) this.#giveUp(key);
    await Promise.all(this.#closing);
  }

  #giveUp(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    if (kept.snapshot !== undefined) kept.forgotten?.push(kept.snapshot);
    const closing = closeCopy(kept);
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }
}

/** Copies a copy. */
export function copyOf<W extends Workspace>(kept: Kept<W>, copy: W): Promise<W> {
  const made = kept.tail.then(async () => (await copy.fork?.()) ?? copy);
  kept.tail = made.catch(() => {});
  return made;
}

/** A copy that fails to close is discarded anyway. */
export async function closeCopy<W extends Workspace>({ copy, tail }: Kept<W>): Promise<void> {
  await tail;
  try {
    await copy?.close?.();
  } catch {}
}
