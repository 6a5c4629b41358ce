/** A tensor encoding of ggml: blocks of equal size. */
export interface Encoding {
  /** Its name in ggml. */
  readonly name: string;
  /** The number of numbers in a block. */
  readonly blockLength: number;
  /** The number of bytes of a block. */
  readonly blockBytes: number;
  /** Reads all blocks of a tensor. */
  readonly read: (bytes: DataView, target: Float32Array) => void;
}

const quantised = 32;

/** The supported encodings, by their number in GGUF. */
export const encodings: ReadonlyMap<number, Encoding> = new Map([
  [0, { name: 'F32', blockLength: 1, blockBytes: 4, read: readSingles }],
  [1, { name: 'F16', blockLength: 1, blockBytes: 2, read: readHalves }],
  [2, { name: 'Q4_0', blockLength: quantised, blockBytes: 18, read: readQ4 }],
  [3, { name: 'Q4_1', blockLength: quantised, blockBytes: 20, read: readQ4WithMinimum }],
  [8, { name: 'Q8_0', blockLength: quantised, blockBytes: 34, read: readQ8 }],
  [30, { name: 'BF16', blockLength: 1, blockBytes: 2, read: readBrainFloats }],
]);

/** The numbers of a tensor, in the order of the file. */
export function dequantise(bytes: DataView, encoding: Encoding): Float32Array<ArrayBuffer> {
  const blocks = bytes.byteLength / encoding.blockBytes;
  const numbers = new Float32Array(blocks * encoding.blockLength);
  encoding.read(bytes, numbers);
  return numbers;
}

function readSingles(bytes: DataView, target: Float32Array): void {
  for (let index = 0; index < target.length; index++) {
    target[index] = bytes.getFloat32(index * 4, true);
  }
}

function readHalves(bytes: DataView, target: Float32Array): void {
  for (let index = 0; index < target.length; index++) target[index] = half(bytes, index * 2);
}

/** The upper halves of single-precision numbers. */
function readBrainFloats(bytes: DataView, target: Float32Array): void {
  for (let index = 0; index < target.length; index++) {
    target[index] = single(bytes.getUint16(index * 2, true) << 16);
  }
}

/** A scale, then signed bytes. */
function readQ8(bytes: DataView, target: Float32Array): void {
  let at = 0;
  for (let start = 0; start < target.length; start += quantised) {
    const scale = half(bytes, at);
    for (let index = 0; index < quantised; index++) {
      target[start + index] = scale * bytes.getInt8(at + 2 + index);
    }
    at += 2 + quantised;
  }
}

/** A scale, then nibbles around 8. */
function readQ4(bytes: DataView, target: Float32Array): void {
  let at = 0;
  for (let start = 0; start < target.length; start += quantised) {
    const scale = half(bytes, at);
    readNibbles(bytes, at + 2, (index, level) => {
      target[start + index] = scale * (level - 8);
    });
    at += 2 + quantised / 2;
  }
}

/** A scale, a minimum, then nibbles from the minimum up. */
function readQ4WithMinimum(bytes: DataView, target: Float32Array): void {
  let at = 0;
  for (let start = 0; start < target.length; start += quantised) {
    const [scale, minimum] = [half(bytes, at), half(bytes, at + 2)];
    readNibbles(bytes, at + 4, (index, level) => {
      target[start + index] = scale * level + minimum;
    });
    at += 4 + quantised / 2;
  }
}

/** The low nibbles are the first half of a block, the high ones the second. */
function readNibbles(
  bytes: DataView,
  at: number,
  put: (index: number, level: number) => void,
): void {
  for (let index = 0; index < quantised / 2; index++) {
    const byte = bytes.getUint8(at + index);
    put(index, byte & 15);
    put(index + quantised / 2, byte >> 4);
  }
}

const word = new DataView(new ArrayBuffer(4));

/** The single-precision number of 32 bits. */
function single(bits: number): number {
  word.setUint32(0, bits);
  return word.getFloat32(0);
}

/** Reads a half-precision number; DataView cannot before Node 24. */
function half(bytes: DataView, at: number): number {
  const bits = bytes.getUint16(at, true);
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return (sign * fraction) / 0x1000000;
  if (exponent === 0x1f) return fraction === 0 ? sign / 0 : Number.NaN;
  // Exponent and fraction mean the same in single precision, except for the bias.
  return sign * single(((exponent + 112) << 23) | (fraction << 13));
}
