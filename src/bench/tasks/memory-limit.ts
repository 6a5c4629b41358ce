/** The size of a page of WebAssembly memory, in bytes. */
const page = 65_536;
const header = 8;
const memorySection = 5;

/**
 * A WebAssembly module whose only memory cannot grow beyond a limit. The module itself decides how far its memory may
 * grow, and most allow 4 GiB; nothing outside it can be told to refuse.
 *
 * @param limit - In bytes; rounded down to pages of 64 KiB.
 * @throws RangeError where the module starts with more memory, or does not define exactly one.
 */
export function withMemoryLimit(module: Uint8Array, limit: number): Uint8Array<ArrayBuffer> {
  const most = Math.floor(limit / page);
  let at = header;
  while (at < module.length) {
    const [size, body] = readUnsigned(module, at + 1);
    if (module[at] === memorySection) {
      const [count, flags] = readUnsigned(module, body);
      const [least] = readUnsigned(module, flags + 1);
      if (count !== 1 || least > most)
        throw new RangeError(`Its memory is at least ${least} pages.`);
      const section = [1, 1, ...unsigned(least), ...unsigned(most)];
      const head = Uint8Array.of(memorySection, ...unsigned(section.length), ...section);
      return concatenated([module.subarray(0, at), head, module.subarray(body + size)]);
    }
    at = body + size;
  }
  throw new RangeError('It defines no memory.');
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** An unsigned LEB128 number and the place behind it. */
function readUnsigned(bytes: Uint8Array, start: number): readonly [value: number, end: number] {
  let value = 0;
  for (let at = start, factor = 1; ; at++, factor *= 128) {
    const byte = bytes[at] ?? 0;
    value += (byte & 127) * factor;
    if (byte < 128) return [value, at + 1];
  }
}

function unsigned(value: number): readonly number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}
