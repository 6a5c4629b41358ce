import { webAssembly } from '../../../base/webassembly.ts';
import type { Address, Arena } from './arena.ts';
import { kernelBytes } from './kernels.generated.ts';

/** The kernels, by what they compute; the .as files document them. Widths are multiples of 4. */
export interface Kernels {
  /** `out = x · wᵀ`: out, x, w, rows of x, rows of w, width of both. */
  readonly matmul: Kernel;
  /** Attention of one row: out, query, heads, key heads, width of a head, path, length, layer, scores. */
  readonly attend: Kernel;
  /** `x += y`: x, y, count. */
  readonly add: Kernel;
  /** `out = norm(x)`: out, x, weight, rows, width, epsilon. */
  readonly rmsNorm: Kernel;
  /** Rotary positions, in place: x, heads, width of a head, table of the position. */
  readonly rotate: Kernel;
  /** `gate = silu(gate) · up`: gate, up, count. */
  readonly swiglu: Kernel;
}

/** A function of addresses and counts. */
export type Kernel = (...parameters: readonly (Address | number)[]) => void;

/** The kernels on the memory of an arena. */
export function kernelsOn(arena: Arena): Kernels {
  const module = new webAssembly.Module(Buffer.from(kernelBytes, 'base64'));
  const { exports } = new webAssembly.Instance(module, { env: { memory: arena.memory } });
  return exports as Kernels;
}
