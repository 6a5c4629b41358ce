import { hash } from 'node:crypto';

/** 52 bits of a hash: among a million texts two fall together once in ten thousand datasets. */
export function hashOf(text: string): number {
  return Number.parseInt(hash('sha1', text).slice(0, 13), 16);
}

/** A small whole number for each of many hashes, in some 20 bytes of memory each. */
export class HashTable {
  /** One more than the hash; 0 for an empty slot. The number of slots is a power of two. */
  #keys = new Float64Array(1024);
  #values = new Uint8Array(1024);
  #size = 0;

  /** The value stored for a hash. */
  get(key: number): number | undefined {
    const place = this.#placeOf(key + 1);
    return this.#keys[place] === 0 ? undefined : this.#values[place];
  }

  /** Keeps a number from 0 to 255 for a hash from 0 up. */
  set(key: number, value: number): void {
    if (this.#size * 2 >= this.#keys.length) this.#grow();
    const place = this.#placeOf(key + 1);
    if (this.#keys[place] === 0) this.#size += 1;
    this.#keys[place] = key + 1;
    this.#values[place] = value;
  }

  /** Keeps a hash, and says whether it was new. */
  add(key: number): boolean {
    const size = this.#size;
    this.set(key, 0);
    return this.#size > size;
  }

  #placeOf(key: number): number {
    const keys = this.#keys;
    const mask = keys.length - 1;
    let place = (key >>> 0) & mask;
    while (keys[place] !== 0 && keys[place] !== key) place = (place + 1) & mask;
    return place;
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = new Float64Array(keys.length * 2);
    this.#values = new Uint8Array(values.length * 2);
    for (const [old, key] of keys.entries()) {
      if (key === 0) continue;
      const place = this.#placeOf(key);
      this.#keys[place] = key;
      this.#values[place] = values[old] ?? 0;
    }
  }
}
