/** A number in [0, 1) determined by its parts. */
export function hashed(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    const text = `${part}\0`;
    for (let place = 0; place < text.length; place++) {
      hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
    }
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x100000000;
}

/** An integer in [0, limit) determined by its parts. */
export function hashedInteger(limit: number, ...parts: readonly (string | number)[]): number {
  return Math.floor(hashed(...parts) * limit);
}

/** Eight hexadecimal digits determined by their parts. */
export function hashedName(...parts: readonly (string | number)[]): string {
  return hashedInteger(0x100000000, ...parts)
    .toString(16)
    .padStart(8, '0');
}
