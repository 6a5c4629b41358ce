import { addProduct, exp, sum } from './vector';

/** `x += y` for `count` numbers. */
export function add(x: usize, y: usize, count: u32): void {
  const bytes: usize = <usize>count << 2;
  for (let at: usize = 0; at < bytes; at += 16) {
    v128.store(x + at, f32x4.add(v128.load(x + at), v128.load(y + at)));
  }
}

/** RMSNorm of each of `rows` rows: `out = x / √(mean(x²) + epsilon) · weight`. */
export function rmsNorm(
  out: usize,
  x: usize,
  weight: usize,
  rows: u32,
  width: u32,
  epsilon: f32,
): void {
  const bytes: usize = <usize>width << 2;
  for (let row: u32 = 0; row < rows; row++) {
    let squares = f32x4.splat(0);
    for (let at: usize = 0; at < bytes; at += 16) {
      const value = v128.load(x + at);
      squares = addProduct(squares, value, value);
    }
    const mean = sum(squares) / <f32>width;
    const scale = f32x4.splat(<f32>1 / sqrt<f32>(mean + epsilon));
    for (let at: usize = 0; at < bytes; at += 16) {
      const scaled = f32x4.mul(v128.load(x + at), scale);
      v128.store(out + at, f32x4.mul(scaled, v128.load(weight + at)));
    }
    x += bytes;
    out += bytes;
  }
}

/**
 * Turns the pairs (2i, 2i + 1) of each head of one row by the angles of its position.
 *
 * @param table - The cosines of the position, each twice, then the sines, each first negated.
 */
export function rotate(x: usize, heads: u32, headDimension: u32, table: usize): void {
  const headBytes: usize = <usize>headDimension << 2;
  for (let head: u32 = 0; head < heads; head++) {
    for (let at: usize = 0; at < headBytes; at += 16) {
      const pair = v128.load(x + at);
      const swapped = v128.shuffle<f32>(pair, pair, 1, 0, 3, 2);
      const cosines = f32x4.mul(pair, v128.load(table + at));
      v128.store(x + at, addProduct(cosines, swapped, v128.load(table + headBytes + at)));
    }
    x += headBytes;
  }
}

/** `gate = silu(gate) · up` for `count` numbers, where silu(x) = x / (1 + exp(-x)). */
export function swiglu(gate: usize, up: usize, count: u32): void {
  const bytes: usize = <usize>count << 2;
  const one = f32x4.splat(1);
  for (let at: usize = 0; at < bytes; at += 16) {
    const x = v128.load(gate + at);
    const silu = f32x4.div(x, f32x4.add(one, exp(f32x4.neg(x))));
    v128.store(gate + at, f32x4.mul(silu, v128.load(up + at)));
  }
}
