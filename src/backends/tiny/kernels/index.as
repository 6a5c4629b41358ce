// The numeric kernels of the tiny backend, in AssemblyScript. `npm run kernels` compiles them.
//
// Only operations that WebAssembly defines to the last bit are used: no relaxed SIMD, and no fused
// multiply-add. Every output is summed in an order that depends on nothing but its own length, so a row has
// the same bits in every batch, on every platform.
//
// All pointers are byte addresses of 32-bit floats. The widths of vectors are multiples of 4.

export { matmul } from './matmul';
export { attend } from './attention';
export { add, rmsNorm, rotate, swiglu } from './elementwise';
