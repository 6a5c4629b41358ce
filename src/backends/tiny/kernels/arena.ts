import { EspalierError } from '../../../base/errors.ts';
import { type WasmMemory, webAssembly } from '../../../base/webassembly.ts';

/** A byte address in the memory of the kernels. */
export type Address = number;

const pageBytes = 65_536;
/** The limit of 32-bit addresses. */
const mostPages = 65_536;
const leastGrowth = 64;

/** Memory of the kernels. It only grows: allocations stay until the arena is dropped. */
export class Arena {
  /** The memory, for import by the kernels. */
  readonly memory: WasmMemory;
  /** Address 0 is never allocated, so that an uninitialised address is noticed. */
  #end = 64;
  #floats: Float32Array<ArrayBuffer>;
  #words: Uint32Array<ArrayBuffer>;

  constructor() {
    this.memory = new webAssembly.Memory({ initial: 1, maximum: mostPages });
    this.#floats = new Float32Array(this.memory.buffer);
    this.#words = new Uint32Array(this.memory.buffer);
  }

  /** The memory as single-precision numbers. Read it again after an allocation. */
  get floats(): Float32Array<ArrayBuffer> {
    return this.#floats;
  }

  /** The memory as 32-bit words. Read it again after an allocation. */
  get words(): Uint32Array<ArrayBuffer> {
    return this.#words;
  }

  /**
   * Room for `count` numbers, aligned to a cache line.
   *
   * @throws EspalierError `usage` if there is not enough memory.
   */
  allocate(count: number): Address {
    const address = this.#end;
    const end = Math.ceil((address + count * 4) / 64) * 64;
    const missing = Math.ceil(end / pageBytes) - this.memory.buffer.byteLength / pageBytes;
    if (missing > 0) this.#grow(missing);
    this.#end = end;
    return address;
  }

  /** Copies numbers into newly allocated memory. */
  store(numbers: Float32Array): Address {
    const address = this.allocate(numbers.length);
    this.floats.set(numbers, address / 4);
    return address;
  }

  #grow(missing: number): void {
    const pages = this.memory.buffer.byteLength / pageBytes;
    // More than requested, because each growth replaces the buffer; the rest near the limit.
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
