import { addProduct, exp, sum, sums } from './vector';

/**
 * Attention of all heads of one row over the `length` slots of its path: softmax(q · k / √headDimension) · v.
 * A slot is the byte address of what is kept of one token: the keys of all heads, then their values. The loops
 * go over the tokens outside and over the heads inside, as the slots are the slower memory.
 *
 * @param out - `heads` heads of the result.
 * @param query - `heads` heads.
 * @param headsKv - The number of heads of a slot; each is shared by as many query heads.
 * @param path - Addresses (u32) of slots, in the order of the tokens.
 * @param offset - From a slot to its part of this layer.
 * @param scores - Room for `length + 3` numbers a head.
 */
export function attend(
  out: usize,
  query: usize,
  heads: u32,
  headsKv: u32,
  headDimension: u32,
  path: usize,
  length: u32,
  offset: usize,
  scores: usize,
): void {
  const headBytes: usize = <usize>headDimension << 2;
  const stride: usize = <usize>((length + 3) & ~3) << 2;
  const scale: f32 = <f32>1 / sqrt<f32>(<f32>headDimension);
  multiplyKeys(scores, stride, query, heads / headsKv, headsKv, headBytes, path, length, offset);
  for (let head: u32 = 0; head < heads; head++) {
    const row = scores + head * stride;
    const total = softmax(row, length, scale);
    scaleRow(row, stride, <f32>1 / total);
  }
  const values = offset + headsKv * headBytes;
  blendValues(out, scores, stride, heads / headsKv, headsKv, headBytes, path, length, values);
}

/** The products of each query head with each key. */
function multiplyKeys(
  scores: usize,
  stride: usize,
  query: usize,
  group: u32,
  headsKv: u32,
  headBytes: usize,
  path: usize,
  length: u32,
  offset: usize,
): void {
  const blocked: u32 = length & ~3;
  for (let token: u32 = 0; token < blocked; token += 4) {
    const slot = path + (<usize>token << 2);
    let k0 = load<u32>(slot) + offset;
    let k1 = load<u32>(slot, 4) + offset;
    let k2 = load<u32>(slot, 8) + offset;
    let k3 = load<u32>(slot, 12) + offset;
    let q = query;
    let score = scores + (<usize>token << 2);
    for (let head: u32 = 0; head < headsKv; head++) {
      for (let member: u32 = 0; member < group; member++) {
        let a0 = f32x4.splat(0);
        let a1 = f32x4.splat(0);
        let a2 = f32x4.splat(0);
        let a3 = f32x4.splat(0);
        for (let d: usize = 0; d < headBytes; d += 16) {
          const qd = v128.load(q + d);
          a0 = addProduct(a0, qd, v128.load(k0 + d));
          a1 = addProduct(a1, qd, v128.load(k1 + d));
          a2 = addProduct(a2, qd, v128.load(k2 + d));
          a3 = addProduct(a3, qd, v128.load(k3 + d));
        }
        v128.store(score, sums(a0, a1, a2, a3));
        q += headBytes;
        score += stride;
      }
      k0 += headBytes;
      k1 += headBytes;
      k2 += headBytes;
      k3 += headBytes;
    }
  }
  for (let token: u32 = blocked; token < length; token++) {
    let key = load<u32>(path + (<usize>token << 2)) + offset;
    let q = query;
    let score = scores + (<usize>token << 2);
    for (let head: u32 = 0; head < headsKv; head++) {
      for (let member: u32 = 0; member < group; member++) {
        let accumulator = f32x4.splat(0);
        for (let d: usize = 0; d < headBytes; d += 16) {
          accumulator = addProduct(accumulator, v128.load(q + d), v128.load(key + d));
        }
        f32.store(score, sum(accumulator));
        q += headBytes;
        score += stride;
      }
      key += headBytes;
    }
  }
}

/** Turns scores into powers of e, after scaling and the largest 1, and returns their sum. */
function softmax(scores: usize, length: u32, scale: f32): f32 {
  const end = scores + (<usize>length << 2);
  // What fills the last vector counts nothing.
  for (let at = end; (at - scores) & 15; at += 4) f32.store(at, -Infinity);

  let most = v128.load(scores);
  for (let at = scores + 16; at < end; at += 16) most = f32x4.max(most, v128.load(at));
  most = f32x4.max(most, v128.shuffle<f32>(most, most, 2, 3, 0, 1));
  most = f32x4.max(most, v128.shuffle<f32>(most, most, 1, 0, 3, 2));

  const factor = f32x4.splat(scale);
  let total = f32x4.splat(0);
  for (let at = scores; at < end; at += 16) {
    const power = exp(f32x4.mul(f32x4.sub(v128.load(at), most), factor));
    v128.store(at, power);
    total = f32x4.add(total, power);
  }
  return sum(total);
}

function scaleRow(row: usize, bytes: usize, factor: f32): void {
  const factors = f32x4.splat(factor);
  for (let at: usize = 0; at < bytes; at += 16) {
    v128.store(row + at, f32x4.mul(v128.load(row + at), factors));
  }
}

/** The values, weighted and added up token by token. */
function blendValues(
  out: usize,
  weights: usize,
  stride: usize,
  group: u32,
  headsKv: u32,
  headBytes: usize,
  path: usize,
  length: u32,
  offset: usize,
): void {
  memory.fill(out, 0, headsKv * group * headBytes);
  const blocked: u32 = length & ~3;
  for (let token: u32 = 0; token < blocked; token += 4) {
    const slot = path + (<usize>token << 2);
    let v0 = load<u32>(slot) + offset;
    let v1 = load<u32>(slot, 4) + offset;
    let v2 = load<u32>(slot, 8) + offset;
    let v3 = load<u32>(slot, 12) + offset;
    let target = out;
    let weight = weights + (<usize>token << 2);
    for (let head: u32 = 0; head < headsKv; head++) {
      for (let member: u32 = 0; member < group; member++) {
        const p0 = v128.load32_splat(weight);
        const p1 = v128.load32_splat(weight, 4);
        const p2 = v128.load32_splat(weight, 8);
        const p3 = v128.load32_splat(weight, 12);
        for (let d: usize = 0; d < headBytes; d += 16) {
          let accumulator = addProduct(v128.load(target + d), p0, v128.load(v0 + d));
          accumulator = addProduct(accumulator, p1, v128.load(v1 + d));
          accumulator = addProduct(accumulator, p2, v128.load(v2 + d));
          v128.store(target + d, addProduct(accumulator, p3, v128.load(v3 + d)));
        }
        target += headBytes;
        weight += stride;
      }
      v0 += headBytes;
      v1 += headBytes;
      v2 += headBytes;
      v3 += headBytes;
    }
  }
  for (let token: u32 = blocked; token < length; token++) {
    let value = load<u32>(path + (<usize>token << 2)) + offset;
    let target = out;
    let weight = weights + (<usize>token << 2);
    for (let head: u32 = 0; head < headsKv; head++) {
      for (let member: u32 = 0; member < group; member++) {
        const share = v128.load32_splat(weight);
        for (let d: usize = 0; d < headBytes; d += 16) {
          v128.store(target + d, addProduct(v128.load(target + d), share, v128.load(value + d)));
        }
        target += headBytes;
        weight += stride;
      }
      value += headBytes;
    }
  }
}
