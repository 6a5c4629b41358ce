import { EspalierError } from '../../../base/errors.ts';
import { type WasmMemory, webAssembly } from '../../../base/webassembly.ts';

/** A byte address in the memory of the kernels. */
export type Address = number;

const pageBytes = 65_536;
/** All that 32-bit addresses reach. */
const mostPages = 65_536;
const leastGrowth = 64;

/** Memory of the kernels. It only grows: what is allocated stays until the arena is dropped. */
export class Arena {
  /** The memory itself, to be imported by the kernels. */
  readonly memory: WasmMemory;
  /** Address 0 stays free, so that a forgotten address shows. */
  #end = 64;
  #floats: Float32Array<ArrayBuffer>;
  #words: Uint32Array<ArrayBuffer>;

  constructor() {
    this.memory = new webAssembly.Memory({ initial: 1, maximum: mostPages });
    this.#floats = new Float32Array(this.memory.buffer);
    this.#words = new Uint32Array(this.memory.buffer);
  }

  /** The memory as single-precision numbers. Ask again after an allocation. */
  get floats(): Float32Array<ArrayBuffer> {
    return this.#floats;
  }

  /** The memory as 32-bit words. Ask again after an allocation. */
  get words(): Uint32Array<ArrayBuffer> {
    return this.#words;
  }

  /**
   * Room for `count` numbers, aligned to a cache line.
   *
   * @throws EspalierError `usage` if the machine has no more memory for it.
   */
  allocate(count: number): Address {
    const address = this.#end;
    const end = Math.ceil((address + count * 4) / 64) * 64;
    const missing = Math.ceil(end / pageBytes) - this.memory.buffer.byteLength / pageBytes;
    if (missing > 0) this.#grow(missing);
    this.#end = end;
    return address;
  }

  /** Copies numbers into newly allocated room. */
  store(numbers: Float32Array): Address {
    const address = this.allocate(numbers.length);
    this.floats.set(numbers, address / 4);
    return address;
  }

  #grow(missing: number): void {
    const pages = this.memory.buffer.byteLength / pageBytes;
    // More than asked for, as each growth replaces the buffer; all that is left near the limit.
    const wanted = Math.max(missing, Math.min(leastGrowth, mostPages - pages));
    try {
      this.memory.grow(wanted);
    } catch (cause) {
      const mebibytes = Math.ceil(((pages + missing) * pageBytes) / 2 ** 20);
      throw new EspalierError(
        'usage',
        `Expected the model and its cache to fit into memory, got no room for ${mebibytes} MiB.`,
        { cause },
      );
    }
    this.#floats = new Float32Array(this.memory.buffer);
    this.#words = new Uint32Array(this.memory.buffer);
  }
}
