/** The sum of four lanes. */
// @ts-ignore: decorator
@inline
export function sum(v: v128): f32 {
  return (
    f32x4.extract_lane(v, 0) +
    f32x4.extract_lane(v, 1) +
    (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3))
  );
}

/** The sums of four vectors, added in the order of `sum`. */
// @ts-ignore: decorator
@inline
export function sums(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.add(
    v128.shuffle<f32>(a, b, 0, 4, 2, 6),
    v128.shuffle<f32>(a, b, 1, 5, 3, 7),
  );
  const cd = f32x4.add(
    v128.shuffle<f32>(c, d, 0, 4, 2, 6),
    v128.shuffle<f32>(c, d, 1, 5, 3, 7),
  );
  return f32x4.add(
    v128.shuffle<f32>(ab, cd, 0, 1, 4, 5),
    v128.shuffle<f32>(ab, cd, 2, 3, 6, 7),
  );
}

/** `accumulator + a · b`, rounded twice. */
// @ts-ignore: decorator
@inline
export function addProduct(accumulator: v128, a: v128, b: v128): v128 {
  return f32x4.add(accumulator, f32x4.mul(a, b));
}

/**
 * e to the power of x, with a relative error below 2e-7; 0 below -87.3.
 *
 * x = k ln 2 + r with |r| at most ln 2 / 2; ln 2 is split, so that k times its upper part is exact. The
 * polynomial is the one of expf in Cephes.
 */
// @ts-ignore: decorator
@inline
export function exp(x: v128): v128 {
  const least = f32x4.splat(-87.3);
  const bounded = f32x4.min(f32x4.max(x, least), f32x4.splat(88.0));
  const k = f32x4.nearest(f32x4.mul(bounded, f32x4.splat(1.44269504088896341)));
  let r = f32x4.sub(bounded, f32x4.mul(k, f32x4.splat(0.693359375)));
  r = f32x4.sub(r, f32x4.mul(k, f32x4.splat(-2.12194440e-4)));

  let p = f32x4.splat(1.9875691500e-4);
  p = addProduct(f32x4.splat(1.3981999507e-3), p, r);
  p = addProduct(f32x4.splat(8.3334519073e-3), p, r);
  p = addProduct(f32x4.splat(4.1665795894e-2), p, r);
  p = addProduct(f32x4.splat(1.6666665459e-1), p, r);
  p = addProduct(f32x4.splat(5.0000001201e-1), p, r);
  p = f32x4.add(addProduct(r, p, f32x4.mul(r, r)), f32x4.splat(1.0));

  const exponent = i32x4.add(i32x4.trunc_sat_f32x4_s(k), i32x4.splat(127));
  const value = f32x4.mul(p, i32x4.shl(exponent, 23));
  return v128.and(value, f32x4.ge(x, least));
}
