import { addProduct, sum, sums } from './vector';

/**
 * `out = x · wᵀ`: x has `rows` rows of `depth` numbers, w has `columns` rows of `depth` numbers.
 *
 * Each output is a dot product in four lanes over the depth, added up at the end. The tiles differ only in how
 * many outputs share a load: rows of a batch share those of the weights, the slower memory.
 */
export function matmul(
  out: usize,
  x: usize,
  w: usize,
  rows: u32,
  columns: u32,
  depth: u32,
): void {
  const stride: usize = <usize>depth << 2;
  const outStride: usize = <usize>columns << 2;
  const pairs: u32 = rows & ~1;
  const blocked: u32 = columns & ~3;

  for (let column: u32 = 0; column < blocked; column += 4) {
    const weights = w + column * stride;
    const target = out + (<usize>column << 2);
    for (let row: u32 = 0; row < pairs; row += 2) {
      tile4x2(target + row * outStride, outStride, x + row * stride, weights, stride);
    }
  }
  if (rows > pairs) lastRow(out + pairs * outStride, x + pairs * stride, w, columns, stride);
  for (let column: u32 = blocked; column < columns; column++) {
    for (let row: u32 = 0; row < pairs; row++) {
      const target = out + row * outStride + (<usize>column << 2);
      f32.store(target, dot(x + row * stride, w + column * stride, stride));
    }
  }
}

function lastRow(out: usize, x: usize, w: usize, columns: u32, stride: usize): void {
  let column: u32 = 0;
  for (; column + 8 <= columns; column += 8) {
    tile8x1(out + (<usize>column << 2), x, w + column * stride, stride);
  }
  for (; column < columns; column++) {
    f32.store(out + (<usize>column << 2), dot(x, w + column * stride, stride));
  }
}

/** Four rows of the weights with two rows of the batch. */
function tile4x2(out: usize, outStride: usize, x: usize, w: usize, stride: usize): void {
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  let b0 = f32x4.splat(0);
  let b1 = f32x4.splat(0);
  let b2 = f32x4.splat(0);
  let b3 = f32x4.splat(0);
  const y = x + stride;
  const w1 = w + stride;
  const w2 = w1 + stride;
  const w3 = w2 + stride;
  for (let k: usize = 0; k < stride; k += 16) {
    const xk = v128.load(x + k);
    const yk = v128.load(y + k);
    let wk = v128.load(w + k);
    a0 = addProduct(a0, xk, wk);
    b0 = addProduct(b0, yk, wk);
    wk = v128.load(w1 + k);
    a1 = addProduct(a1, xk, wk);
    b1 = addProduct(b1, yk, wk);
    wk = v128.load(w2 + k);
    a2 = addProduct(a2, xk, wk);
    b2 = addProduct(b2, yk, wk);
    wk = v128.load(w3 + k);
    a3 = addProduct(a3, xk, wk);
    b3 = addProduct(b3, yk, wk);
  }
  v128.store(out, sums(a0, a1, a2, a3));
  v128.store(out + outStride, sums(b0, b1, b2, b3));
}

/** Eight rows of the weights with one row: eight sums hide the latency of an addition. */
function tile8x1(out: usize, x: usize, w: usize, stride: usize): void {
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  let a4 = f32x4.splat(0);
  let a5 = f32x4.splat(0);
  let a6 = f32x4.splat(0);
  let a7 = f32x4.splat(0);
  const w1 = w + stride;
  const w2 = w1 + stride;
  const w3 = w2 + stride;
  const w4 = w3 + stride;
  const w5 = w4 + stride;
  const w6 = w5 + stride;
  const w7 = w6 + stride;
  for (let k: usize = 0; k < stride; k += 16) {
    const xk = v128.load(x + k);
    a0 = addProduct(a0, xk, v128.load(w + k));
    a1 = addProduct(a1, xk, v128.load(w1 + k));
    a2 = addProduct(a2, xk, v128.load(w2 + k));
    a3 = addProduct(a3, xk, v128.load(w3 + k));
    a4 = addProduct(a4, xk, v128.load(w4 + k));
    a5 = addProduct(a5, xk, v128.load(w5 + k));
    a6 = addProduct(a6, xk, v128.load(w6 + k));
    a7 = addProduct(a7, xk, v128.load(w7 + k));
  }
  v128.store(out, sums(a0, a1, a2, a3));
  v128.store(out + 16, sums(a4, a5, a6, a7));
}

/** One output, for what is left over. */
function dot(x: usize, w: usize, stride: usize): f32 {
  let accumulator = f32x4.splat(0);
  for (let k: usize = 0; k < stride; k += 16) {
    accumulator = addProduct(accumulator, v128.load(x + k), v128.load(w + k));
  }
  return sum(accumulator);
}
