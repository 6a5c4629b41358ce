/** How the numbers of a tensor are stored. */
export type TensorEncoding = 'f32' | 'f16' | 'bf16' | 'q8_0' | 'q4_0' | 'q4_1';

/** The numbers that GGUF gives to the encodings. */
export const typeNumbers: Readonly<Record<TensorEncoding, number>> = {
  f32: 0,
  f16: 1,
  q4_0: 2,
  q4_1: 3,
  q8_0: 8,
  bf16: 30,
};

const blockLength = 32;

/** Encodes the numbers of a tensor as ggml does. */
export function encodeTensor(data: Float32Array, encoding: TensorEncoding): Buffer {
  switch (encoding) {
    case 'f32': {
      const bytes = Buffer.alloc(data.length * 4);
      data.forEach((value, index) => void bytes.writeFloatLE(value, index * 4));
      return bytes;
    }
    case 'f16':
      return words(data, halfBits);
    case 'bf16':
      return words(data, bfloatBits);
    case 'q8_0':
      return blocks(data, encodeQ8);
    case 'q4_0':
      return blocks(data, encodeQ4);
    case 'q4_1':
      return blocks(data, encodeQ4WithMinimum);
  }
}

function words(data: Float32Array, bitsOf: (value: number) => number): Buffer {
  const bytes = Buffer.alloc(data.length * 2);
  data.forEach((value, index) => void bytes.writeUInt16LE(bitsOf(value), index * 2));
  return bytes;
}

function blocks(data: Float32Array, encode: (block: Float32Array) => Buffer): Buffer {
  if (data.length % blockLength !== 0) throw new Error('A tensor has half a block.');
  const parts: Buffer[] = [];
  for (let start = 0; start < data.length; start += blockLength) {
    parts.push(encode(data.subarray(start, start + blockLength)));
  }
  return Buffer.concat(parts);
}

/** A half-precision scale and 32 signed bytes. */
function encodeQ8(block: Float32Array): Buffer {
  const scale = Math.max(...block.map(Math.abs)) / 127;
  const bytes = Buffer.alloc(2 + blockLength);
  bytes.writeUInt16LE(halfBits(scale));
  block.forEach((value, index) => {
    bytes.writeInt8(scale === 0 ? 0 : Math.round(value / scale), 2 + index);
  });
  return bytes;
}

/** A half-precision scale and 32 nibbles around 8; the second half of the block is in the high nibbles. */
function encodeQ4(block: Float32Array): Buffer {
  const extreme = block.reduce(
    (most, value) => (Math.abs(value) > Math.abs(most) ? value : most),
    0,
  );
  const scale = extreme / -8;
  return nibbles([scale], block, (value) => (scale === 0 ? 8 : Math.floor(value / scale + 8.5)));
}

/** A half-precision scale, a half-precision minimum and 32 nibbles. */
function encodeQ4WithMinimum(block: Float32Array): Buffer {
  const minimum = Math.min(...block);
  const scale = (Math.max(...block) - minimum) / 15;
  return nibbles([scale, minimum], block, (value) =>
    scale === 0 ? 0 : Math.floor((value - minimum) / scale + 0.5),
  );
}

function nibbles(
  header: readonly number[],
  block: Float32Array,
  quantise: (value: number) => number,
): Buffer {
  const bytes = Buffer.alloc(header.length * 2 + blockLength / 2);
  header.forEach((value, index) => void bytes.writeUInt16LE(halfBits(value), index * 2));
  const levels = Array.from(block, (value) => Math.min(15, Math.max(0, quantise(value))));
  for (let index = 0; index < blockLength / 2; index++) {
    const [low = 0, high = 0] = [levels[index], levels[index + blockLength / 2]];
    bytes.writeUInt8(low | (high << 4), header.length * 2 + index);
  }
  return bytes;
}

/** IEEE half precision, ties to even, found by search over the neighbours: slow and plain. */
export function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  let [low, high] = [0, 0x7bff];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (halfMagnitude(middle) <= magnitude) low = middle;
    else high = middle - 1;
  }
  const below = magnitude - halfMagnitude(low);
  const above = halfMagnitude(low + 1) - magnitude;
  const up = above < below || (above === below && low % 2 === 1);
  return sign | (up ? low + 1 : low);
}

function halfMagnitude(bits: number): number {
  const exponent = bits >> 10;
  const fraction = (bits & 0x3ff) / 1024;
  return exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15);
}

/** The upper half of a single-precision number, ties to even. */
function bfloatBits(value: number): number {
  const bits = Buffer.alloc(4);
  bits.writeFloatLE(value);
  const word = bits.readUInt32LE();
  return ((word + 0x7fff + ((word >>> 16) & 1)) >>> 16) & 0xffff;
}
